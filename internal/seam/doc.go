// Package seam is what the siblings of package ecs in this repository ask of it and programs do
// not. It is for ecs/command, ecs/job, ecs/system, the modules fuzz and bench, and tests of ecs;
// ecs/hierarchy and ecs/examples are made as programs are, without it. No other module can import
// it.
//
//	ecs/command   ecs/job   ecs/system   fuzz   bench
//	     +-----------+----------+----------+------+    import seam beside ecs
//	                            |
//	                           seam                    functions with types of ecs
//	                            |   ecs.Inside(key)
//	                           ecs                     methods of one call each, in inside.go
//	                            |
//	                           under                   the key, Facts, Link
//
// Promise: a function does what its comment says, and is tested for it. It is promised to the
// packages above alone: it changes together with all its callers, in one commit, and goes when the
// last of them does. A broken contract panics with a text that begins "ecs: seam.Function: ", or
// with the op that was given; look-ups return nil or false. A nil world or query that a comment
// does not speak of may be a runtime error. Facts belong to the world and are not to be written.
//
// Goroutines: any goroutine may call TypeIndex, FactsOf, Hold, Placeholder, Number, Writes and
// Conflicts; Join too, while nobody else uses its first argument. The others are for the goroutine
// that uses the world.
//
// Cost: the call of what it leads to, of MatchesArchetype one more: both sides are inlined
// (internal/lint has them in its table).
//
// What is here, who uses it, and why programs do not, compared with the code by internal/lint:
//
//	After             command           what several commands make of an entity, one after the other
//	ArchetypesOf      command           Locate of many at once; pays for hundreds in no order
//	At                command           of an outcome, which only the seam has
//	Begin             command           a transaction of several groups; programs make a call for each
//	CheckChange       command, system   a structural change of several steps begins; programs make calls
//	Conflicts         job               yes or no, once a flight; World.Conflicts says which types
//	Copy              command           a part of a transaction
//	Create            command           a part of a transaction
//	Destruction       command           a change that leaves groups alone; programs have World.Destroy
//	EndBorrows        command           ends borrows beside any change of the structure
//	FactsOf           command, system   what Register was told, which its caller knows
//	Filters           command, system   the terms of a query, which its maker knows
//	Finish            command           a part of a transaction
//	Hold              command           programs hold no chunks of a world
//	Join              system            for what several queries need; programs ask for each
//	Locked            system            programs know whether they are in a loop; the panic tells
//	Looks             system            a part of Query.Access, for requirements that wait for little
//	MatchesArchetype  command           what a query will match after changes; Query.Matches is now
//	Move              command           a part of a transaction
//	NewBorrow         job               what goroutines of a job see; programs have World.Share
//	Number            command           which placeholder it is, and of which command buffer
//	OutcomeOf         command           where an outcome begins
//	OutcomeOfCopies   command           where the outcome of copies begins
//	PinSince          system            one version for all queries of a system; programs have SetSince
//	Placeholder       command           programs get placeholders from command.Writer
//	Reserve           command           a part of a transaction
//	Run               command           a part of a transaction
//	Shared            system            programs hold the Borrow
//	Stays             command           of an outcome, which only the seam has
//	TypeIndex         command           an index for tables by type; programs have the handle
//	Writes            job               of a term; programs wrote the term
//
// Left in ecs, because programs have a use for it: World.Owns, Query.Access and World.Conflicts,
// Entity.IsPlaceholder, World.Closed, World.Locate, Query.Matches, chunks of archetypes and rows.
package seam
