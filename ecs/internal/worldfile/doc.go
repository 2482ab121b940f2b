// Package worldfile has what lies in a world file: it turns a snapshot into sections and a file's
// sections into a world. Package ecs/internal/fileformat lays sections out in a file.
//
//	to find out                                    look into
//	which sections there are, and their numbers    file.go
//	what the sections say                          image.go draws it; info.go describes it to people
//	how a state becomes sections                   save.go, managed.go
//	how sections become a world                    loader.go, load.go, records.go, entries.go, managed.go, shared.go
//	what becomes of types that have changed        match.go, plan.go, rules.go, strict.go, layout.go
//	how values of changed types are converted      convert.go, moves.go; kept.go keeps types that nobody registers
//
// The offsets and counts of chunks and blocks are checked before memory is taken for rows; load.go
// lists what is checked later. An error wraps ErrImage, or is a *world.LimitError; no world is left
// behind then. Any goroutine may make an image of a snapshot of its own, and open a file.
package worldfile
