package ecs

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
	"quarry/internal/seam/under"
)

// Images. A world is bytes without a pointer, so a file of one is those bytes, and opening it is
// mapping them. Package image knows files; here is what lies in them.
//
//	described    types, tables (shared values, archetypes, books of chunks), ids, names, sparse types,
//	             managed values
//	rows         the chunks, largest first, so that each lies at a multiple of its size; then blocks
//	records      of the ids, as in memory
//	entries      entities and values of sparse types
//
// What the bytes of rows say of other places are numbers: a record says a stretch, which stays; the
// header of a spilled buffer says where its block is, and is rewritten on the way (imagesave.go),
// as is the slot of a managed value (imagemanaged.go). So a row does not know its chunk, and chunks
// move freely.
//
// Types are found by name, kind and layout, as in deltas. The opened world keeps the tag, which is
// in every row.

// worldImage is what the described sections say.
type worldImage struct {
	types              []imageType
	created, destroyed uint64
	version            uint32
	chunks             int // units of 16 KiB with rows, from the first on
	blocks             int // blocks of buffers
	blockBytes         int // what they take, behind the rows
	values             []imageValue
	archetypes         []imageArchetype
	ids                entity.Image
	names              []imageName
	sets               []imageSet
	managed            []imageManaged
}

// imageType is a type that a file has.
type imageType struct {
	deltaType
	size, inline, maxRows, chunk int
	whole                        int // bytes of a value of the Go type
	enableable, cleanup, tracked bool
	coded                        bool         // a codec writes its values, see codec.go
	fields                       []imageField // for people, and for conversions
}

// imageField is a field of a Go type, without structs around it.
type imageField struct {
	name         string
	kind         uint32 // of package reflect
	offset, size int
	of           string // of an array what it consists of, as [4]int32 or [2]{X float32}; Entity of one; else empty
}

// imageValue is a shared value.
type imageValue struct {
	of    int // its type
	bytes []byte
}

// imageArchetype is an archetype.
type imageArchetype struct {
	pinned bool
	values []int // of its shared types
	table  table.Image
}

// imageName is a name, with the entities that have it; the one named last comes first.
type imageName struct {
	text string
	ids  []entity.ID
}

// imageSet is the set of a sparse type.
type imageSet struct {
	of  int
	set sparse.Image
}

// imageCoder codes the sections.
type imageCoder struct{ deltaCoder }

// sections returns the function that codes each section.
func (im *worldImage) sections() [under.ImageMeta]func(c *imageCoder) {
	return [under.ImageMeta]func(c *imageCoder){
		under.ImageTypes: im.codeTypes, under.ImageTables: im.codeTables, under.ImageIDs: func(c *imageCoder) { im.ids.Code(&c.Coder) },
		under.ImageNames: im.codeNames, under.ImageSparse: im.codeSets, under.ImageManaged: im.codeManaged,
	}
}

var imageSectionNames = [under.ImageMeta]string{"types", "tables", "ids", "names", "sparse types", "managed values"}

func (im *worldImage) codeTypes(c *imageCoder) {
	codec.List(&c.Coder, &im.types, func(t *imageType) {
		c.described(&t.deltaType)
		for _, n := range [...]*int{&t.size, &t.inline, &t.maxRows, &t.chunk, &t.whole} {
			c.Number(n)
		}
		for _, flag := range [...]*bool{&t.enableable, &t.cleanup, &t.tracked, &t.coded} {
			c.Flag(flag)
		}
		codec.List(&c.Coder, &t.fields, func(f *imageField) {
			c.Text(&f.name)
			c.Half(&f.kind)
			c.Number(&f.offset)
			c.Number(&f.size)
			c.Text(&f.of)
		})
	})
}

func (im *worldImage) codeTables(c *imageCoder) {
	c.Word(&im.created)
	c.Word(&im.destroyed)
	c.Half(&im.version)
	c.Number(&im.chunks)
	c.Number(&im.blocks)
	c.Number(&im.blockBytes)
	codec.List(&c.Coder, &im.values, func(v *imageValue) {
		c.Number(&v.of)
		c.Bytes(&v.bytes)
	})
	codec.List(&c.Coder, &im.archetypes, func(a *imageArchetype) {
		c.Flag(&a.pinned)
		codec.List(&c.Coder, &a.values, c.Number)
		a.table.Code(&c.Coder)
	})
}

func (im *worldImage) codeNames(c *imageCoder) {
	codec.List(&c.Coder, &im.names, func(n *imageName) {
		c.Text(&n.text)
		c.deltaCoder.ids(&n.ids, im.ids.Tag)
	})
}

func (im *worldImage) codeSets(c *imageCoder) {
	codec.List(&c.Coder, &im.sets, func(s *imageSet) {
		c.Number(&s.of)
		s.set.Code(&c.Coder)
	})
}

// describeImageType returns what a file says of a type.
func describeImageType(t *typeInfo, of deltaType) imageType {
	im := imageType{deltaType: of, size: t.size, inline: t.shape.Inline, maxRows: t.maxRows, whole: int(t.rtype.Size()),
		enableable: t.enableable, cleanup: t.cleanup, tracked: t.tracked, coded: t.codec != nil}
	if t.kind == KindChunk {
		im.chunk = t.chunk.Bytes
	}
	if kept, ok := keptTypes.Load(t.rtype); ok {
		k := kept.(keptType)
		im.whole, im.coded, im.fields = k.whole, k.coded, k.fields
		return im
	}
	im.addFields("", t.rtype, 0)
	return im
}

// addFields adds the fields of a Go type: those of structs one by one; arrays, entities and all
// else as one.
func (im *imageType) addFields(name string, t reflect.Type, offset int) {
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[Entity]() {
		f := imageField{name: name, kind: uint32(t.Kind()), offset: offset, size: int(t.Size())}
		if t.Kind() == reflect.Struct || t.Kind() == reflect.Array {
			f.of = typeText(t)
		}
		im.fields = append(im.fields, f)
		return
	}
	for f := range t.Fields() {
		inner := f.Name
		if name != "" {
			inner = name + "." + f.Name
		}
		im.addFields(inner, f.Type, offset+int(f.Offset))
	}
}

// typeText returns what a Go type consists of: types of the same text have the same layout.
func typeText(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Entity]():
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
	return fmt.Errorf("%w: section %s: %w", under.ErrImage, imageSectionNames[section], err)
}
