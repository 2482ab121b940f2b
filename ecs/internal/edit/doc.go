// Package edit makes structural changes: it creates, copies, moves and ends entities, within a
// world or from one to another. It decides which rows go to which archetype; package change moves
// them.
//
//	to find out                                    look into
//	how an entity gets and loses a type            move.go; change.go and apply.go for several at once
//	which rows a change by query or list is about  selection.go
//	how entities are made                          create.go, reserve.go, instantiate.go, batch.go
//	which entities end                             destroy.go
//	who hears of it                                change/writer.go, EndOne; OnEnd has one listener, forgetEnded
//	                                               in world/entity.go
//	what several changes make of an archetype      outcome.go
//	how groups are changed all or none             tx.go, on change.Tx
//	sparse types in all that                       sparsechange.go, sparsecopy.go
//	another world                                  migrate.go, clone.go
//
// Not here: a delta makes tables hold other rows by change.Writer.Rebuild; names and sparse entries
// of those that end go with it as the delta says, without OnEnd.
//
// All of it belongs to the world's owner, outside of loops. Whatever can fail comes first; an error
// is a *world.LimitError, and nothing has changed then. A broken contract panics with the name of
// the call in package ecs.
package edit
