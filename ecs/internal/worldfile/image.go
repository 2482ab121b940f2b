package worldfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// Images. A world is bytes without a pointer, so a file of one is those bytes, and opening it is
// mapping them. Package fileformat knows files; here is what lies in them.
//
//	described    types, tables (shared values, archetypes, metadata of chunks), ids, names, sparse types,
//	             managed values
//	rows         the chunks, largest first, so that each lies at a multiple of its size; then blocks
//	records      of the ids, as in memory
//	entries      entities and values of sparse types
//
// References to other places in the bytes of rows are numbers: a record has a row block, which
// stays; the header of a spilled buffer has the place of its block, and is rewritten on the way
// (save.go), as is the slot of a managed value (managed.go). So a row does not know its chunk, and
// chunks move freely.
//
// Types are found by name, kind and layout, as in deltas. The opened world keeps the tag, which is
// in every row.

// WorldImage is the content of the described sections.
type WorldImage struct {
	Types              []ImageType
	Created, Destroyed uint64
	Version            uint32
	chunks             int // units of 16 KiB with rows, from the first on
	blocks             int // blocks of buffers
	blockBytes         int // what they take, after the rows
	Values             []ImageValue
	Archetypes         []ImageArchetype
	ids                entity.Image
	Names              []imageName
	Sets               []imageSet
	Managed            []imageManaged
}

// ImageType is a type that a file has.
type ImageType struct {
	world.Description
	Size, Inline, MaxRows, Chunk int
	Whole                        int // bytes of a value of the Go type
	Enableable, Cleanup, Tracked bool
	Coded                        bool         // a codec writes its values, see world/codec.go
	Fields                       []ImageField // for people, and for conversions
}

// ImageField is a field of a Go type, without structs around it.
type ImageField struct {
	Name         string
	Kind         uint32 // of package reflect
	Offset, Size int
	Of           string // of an array what it consists of, as [4]int32 or [2]{X float32}; Entity of one; else empty
}

// ImageValue is a shared value.
type ImageValue struct {
	Of    int // its type
	Bytes []byte
}

// ImageArchetype is an archetype.
type ImageArchetype struct {
	pinned     bool
	Values     []int // of its shared types
	TableImage table.Image
}

// imageName is a name, with the entities that have it; the one named last comes first.
type imageName struct {
	text string
	ids  []entity.ID
}

// imageSet is the set of a sparse type.
type imageSet struct {
	of  int
	Set sparse.Image
}

// Sections returns the function that codes each section.
func (im *WorldImage) Sections() [ImageMeta]func(c *codec.Coder) {
	return [ImageMeta]func(c *codec.Coder){
		ImageTypes: im.codeTypes, ImageTables: im.codeTables, ImageIDs: func(c *codec.Coder) { im.ids.Code(c) },
		ImageNames: im.codeNames, ImageSparse: im.codeSets, ImageManaged: im.codeManaged,
	}
}

var imageSectionNames = [ImageMeta]string{"types", "tables", "ids", "names", "sparse types", "managed values"}

func (im *WorldImage) codeTypes(c *codec.Coder) {
	codec.List(c, &im.Types, func(t *ImageType) {
		t.Description.Code(c)
		for _, n := range [...]*int{&t.Size, &t.Inline, &t.MaxRows, &t.Chunk, &t.Whole} {
			c.Number(n)
		}
		for _, flag := range [...]*bool{&t.Enableable, &t.Cleanup, &t.Tracked, &t.Coded} {
			c.Flag(flag)
		}
		codec.List(c, &t.Fields, func(f *ImageField) {
			c.Text(&f.Name)
			c.Half(&f.Kind)
			c.Number(&f.Offset)
			c.Number(&f.Size)
			c.Text(&f.Of)
		})
	})
}

func (im *WorldImage) codeTables(c *codec.Coder) {
	c.Word(&im.Created)
	c.Word(&im.Destroyed)
	c.Half(&im.Version)
	c.Number(&im.chunks)
	c.Number(&im.blocks)
	c.Number(&im.blockBytes)
	codec.List(c, &im.Values, func(v *ImageValue) {
		c.Number(&v.Of)
		c.Bytes(&v.Bytes)
	})
	codec.List(c, &im.Archetypes, func(a *ImageArchetype) {
		c.Flag(&a.pinned)
		codec.List(c, &a.Values, c.Number)
		a.TableImage.Code(c)
	})
}

func (im *WorldImage) codeNames(c *codec.Coder) {
	codec.List(c, &im.Names, func(n *imageName) {
		c.Text(&n.text)
		world.CodeIDs(c, &n.ids, im.ids.Tag)
	})
}

func (im *WorldImage) codeSets(c *codec.Coder) {
	codec.List(c, &im.Sets, func(s *imageSet) {
		c.Number(&s.of)
		s.Set.Code(c)
	})
}

// describeImageType returns the description of a type in a file.
func describeImageType(t *world.Type, of world.Description) ImageType {
	im := ImageType{Description: of, Size: t.Size, Inline: t.Shape.Inline, MaxRows: t.MaxRows, Whole: int(t.Go.Size()),
		Enableable: t.Enableable, Cleanup: t.Cleanup, Tracked: t.Tracked, Coded: t.Codec != nil}
	if t.Kind == world.KindChunk {
		im.Chunk = t.Chunk.Bytes
	}
	if kept, ok := keptTypes.Load(t.Go); ok {
		k := kept.(keptType)
		im.Whole, im.Coded, im.Fields = k.whole, k.coded, k.fields
		return im
	}
	im.AddFields("", t.Go, 0)
	return im
}

// AddFields adds the fields of a Go type: those of structs one by one; arrays, entities and all
// else as one.
func (im *ImageType) AddFields(name string, t reflect.Type, offset int) {
	if t.Kind() != reflect.Struct || t == world.EntityType {
		f := ImageField{Name: name, Kind: uint32(t.Kind()), Offset: offset, Size: int(t.Size())}
		if t.Kind() == reflect.Struct || t.Kind() == reflect.Array {
			f.Of = typeText(t)
		}
		im.Fields = append(im.Fields, f)
		return
	}
	for f := range t.Fields() {
		inner := f.Name
		if name != "" {
			inner = name + "." + f.Name
		}
		im.AddFields(inner, f.Type, offset+int(f.Offset))
	}
}

// typeText returns what a Go type consists of: types of the same text have the same layout.
func typeText(t reflect.Type) string {
	switch {
	case t == world.EntityType:
		return "Entity"
	case t.Kind() == reflect.Array:
		return fmt.Sprintf("[%d]", t.Len()) + typeText(t.Elem())
	case t.Kind() != reflect.Struct:
		return t.Kind().String()
	}
	var fields []string
	for f := range t.Fields() {
		fields = append(fields, f.Name+" "+typeText(f.Type))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// errBigEndian is why big-endian machines neither write nor open files.
var errBigEndian = errors.New("world files are little-endian, as rows are in memory, and this machine is not")

// littleEndian reports whether numbers lie in memory as in a file.
func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }

// refuseSection returns the error of a section that makes no sense.
func refuseSection(section int, err error) error {
	return fmt.Errorf("%w: section %s: %w", ErrImage, imageSectionNames[section], err)
}

// imageManaged is the values of a managed type.
type imageManaged struct {
	of, N int
	coded []byte // for each value its length and its bytes
}
