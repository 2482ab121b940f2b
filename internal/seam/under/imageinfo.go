package under

import "reflect"

// ImageInfo is what the described sections of an image say, for people. Types are numbered as in
// the file.
type ImageInfo struct {
	Types                []ImageType
	Archetypes           []ImageArchetype
	Sets                 []ImageSet
	Managed              []ImageManagedType
	Alive, Records, Free int // entities, ids, and ids that the next entities get
	Names                int // entities with a name
	Blocks, BlockBytes   int // of buffers that have spilled
	Version              uint32
}

// ImageType is a type of an image.
type ImageType struct {
	Name                           string
	Kind                           uint8 // an ecs.Kind
	Size                           int   // bytes that a row has of it; of a chunk type, a chunk
	Inline                         int   // elements of a buffer that lie in its row
	MaxRows                        int   // 0 without
	Enableable, Cleanup, TrackRows bool
	Coded                          bool // a codec of the program wrote its values
	Fields                         []ImageField
}

// ImageField is a field of a Go type, without structs around it.
type ImageField struct {
	Name         string // empty: the type is no struct
	Kind         reflect.Kind
	Offset, Size int
	Type         string // float32, [4]int32, Entity
}

// ImageArchetype is an archetype of an image.
type ImageArchetype struct {
	Types               []int
	Shared              []ImageValue
	Rows, Chunks, Bytes int
}

// ImageValue is a shared value of an image.
type ImageValue struct {
	Type  int
	Text  string
	Bytes []byte // as they are in the file
}

// ImageManagedType is the values of a managed type.
type ImageManagedType struct{ Type, Values, Bytes int }

// ImageSet is the set of a sparse type.
type ImageSet struct{ Type, Entries, Bytes int }
