// Package world is what a world is: its types, archetypes and entities, the queries that find them,
// the changes that move them, and its states, as snapshots, deltas and world files.
//
// Package ecs is its face. There each exported type of this package that has a contract is declared
// with it, around the type of the same name here: an ecs.World is a World and nothing else, so
// pointers to the two are the same. Comments here say "is ecs.World.Close" where the contract
// stands there.
//
//	to find out                                    look into
//	what a world consists of                       world.go, life.go; verify.go checks all of it
//	what a type is, what its kind decides          typeinfo.go, kind.go, registry.go, gotype.go
//	what an archetype is, when one goes            archetype.go, catalogue.go, value.go, retire.go
//	how a value is found by its entity             lookup.go, lookupmany.go, lentlookup.go, location.go
//	what may not happen at once                    lock.go, loops.go, borrow.go
//	how a query becomes rows                       term.go, filter.go, query.go, walk.go, scan.go, rows.go
//	how rows are filtered one by one               rowtest.go, masked.go, between.go, rowversion.go
//	how entities are made, moved and ended         create.go, instantiate.go, change.go, apply.go, move.go,
//	                                               destroy.go, transaction.go, migrate.go, clone.go
//	sparse values                                  sparseset.go, sparsechange.go, sparsecopy.go
//	who writes, once a snapshot is alive           history.go, snapshot.go, frozen.go, restore.go
//	what differs between two states                snapshotdiff.go, deltadiff.go; delta.go draws a delta
//	what lies in a world file                      image.go draws it; imagesave.go, imageload.go, imagematch.go
//
// A World belongs to one goroutine at a time, with the exceptions that ecs.World names. Nothing
// here refers to package ecs: what it must know of ecs, the Go types of an entity and of the
// built-in types, Declare tells it. Memory of rows and buffers lies in the universe, which the
// garbage collector does not see; a World, its types and its archetypes lie in Go memory.
//
// Errors are *LimitError, of a limit of the library or of the system, and those that wrap ErrDelta
// or under.ErrImage; after one nothing has changed. A broken contract panics with the name of the
// call in package ecs.
package world
