// Package command records changes of a world, to be made later. It is for code that must not change
// the world itself: loops over rows, bodies of jobs, and other goroutines.
//
//	cb := command.NewBuffer(w)
//	shot := cb.Create(shots)                             // a placeholder
//	command.Set(cb, shot, velocity, Velocity{1, 0})      // used by later commands,
//	command.Add(cb, turret, target, Target{Of: shot})    // and in fields
//	cb.Remove(turret, position)
//	err := cb.Play()
//
// A command is a record of 16 B followed by its value, in chunks of 16 KiB. String lists the
// records:
//
//	4 commands, 16384 B
//	key flight  part   no.  bytes  command
//	  0      0     0     0     16  Create [Position Velocity] as placeholder 0
//	  0      0     0     1     24  Set Velocity of placeholder 0
//	  0      0     0     2     24  Add Target of 1v1
//	  0      0     0     3     16  Remove Position of 1v1
//
// A command applies to one entity, to a list, or to the entities that match a query. Add gives a
// type that is missing, Put gives or replaces, Set replaces a value that must exist. The free
// functions take a value; the methods of [Writer] take none. A [Bundle] records a Create and the
// Set of all values of a struct by one call. The result is the same as applying the commands one
// after the other, but for ids and the order of rows: Play changes entities with the same commands
// together, and moves each once. Where order matters, store a number and sort by it.
//
// Order: commands are played by [Writer.Key], 0 by default. Within a key the buffer's own commands
// come first, then the commands of jobs by flight and part, each in recording order. So jobs that
// record through [Buffer.Parallel] produce the same world for any number of workers.
//
// Ownership: the buffer owns its records, and their memory until [Buffer.Close]. Queries, changes
// and archetypes named by commands must still be open at Play. Values of shared types are kept in
// Go memory. Values of managed types cannot be recorded.
//
// Goroutines: one goroutine at a time may use a buffer. Any goroutine may call [Buffer.Parallel]
// for a writer of its own: the body of a job records through out := cb.Parallel(c), never through
// cb, which other goroutines may be using. Play belongs to the world's owner. Two goroutines that
// share a writer break the contract. The race detector always reports it. Without the detector it
// is noticed by chance, if both write a record at the same moment: then one of them panics, and
// Play drops everything recorded and returns [ErrTorn]. Otherwise commands may be lost, Play may
// panic, or the Go runtime may end the process.
//
// Limits: a command with its values has at most 1 MiB, so a longer buffer is recorded as several
// Appends. A writer has at most 65,535 different
// commands (types, changes, queries and archetypes) between two plays, a buffer at most 2^31
// placeholders.
//
// Garbage collector: records lie outside its heap. Play keeps 44 B of pointer-free Go memory per
// entity and 8 B per command between calls. After a frame that needed much more than the eight
// after it, Go memory and records are given back without a call of Trim.
//
// Failure: [Buffer.Play] checks all commands before it changes anything. It returns a [*PlayError]
// that names the commands that cannot apply and where they were recorded; [Buffer.PlayRest] applies
// the others. Destroy and Remove of something already gone are not failures, and for ecs.Null they
// record nothing. If memory runs out the error wraps an *ecs.LimitError; the first run of commands
// is then all or nothing (docs/semantics.md). A broken contract panics during recording: an entity
// or a type of another world, a placeholder of another buffer, a writer kept beyond its part, a
// buffer that is being played, sealed or closed. Recording beyond [Limit] panics with an error that
// wraps [ErrLimit]; see [Buffer.Reserve].
//
// Cost, a million commands, each on another entity, on an EPYC (go test ./ecs/command -bench Play):
// 19 ns to record an Add and 21 to 27 ns to play it, or 3 ns per entity if one command covers a
// query that matches a million. docs/semantics.md has more.
package command
