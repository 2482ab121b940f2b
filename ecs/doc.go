// Package ecs stores entities and their components in memory chunks outside Go's heap, which the
// garbage collector never scans. It is a small core: worlds, archetypes, queries, structural
// changes and dynamic buffers.
//
//	w, err := ecs.NewWorld()
//	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
//	movers := ecs.NewArchetype(w, position, velocity)
//	batch, err := movers.CreateN(100_000)
//	q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity), ecs.Without(frozen))
//	for rows := range q.Rows() {
//		p, v := position.Slice(rows), velocity.Slice(rows)
//		for i := range rows.Each() { p[i].X += v[i].X * dt }
//	}
//	hits := ecs.RegisterBuffer[Hit](w)            // a growing array per entity: hits.Append(e, Hit{3})
//	walk := ecs.Register[Walk](w, ecs.Enableable) // an enable bit per entity: walk.Disable(e)
//	cell := ecs.RegisterShared[Cell](w)           // chunks of its own per value: cell.Set(e, Cell{1, 2})
//	fire := ecs.RegisterSparse[Fire](w)           // a set beside the chunks: fire.Add(e, Fire{3}) moves no row
//	freeze := ecs.NewChange(w, ecs.Add(frozen), ecs.Remove(velocity))
//	batch, err = freeze.ApplyQuery(slow)
//
// A chunk holds one column of entities and one column per component type. A chunk has 1 to 64 units
// of 16 KiB and grows with its archetype; an archetype's first chunk, while it is the only one, has
// 2 to 64 KiB. Archetype.Plan prints the layout of one unit; in a larger chunk, column sizes and
// offsets scale with the number of units:
//
//	16384 B chunk, 64 B lines, 408 rows of 40 B, 99.6 % used
//	offset   bytes     pad  column
//	     0    3264       0  Entity 408 x 8 B
//	  3264    6528       0  Position 408 x 16 B
//	  9792    6528       0  Velocity 408 x 16 B
//	 16320       -      64  free
//	beside the chunk: 12 B of versions, 0 B of enable masks
//
// Ownership: the world owns all components. A structural change creates, destroys or moves rows:
// Create, Instantiate, Destroy, Add, Remove, a [Change], Set of a [Shared], MoveAll, Shrink.
// Pointers, slices, buffer views and batches are valid until the next structural change. Structural
// changes panic inside a loop over rows. All other calls (Get, Mut, Set, Enable, Append) are
// allowed there, for any entity and any type.
//
// Goroutines: only one goroutine at a time may use a world and everything obtained from it. There
// are two exceptions. Any goroutine may call [World.Reserve] and [World.Unreserve]. Between
// [World.Lend] and [Borrow.End], several goroutines may read components and set enable bits; a
// [Borrow] of a query lends only the types that the query declares.
//
// Garbage collector: component types must hold no Go pointers; Register panics with the path to the
// first one. Links between entities are [Entity] values. [RegisterManaged] takes any Go type.
//
// Failure: limits and the operating system yield a [*LimitError]. A function without an error
// result panics with it; its Try form returns it, with the name of the plain form. Either way the
// world is unchanged, for batches too. A broken contract (stale rows, a type that the query does
// not declare, a handle of another world, an entity of one of the last 15 worlds, see
// docs/semantics.md) panics in every build with a message that names the types and entities
// involved. Look-ups return nil or false for what is dead or missing.
//
// Limits: 2^27 - 2 entities and 1,024 types per world; a row must fit in a unit; at most 2,048 rows
// per unit; a buffer holds at most 2^32 - 1 elements, in one block of the world's universe. Rows
// and buffers lie in that universe, which has at most 16 GiB.
//
// Memory: archetypes begin with 2 KiB, grow by the [ChunkGrowth] policy, and keep some of the units
// that become empty. A call that needs memory takes those before it fails, and [World.Trim] returns
// them. [Growth] is the policy of a buffer.
//
// Cost: running a query allocates nothing and never visits archetypes that do not match. A look-up
// reads one record and one row, both of which may be cold memory. docs/semantics.md defines the
// meaning of each operation where ECS libraries differ.
package ecs
