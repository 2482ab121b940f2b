package worldfile

import "reflect"

// Info is the content of the described sections of an image, for people. Types are numbered as in
// the file.
type Info struct {
	Types                []InfoType
	Archetypes           []InfoArchetype
	Sets                 []InfoSet
	Managed              []InfoManaged
	Alive, Records, Free int // entities, ids, and ids that the next entities get
	Names                int // entities with a name
	Blocks, BlockBytes   int // of buffers that have spilled
	Version              uint32
}

// InfoType is a type of an image.
type InfoType struct {
	Name                           string
	Kind                           uint8 // an ecs.Kind
	Size                           int   // bytes that a row has of it; of a chunk type, a chunk
	Inline                         int   // elements of a buffer that lie in its row
	MaxRows                        int   // 0 without
	Enableable, Cleanup, TrackRows bool
	Coded                          bool // a codec of the program wrote its values
	Fields                         []InfoField
}

// InfoField is a field of a Go type, without structs around it.
type InfoField struct {
	Name         string // empty: the type is no struct
	Kind         reflect.Kind
	Offset, Size int
	Type         string // float32, [4]int32, Entity
}

// InfoArchetype is an archetype of an image.
type InfoArchetype struct {
	Types               []int
	Shared              []InfoValue
	Rows, Chunks, Bytes int
}

// InfoValue is a shared value of an image.
type InfoValue struct {
	Type  int
	Text  string
	Bytes []byte // as they are in the file
}

// InfoManaged is the values of a managed type.
type InfoManaged struct{ Type, Values, Bytes int }

// InfoSet is the set of a sparse type.
type InfoSet struct{ Type, Entries, Bytes int }
