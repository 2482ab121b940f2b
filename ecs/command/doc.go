// Package command records changes of a world, to be made later: in a loop over rows, in jobs and in
// any other goroutine, where the world itself must not change.
//
//	cb := command.NewBuffer(w)
//	shot := cb.Create(shots)                             // a placeholder
//	command.Set(cb, shot, velocity, Velocity{1, 0})      // used by later commands,
//	command.Add(cb, turret, target, Target{Of: shot})    // and in fields
//	cb.Remove(turret, position)
//	err := cb.Play()
//
// A command is a record of 16 B and its value, in chunks of 16 KiB; String lists them:
//
//	4 commands, 16384 B
//	key flight batch   no.  bytes  command
//	  0      0     0     0     16  Create [Position Velocity] as placeholder 0
//	  0      0     0     1     24  Set Velocity of placeholder 0
//	  0      0     0     2     24  Add Target of 1v1
//	  0      0     0     3     16  Remove Position of 1v1
//
// Commands are about an entity, a list or what a query matches. Add gives what is not there, Put
// gives or replaces, Set replaces what must be there; free functions have a value, methods of
// [Writer] have none. Their effect is that of one after the other in order, but entities with the
// same commands are changed together, and each is moved once.
//
// Order: by [Writer.Key], 0 unless set; then the buffer's own commands, then those of jobs by
// flight and batch; then as recorded. So jobs that record by [Buffer.Parallel] give the same world
// for any number of workers.
//
// Ownership: the buffer owns what is recorded, the memory until [Buffer.Close]. Queries, changes
// and archetypes that commands name must be open when they are played. Values of shared types are
// kept in Go memory; values of managed types cannot be recorded.
//
// Goroutines: one at a time may use a buffer, any one; [Buffer.Parallel] any may call, for a writer
// of its own: bodies of jobs record by out := cb.Parallel(c), never by cb, which others may be
// using. Play belongs to the world's owner. Two goroutines in one writer break the contract: the
// race detector always tells, a program without it only where one record is written while another
// is; then one of the two panics, and Play drops what was recorded and returns [ErrTorn].
//
// Limits: a command has 1 MiB at most, with its values; a writer 65,535 different commands between
// two plays, that is types, changes, queries and archetypes; a buffer 2^31 placeholders.
//
// Garbage collector: records lie outside its heap. Play keeps 44 B of Go memory without pointers
// for each entity and 8 for each command, from one call to the next. What a frame took that was
// much larger than the eight behind it is given back, Go memory and records, without a call of
// Trim.
//
// Failure: [Buffer.Play] checks all commands before it changes anything, and returns a [*PlayError]
// that names those that cannot apply and where they were recorded; [Buffer.PlayRest] does the
// others. Destroy and Remove of what is gone are no failures, and of ecs.Null nothing is recorded.
// Where nothing was recorded since the last call they return [ErrPlayed], in idle frames too. When
// memory runs out, an *ecs.LimitError; the first run of commands is all or nothing then
// (docs/command.md). A broken contract panics when it is recorded: an entity or a type of another
// world, a placeholder of another buffer, a writer kept beyond its batch, a buffer that is being
// played, sealed or closed. Recording beyond [Limit] panics with an error that wraps [ErrLimit];
// see [Buffer.Reserve].
//
// Cost, a million commands, each of another entity, on an EPYC (go test ./ecs/command -bench Play):
// 19 ns to record an Add and 21 to 27 to play it, 3 where one command is about a query of as many.
// More is in docs/command.md.
package command
