// Package snapshot keeps states of a world while the world changes, for readers on any goroutine,
// and brings one back.
//
//	to find out                                    look into
//	which writes keep old bytes, and when          history.go draws it; package past keeps them
//	what taking and closing cost                   snapshot.go
//	what readers see                               snapshotworld.go: a world of its own; read.go
//	how a state comes back                         restore.go
//	managed values in a snapshot                   managed.go
//	writes past the write barrier, in debug builds         sharedrange.go
//
// A Snapshot is taken, renewed and closed by the world's owner; any goroutine may read it. The
// world reaches its snapshots by World.History. An error is a *world.LimitError, or means that the
// snapshot is lost because the system refused memory. A broken contract panics with the name of the
// call in package ecs.
package snapshot
