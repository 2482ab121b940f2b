// Package inspect writes rows of a world for people and for other programs, without knowing their
// types: an archetype as CSV or as JSON lines. WriteOccupancy writes how well archetypes use the
// memory of their chunks.
//
//	err := inspect.WriteCSV(file, ships)             // a header, and a line for each row
//	for _, a := range w.Archetypes() {
//		err = inspect.WriteJSON(os.Stdout, a)        // an object on each line
//	}
//
// CSV and JSON have the same columns. First entity, then name if a row has one, then the types in
// order of registration; last the sparse types that a row has. A column is a field:
//
//	type Place struct{ X, Y float64 }    Place.X, Place.Y    structs in it likewise: Place.At.X
//	type Port string                     Port                the value itself
//	type Sunk struct{}                   Sunk                true
//	Enableable                           Walk.enabled        true or false, behind the fields
//	[]Hit, [3]float32                    []Hit, Shape.Size   an array as in JSON, of objects and numbers
//	Entity                               Cargo.Owner         12v3; null if it is ecs.Null
//
// Names of types are as in ecs.ComponentInfo. Where two columns would have one name, the second has
// #2 behind it. Numbers are written as encoding/json writes them; NaN, +Inf, -Inf and complex
// numbers are texts. A type that implements encoding.TextMarshaler is its text. Maps, and what
// pointers and interfaces of managed values lead to, are as encoding/json writes them; of what it
// cannot write, as a channel, the text is the Go type: (chan int). A value that is not there (a
// sparse type that the row lacks, a managed value that is nil) is null, in CSV an empty cell.
// Fields named _ are left out.
//
// The example writes two ships:
//
//	entity,name,Place.X,Place.Y,[]Crate,Port
//	1v1,,0,0,[],Genoa
//	2v1,Aurora,0.5,-3,"[{""Goods"":7,""Tons"":20},{""Goods"":8,""Tons"":1}]",Genoa
//
// Ownership: the world stays as it is. For a snapshot, export a fork of it.
//
// Goroutines: the functions are for the goroutine that uses the world; those for rows make a query
// and loop over it.
//
// Failure: an error is the writer's; rows that were written before it stay. A broken contract
// panics.
//
// Cost: reflection and 14 allocations for a row of two components of two numbers, 1.4 us on a Turin
// (go test ./ecs/inspect -bench .): for people and files, not for frames.
package inspect
