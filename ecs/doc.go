// Package ecs stores entities and their components in memory chunks outside Go's heap, which the
// garbage collector never scans.
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
//
// By task:
//
//   - Make worlds: [NewWorld], [World.Clone], [World.Close], [World.Stats], [World.Verify].
//   - Register types: [Register], [RegisterBuffer], [RegisterShared], [RegisterManaged],
//     [RegisterSparse], [RegisterChunk]; options such as [Enableable], [Cleanup], [TrackRows].
//   - Create and destroy: [NewArchetype], [Archetype.CreateN], [Bundle], [World.Instantiate],
//     [World.Destroy], [World.DestroyQuery].
//   - Change: Add and Remove of a handle, [Change] of an entity, a list or a query, [World.MoveAll].
//   - Query: [NewQuery] of a [Term] each, [Query.Rows], [Query.Where], [Query.Count], [View].
//   - Look up: [Component.Get], [Component.Mut], [Component.GetList], [World.Name], [World.Value].
//   - Fill buffers: [Buffer.Append], [Buffer.Mut], [DynamicBuffer].
//   - Use goroutines: [World.Lend] to read, [World.Reserve] for ids; package job to write.
//   - Go back, compare and follow: [World.Snapshot], [World.Restore], [Snapshot.Fork], [Diff],
//     [EncodeDelta], [World.ApplyDelta], [World.Hash].
//   - Save: packages image and journal; [Codec] and [CopyWith] for values of Go types.
//
// A chunk holds one column of entities and one per component type. It has 1 to 64 units of 16 KiB
// and grows with its archetype, from 2 KiB on. Archetype.Plan prints the layout of one unit:
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
// are two exceptions: any goroutine may call [World.Reserve] and [World.Unreserve], and between
// [World.Lend] and [Borrow.End] several may read components and set enable bits.
//
// Garbage collector: component types must hold no Go pointers; Register panics with the path to the
// first one. Links between entities are [Entity] values. [RegisterManaged] takes any Go type.
//
// Failure: a broken contract panics in every build, with the types and entities involved. Limits
// and the operating system yield a [*LimitError]: a function without an error result panics with
// it, and [Try] returns it. Either way the call changes nothing, for batches too. Look-ups
// return nil or false for what is dead or missing.
//
// Limits: 2^27 - 2 entities and 1,024 types per world; a row must fit in a unit; at most 2,048 rows
// per unit; a buffer holds at most 2^32 - 1 elements, in one block of the world's universe. Rows
// and buffers lie in that universe, which has at most 16 GiB.
//
// Cost: running a query allocates nothing and never visits archetypes that do not match. A look-up
// reads one record and one row, both of which may be cold memory. docs/semantics.md defines the
// meaning of each operation where ECS libraries differ.
package ecs
