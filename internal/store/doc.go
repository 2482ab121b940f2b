// Package store keeps rows in dense columns over chunks of a universe. It knows no Go types and
// neither records nor entities: alloc.Table is its face for programs, and the tables of package ecs
// stand on it.
//
//	rows       0 .. 99          100 .. 199       200 .. 399           store.go row.go rowcopy.go
//	chunks   [ 17          ]  [ 18          ]  [ 40-41             ]  chunk.go room.go refit.go
//	           a | b | c        a | b | c        a    | b    | c      columns, by their offsets
//
// The smallest chunk is an eighth of one of the universe: UnitOrder (chunk.go) says so, and
// smallchunks.go hands them out.
//
// Ownership: a [Store] owns its chunks until MoveChunks, Detach or a [Keeper] takes them over;
// Compose gives it some. Its lists of chunks are Go memory.
//
// Lifetime: a row stays in place until Pop, Cut, Promote or MoveChunks; [Store.Release] ends all.
//
// Goroutines: one at a time may use a Store, or a [SmallChunks].
//
// Failure: an error is the universe's, or wraps sentinel.ErrTooBig, ErrFull or [ErrChunks]; nothing
// has changed then. A broken contract panics in the name of package alloc where it is looked for:
// positions are the owner's.
//
// Cost: Row, Tail, Push and Pop are a few instructions, and inlined. The essay in store.go has the
// invariants.
package store
