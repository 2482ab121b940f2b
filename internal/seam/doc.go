// Package seam has the functions of package ecs that its siblings in this repository need and
// programs do not. Its users are those in the drawing, and tests of ecs; no other module can.
//
//	ecs/command  ecs/image  ecs/job  ecs/journal  ecs/scene  ecs/system  fuzz  bench     import seam beside ecs
//	                           seam                    functions with types of ecs
//	                            |   ecs.Inside(key)
//	                           ecs                     methods of one call each, in inside.go
//	                            |
//	                           under                   the key, Facts, Link, Image
//
// A broken contract panics with "ecs: seam.Function: " or the op passed in; look-ups return nil or
// false. Any goroutine may call TypeIndex, FactsOf, Hold, Keep, RecordingsOf, Placeholder, Number,
// Writes, Conflicts, AppendDelta, and Join if it alone uses its first argument. Cost: one call.
//
// Functions, users, and why programs do not need them (internal/lint compares):
//
//	After             command           what several commands make of an entity, one after the other
//	AppendDelta       journal           of deltas one after the other; programs have Diff and EncodeDelta
//	ArchetypesOf      command           Locate of many at once; pays for hundreds in random order
//	At                command           of an outcome, which only the seam has
//	Begin             command           a transaction of several groups; programs make one call per group
//	ChangesEntries    command           of a change, whose maker knows
//	CheckChange       command, system   begins a structural change of several steps; programs call each
//	Conflicts         job               yes or no, once a flight; World.Conflicts says which types
//	Copy              command           a part of a transaction
//	Create            command           a part of a transaction
//	DescribeImage     image             of files without their types; programs have image.Describe
//	Destruction       command           a change that leaves groups alone; programs have World.Destroy
//	Enabled           scene             of a type that is known by its handle alone
//	EndBorrows        command           ends borrows without a structural change
//	Enter             command           the part of a change that moves no rows
//	ExpectChange      command           a part of a transaction
//	FactsOf           command, scene, system  what was passed to Register, which its caller knows
//	Filters           command, system   the terms of a query, which its maker knows
//	Finish            command           a part of a transaction
//	Hold              command           programs hold no chunks of a world
//	ImageOf           image, journal    what a file has, before there is a file
//	ImageOfWorld      image             the same of a world
//	Join              system            for the needs of several queries; programs ask for each
//	Keep              journal           programs close in the order in which they must
//	Locked            journal, system   programs know whether they are in a loop; the panic tells
//	Looks             system            a part of Query.Access, for requirements that wait for little
//	MatchesArchetype  command           what a query will match after changes; Query.Matches is now
//	Move              command           a part of a transaction
//	MoveQuery         scene             keeps what a move made in Go memory for the next; programs have World.MoveQuery
//	NewBorrow         job               what goroutines of a job see; programs have World.Share
//	Number            command, scene    number and buffer of a placeholder
//	OpenImage         image, journal    a world of what a file has; programs have image.Open
//	OutcomeOf         command           the first outcome of an entity
//	OutcomeOfCopies   command           the first outcome of copies
//	PinSince          system            one version for all queries of a system; programs have SetSince
//	Placeholder       command, scene    programs get placeholders from command.Writer
//	PlanBetween       image             the same with types of another file; see image.PlanBetween
//	PlanImage         image             types of a file and of a program; programs have image.Plan
//	RecordingsOf      command           what commands named before a restore; programs clear their buffers
//	Reserve           command           a part of a transaction
//	Run               command           a part of a transaction
//	SetEnabled        scene             the same
//	SetTag            scene             files that do not depend on the program
//	SetValue          scene             the counterpart of World.Value
//	SharedOf          scene             of a type that is known by its handle alone
//	Stays             command           of an outcome, which only the seam has
//	TypeIndex         command, scene, system  an index for tables by type; programs have the handle
//	VisitLinks        scene             links between sections, in any type
//	Writes            job               of a term; programs wrote the term
package seam
