// Package ecs keeps entities and their components in chunks that the garbage collector never sees:
// a thin core of worlds, archetypes, queries, structural changes and dynamic buffers.
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
//	hits := ecs.RegisterBuffer[Hit](w)            // an array each: hits.Append(e, Hit{3})
//	walk := ecs.Register[Walk](w, ecs.Enableable) // a bit each: walk.Disable(e)
//	cell := ecs.RegisterShared[Cell](w)           // chunks of its own each: cell.Set(e, Cell{1, 2})
//	freeze := ecs.NewChange(w, ecs.Add(frozen), ecs.Remove(velocity))
//	batch, err = freeze.ApplyQuery(slow)
//
// A chunk holds one column per component type and one of entities. Chunks have 1 to 64 units of 16
// KiB and grow with their archetype, whose first chunk, while it is the only one, has 2 to 64 KiB;
// the layout is that of a unit, which Archetype.Plan prints, times their size:
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
// Pointers, slices, buffer views and batches are good until the next one. In a loop over rows it
// panics; all else is allowed there, of any entity and type: Get, Mut, Set, Enable, Append.
//
// Goroutines: one goroutine at a time may use a world and all that comes from it, but
// [World.Reserve] and [World.Unreserve] any goroutine may call, and between [World.Share] and
// [Borrow.End] several may read and enable; a [Borrow] of a query lends types.
//
// Garbage collector: component types must hold no Go pointers; Register says where one is. Links
// between entities are [Entity] values; [RegisterManaged] takes any Go type.
//
// Failure: limits and the operating system give a [*LimitError]; functions without an error result
// panic with it, their Try forms return it, and the world is as it was, for batches too. A broken
// contract (stale rows, a type that the query does not declare, a handle of another world, an
// entity of one of the last 15, see docs/ecs.md, worlds) panics with names, in every build.
// Look-ups return nil or false.
//
// Limits: 2^27 - 2 entities and 1,024 types a world; a row must fit a unit; 2,048 rows a unit at
// most; a buffer holds at most 1 MiB.
//
// Memory: archetypes begin with 2 KiB, take units by a policy, [ChunkGrowth], and keep some that
// emptied; a call that needs memory gets those before it fails, and [World.Trim] gives them back.
// [Growth] is the policy of a buffer.
//
// Cost: a query run allocates nothing and never looks at archetypes that do not match; a look-up
// reads one record and one row of memory that may be cold. docs/ecs.md says what each operation
// means where libraries differ.
package ecs
