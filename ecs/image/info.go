package image

import (
	"fmt"
	"reflect"

	"quarry/ecs"
	"quarry/ecs/internal/fileformat"
	"quarry/ecs/internal/worldfile"
)

// Info is the description of a file and of its world. Types are numbered by their place in Types.
type Info struct {
	Format     int
	Bytes      int64
	Sections   []Section // the header first, in the order in which they lie in the file
	Types      []Type    // in order of registration, the built-in types first
	Archetypes []Archetype
	Sparse     []Sparse
	Managed    []Managed
	Entities   int    // that are alive
	IDs        int    // that there are, each with a record
	Free       int    // ids that the next entities get, before new ones are made
	Names      int    // entities with a name
	Blocks     int    // of buffers that do not fit in their rows
	BlockBytes int    // what they take
	Version    uint32 // of the world
}

// Section is a section of a file.
type Section struct {
	Name          string
	Offset, Bytes int64
	State         State
	Err           error // what is damaged, or why it could not be read
}

// State reports whether a section is as it was written.
type State uint8

// States of sections.
const (
	Unread  = State(fileformat.Unread)  // nobody has looked, or the system could not read it
	Good    = State(fileformat.Good)    // it has its checksum
	Damaged = State(fileformat.Damaged) // it does not have its checksum
)

// String returns not read, good or damaged.
func (s State) String() string {
	if names := [...]string{"not read", "good", "damaged"}; int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Type is a type of a file.
type Type struct {
	Name                           string // with its package
	Kind                           ecs.Kind
	Size                           int // bytes that a row has of it; of a sparse type an entry, of a chunk type a chunk
	Inline                         int // elements of a buffer that lie in its row
	Enableable, Cleanup, TrackRows bool
	Codec                          bool    // of a shared or managed type: a codec of the program wrote its values
	MaxRows                        int     // 0 without
	Fields                         []Field // those of structs one by one
}

// Field is a field of a type, or of an element of a buffer.
type Field struct {
	Name         string // Outer.Inner for one of a struct in it; empty if the type is no struct
	Kind         reflect.Kind
	Offset, Size int
	Type         string // float32; of an array what is in it, as [4]int32 or [2]{X int8, Y int8}; Entity
}

// Archetype is an archetype of a file.
type Archetype struct {
	Types               []int // numbers of its types
	Shared              []SharedValue
	Rows, Chunks, Bytes int // Bytes is what the chunks take, without blocks of buffers
}

// SharedValue is the value of a shared type that the entities of an archetype have.
type SharedValue struct {
	Type  int
	Text  string // its numbers and texts, {X:1 Name:"a"}; of arrays and what is behind them, and of a codec, the bytes
	Bytes []byte
}

// Sparse is the part of a file for a sparse type.
type Sparse struct {
	Type, Entries int
	Bytes         int // of entities and values
}

// Managed is the part of a file for a managed type.
type Managed struct {
	Type, Values int
	Bytes        int // of the values, as the codec of the type wrote them, with their lengths
}

// Describe returns the contents of the world file at a path: sections, types, archetypes. No type
// need be registered, no world is made, and no row is read. With [Checked] it reads the whole file
// as [Check] does, and reports for each section whether it is damaged; no other option has an
// effect. It is for files of strangers, whose names and texts may be any.
//
// An error wraps ErrFile, or is the system's. Then Info has what could still be read: sections, if
// the header is good; types, archetypes and the rest if all sections before rows are. Any goroutine
// may call it. Cost: reading those sections.
func Describe(path string, options ...Option) (Info, error) {
	var s settings
	s.apply("Describe", options)
	info, err := describeFile(path, s.Check)
	if err != nil {
		return info, fmt.Errorf("image: Describe: %w", err)
	}
	return info, nil
}

// describeFile is Describe without its name in the error.
func describeFile(path string, whole bool) (info Info, err error) {
	in, err := fileformat.Inspect(path, whole)
	info.Format, info.Bytes = in.Format, in.Bytes
	for _, s := range in.Sections {
		info.Sections = append(info.Sections, Section{s.Name, s.Offset, s.Bytes, State(s.State), s.Err})
	}
	if in.Meta != nil {
		if e := info.fill(in.Meta); err == nil && e != nil {
			err = fmt.Errorf("%s: %w", path, e)
		}
	}
	return info, err
}

// fill fills in the content of the described sections.
func (info *Info) fill(f *worldfile.File) error {
	from, err := worldfile.DescribeImage(f)
	if err != nil {
		return err
	}
	info.Entities, info.IDs, info.Free, info.Names = from.Alive, from.Records, from.Free, from.Names
	info.Blocks, info.BlockBytes, info.Version = from.Blocks, from.BlockBytes, from.Version
	for i := range from.Types {
		t := &from.Types[i]
		to := Type{Name: t.Name, Kind: ecs.Kind(t.Kind), Size: t.Size, Inline: t.Inline, MaxRows: t.MaxRows,
			Enableable: t.Enableable, Cleanup: t.Cleanup, TrackRows: t.TrackRows, Codec: t.Coded}
		for _, f := range t.Fields {
			to.Fields = append(to.Fields, Field(f))
		}
		info.Types = append(info.Types, to)
	}
	for _, a := range from.Archetypes {
		to := Archetype{Types: a.Types, Rows: a.Rows, Chunks: a.Chunks, Bytes: a.Bytes}
		for _, v := range a.Shared {
			to.Shared = append(to.Shared, SharedValue(v))
		}
		info.Archetypes = append(info.Archetypes, to)
	}
	for _, s := range from.Sets {
		info.Sparse = append(info.Sparse, Sparse{Type: s.Type, Entries: s.Entries, Bytes: s.Bytes})
	}
	for _, m := range from.Managed {
		info.Managed = append(info.Managed, Managed(m))
	}
	return nil
}
