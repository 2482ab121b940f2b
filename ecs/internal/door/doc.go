// Package door is how the siblings of package ecs reach the rooms below it: it turns what programs
// hold, an *ecs.World or an ecs.Type, into its core, and has the calls that take or return several
// of these. What needs no face, such as the methods of edit.Outcome and edit.Tx, siblings call in
// the room itself; internal/lint/floors.go lists who may enter which room, and why. No other module
// can import this package, and no exported name of ecs leads here.
//
//	ecs/command  ecs/image  ecs/job  ecs/journal  ecs/system  rooms of ecs/scene      import door beside ecs
//	                     |                     \
//	                    door                    rooms: world, query, edit, snapshot, delta, worldfile
//	                     |                      /
//	                    ecs        faces around cores of the rooms
//
// A face is its core and nothing else (TestCores of ecs), so a conversion costs nothing. That of a
// type is a call of a function that ecs gives package world, since the face of a type is an
// interface. A broken contract panics with the text of the room, or with "ecs: door.Function: ";
// look-ups return nil or false. Any goroutine may call TypeIndex, FactsOf, Hold, Keep,
// RecordingsOf, Placeholder, Number, Writes, Conflicts, AppendDelta, and Join if it alone uses its
// first argument.
package door
