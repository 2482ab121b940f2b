// Package world has the state of a world, on which all other rooms of package ecs are built: types
// with their kinds, archetypes, ids and names, look-ups, and the locks against simultaneous use.
//
//	to find out                                    look into
//	what a world consists of                       world.go has the structs, parts.go the list of parts; life.go
//	what a type is, what its kind decides          typeinfo.go, kind.go, typeregistry.go, registration.go, gotype.go
//	an option of a type                            ecs/type.go makes it, kind.go allows it, typeinfo.go compares it
//	what an archetype is, when one goes            archetype*.go, retire.go, shrink.go
//	how a value is found by its entity             lookup.go, lookupmany.go, location.go
//	what may not happen at once                    lock.go, loops.go, lease.go
//	which write is marked, before the value is     rowversion.go, barrier.go, enable.go; look-ups in lookup.go;
//	there                                          the value is stored by Set and Add of package ecs
//	what a limit reports                           limiterror.go
//	values outside the chunks                      ownedvalues.go, rawbuffer.go, managed.go, sparseset.go,
//	                                               chunktypes.go
//	how a type is described to another world       description.go, codec.go
//	what Hash covers                               hash.go, hashvalue.go
//	where values have entities                     entitylinks.go
//
// The rooms above, the lowest first; each imports those below it and no other:
//
//	query      terms, the archetypes and rows that match, loops, borrows
//	edit       creates, copies, changes, moves and ends entities; clones a world
//	snapshot   a state that stays while the world goes on; Restore
//	delta      what differs between two states, and its bytes
//	worldfile  what lies in a world file
//	ecs        the face: type parameters, contracts, faces around the cores
//
// Package ecs has each exported type with a contract around the type of the same name in a room: an
// ecs.World is a World and nothing else, so pointers to the two are the same. Comments in the rooms
// are of the form "is ecs.World.Close" where the contract stands there.
//
// A World belongs to one goroutine at a time, with the exceptions that ecs.World names. Nothing
// here refers to a room above. What it must know of ecs, the Go types of an entity and of the
// built-in types, Declare passes to it; loops and snapshots get calls through OnLoops and
// World.History; what package edit keeps in a world is World.Editing. Memory of rows and buffers
// lies in the universe, which the garbage collector does not see; a World, its types and its
// archetypes lie in Go memory.
//
// Errors are *LimitError, of a limit of the library or of the system; after one nothing has
// changed. A broken contract panics with the name of the call in package ecs.
package world
