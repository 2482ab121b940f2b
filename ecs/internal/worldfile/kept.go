package worldfile

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/layout"
)

// Types that are kept although the program has not registered them. The world needs a Go type for
// them, to print and copy values by, so one is made that has the fields of the file:
//
//	file      shop.Stall {Owner Entity, Goods [3]uint16, Open bool}
//	made      struct { Owner Entity; Goods [3]uint16; Open bool }    with a tag: name and layout
//
// The tag makes one type of each name and layout, so that worlds of the process agree on it. If Go
// cannot lay these fields out as the file has them, the struct has arrays of bytes in their place,
// and fields for the entities among them. Values of shared and managed types are the bytes that the
// file has of them:
//
//	file      shop.Ledger, coded by the type's codec
//	made      struct { Bytes []byte }, with a tag        of a managed type; keptShared of a shared one
//
// A file saved from such a world describes the type as the file that it was opened from.

// keptTypes are the types that were made: keptType by reflect.Type.
var keptTypes sync.Map

// keptType is what a file says of a type that is kept.
type keptType struct {
	whole  int
	coded  bool
	fields []ImageField
}

// keptShared is a value of a shared type that is kept.
type keptShared struct {
	Known bool   // it is from a file; the zero value is not
	Bytes string // as in the file
}

// keptSharedCodec and keptManagedCodec write the bytes that they read.
var (
	keptSharedCodec = &world.ValueCodec{
		Append: func(b []byte, p unsafe.Pointer) ([]byte, error) {
			v := (*keptShared)(p) // Safe because the made type begins with these fields.
			if !v.Known {
				return nil, errors.New("it is the zero value of a type that is kept, whose bytes are not known")
			}
			return append(b, v.Bytes...), nil
		},
		Read: func(b []byte, p unsafe.Pointer, _ reflect.Type) error {
			*(*keptShared)(p) = keptShared{true, string(b)} // Safe as above.
			return nil
		},
	}
	keptManagedCodec = &world.ValueCodec{
		Append: func(b []byte, p unsafe.Pointer) ([]byte, error) {
			return append(b, *(*[]byte)(p)...), nil // Safe because the made type has this field alone.
		},
		Read: func(b []byte, p unsafe.Pointer, _ reflect.Type) error {
			*(*[]byte)(p) = bytes.Clone(b) // Safe as above.
			return nil
		},
	}
)

// keep registers a type of a file as it is there.
func (m *matcher) keep(x *imageMatch) error {
	im := x.im
	// Entities in it would keep the tag of the file's world in a clone.
	if im.Kind == world.KindShared && !im.Coded && !m.rules.KeepEntities {
		for i := range im.Fields {
			if f := &im.Fields[i]; strings.Contains(f.Of, "Entity") {
				return fmt.Errorf("%v of a shared value is an entity, which only the type can rename", f)
			}
		}
	}
	t, err := registerOpaque(m.w, im, m.rules.KeepEntities)
	if err != nil {
		return err
	}
	x.t, x.now = t, describeImageType(t, im.Description)
	x.alike, x.asIs = true, im.sameRows(&x.now)
	m.taken[t] = true
	return nil
}

// registerOpaque registers a type as a file has it, with a Go type that is made for it. If bare is
// set, entities may be bytes, in a world that is neither cloned nor moved.
func registerOpaque(w *world.World, im *ImageType, bare bool) (*world.Type, error) {
	if err := im.check(); err != nil {
		return nil, err
	}
	if len(w.Types.List) == world.MaxTypes {
		return nil, &world.LimitError{
			Op: "image.Open", Limit: "component types a world", Max: world.MaxTypes, Err: world.ErrManyTypes,
		}
	}
	t, err := im.goType(bare)
	if err != nil {
		return nil, err
	}
	info := im.registration(t)
	info.Enableable, info.Cleanup, info.Tracked, info.MaxRows = im.Enableable, im.Cleanup, im.Tracked, im.MaxRows
	info.Name = strings.Replace(info.Name, world.ShortName(t), shortName(&im.Description), 1)
	if id, ok := w.Types.Find(info.Key()); ok && !w.Types.List[id].IsLike(info) {
		return nil, errors.New("it was registered with other options")
	}
	if _, err := table.PlanOf(info.Planned()); err != nil {
		return nil, err
	}
	return w.Register("image.Open", info), nil
}

// registration returns the Type of a Go type as a type of a file is registered.
func (t *ImageType) registration(of reflect.Type) *world.Type {
	switch t.Kind {
	case world.KindShared: // interfaces hold values of the made type
		return &world.Type{
			Go: of, Name: world.ShortName(of), Align: 1, Kind: world.KindShared, Shared: value.NewValues[any](nil),
			Codec: keptSharedCodec,
		}
	case world.KindManaged:
		store := value.NewStore[[]byte]()
		store.CopyWith(func(from *[]byte) []byte { return *from }) // nobody writes to it
		return &world.Type{Go: of, Name: "managed " + world.ShortName(of), Kind: world.KindManaged, Managed: store,
			Codec:  keptManagedCodec,
			Lookup: world.Lookup{Size: int(unsafe.Sizeof(value.Slot(0)))}, Align: int(unsafe.Alignof(value.Slot(0)))}
	case world.KindBuffer:
		info := world.BufferOf(of)
		info.Shape.Inline = t.Inline
		info.PlaceInline()
		return info
	case world.KindSparse:
		return world.SparseOf(of)
	case world.KindChunk:
		return world.ChunkOf(of)
	}
	return world.ComponentOf(of)
}

// shortName returns the name of a type without its package.
func shortName(d *world.Description) string {
	own, _, _ := strings.Cut(d.Name, "[")
	return d.Name[strings.LastIndexAny(own, "./")+1:]
}

// goType returns the Go type that is made for a type of a file. If bare is set, entities may be
// bytes.
func (t *ImageType) goType(bare bool) (reflect.Type, error) {
	hash := t.Layout
	if t.Enableable { // as DescribeType has it
		hash ^= 1 << 63
	}
	if t.Cleanup {
		hash ^= 1 << 62
	}
	tag := reflect.StructTag(fmt.Sprintf("quarry:%s",
		strconv.Quote(fmt.Sprintf("%v %s %x %d %t %x", t.Kind, t.Name, hash, t.Nth, t.Coded, t.fieldSum()))))
	kept := keptType{t.Whole, t.Coded, t.Fields}
	switch t.Kind {
	case world.KindShared:
		return kept.remember(reflect.StructOf(append(tagged(tag),
			reflect.VisibleFields(reflect.TypeFor[keptShared]())...)), t.Name, hash), nil
	case world.KindManaged:
		return kept.remember(reflect.StructOf(append(tagged(tag), reflect.StructField{
			Name: "Bytes", Type: reflect.TypeFor[[]byte](),
		})), t.Name, hash), nil
	}
	made, err := t.structOf(tag, false, bare)
	if err == nil && int(made.Size()) != t.Whole {
		made, err = t.structOf(tag, true, bare)
	}
	if err == nil && int(made.Size()) != t.Whole {
		err = fmt.Errorf("no Go type has its %d B and fields", t.Whole)
	}
	if err == nil {
		err = layout.PointerFree(made)
	}
	if err != nil {
		return nil, err
	}
	return kept.remember(made, t.Name, hash), nil
}

// fieldSum returns a checksum of the fields, which no other type of the name and layout has in a
// file that does not lie.
func (t *ImageType) fieldSum() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, t.Whole)
	for i := range t.Fields {
		f := &t.Fields[i]
		fmt.Fprintf(h, " %q %d %d %d %q", f.Name, f.Kind, f.Offset, f.Size, f.Of)
	}
	return h.Sum64()
}

// remember notes the description in the file of a type that was made.
func (k keptType) remember(made reflect.Type, name string, hash uint64) reflect.Type {
	keptTypes.LoadOrStore(made, k)
	world.GoLayouts.LoadOrStore(made, world.GoLayout{Name: name, Hash: hash})
	return made
}

// tagged returns the fields of a made type without any that has values.
func tagged(tag reflect.StructTag) []reflect.StructField {
	return []reflect.StructField{{Name: "_", PkgPath: "quarry/ecs", Type: reflect.TypeFor[struct{}](), Tag: tag}}
}

// structOf returns the struct of the fields, or of bytes and entities, with a tag. Its size differs
// from the type's if that is impossible.
func (t *ImageType) structOf(tag reflect.StructTag, raw, bare bool) (reflect.Type, error) {
	fields, end := tagged(tag), 0
	add := func(name string, of reflect.Type, offset int) {
		if gap := offset - end; gap > 0 && raw {
			fields = append(fields, reflect.StructField{
				Name: "_", PkgPath: "quarry/ecs", Type: reflect.ArrayOf(gap, reflect.TypeFor[uint8]()),
			})
		}
		if end = offset; of != nil {
			end += int(of.Size())
			fields = append(fields, reflect.StructField{
				Name: fmt.Sprintf("F%d_%s", len(fields), madeName(name)), Type: of,
			})
		}
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Offset < end || f.Size < 0 || f.Offset+f.Size > t.Whole {
			return nil, fmt.Errorf("%v lies at byte %d of %d, behind %d", f, f.Offset, t.Whole, end)
		}
		of, err := f.goType(bare)
		if err != nil {
			return nil, err
		}
		if !raw && of == nil || of != nil && int(of.Size()) != f.Size {
			return reflect.TypeFor[[0]byte](), nil
		}
		if !raw || strings.HasSuffix(f.Of, "Entity") {
			add(f.Name, of, f.Offset)
		}
	}
	if raw {
		add("", nil, t.Whole)
	}
	made := reflect.StructOf(fields)
	for i, at := 0, 1; !raw && i < len(t.Fields); i, at = i+1, at+1 {
		if int(made.Field(at).Offset) != t.Fields[i].Offset {
			return reflect.TypeFor[[0]byte](), nil
		}
	}
	return made, nil
}

// madeName returns a name as a made field has it, in which all is a letter, a digit or a line.
func madeName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) && r < utf8.RuneError || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}

// deepArrays is how many arrays may lie in one another in a field of a made type: the name of each
// repeats those within.
const deepArrays = 32

// goType returns the type of a field, or nil if only its bytes are known, which is an error if
// entities are among them, unless bare is set.
func (f *ImageField) goType(bare bool) (reflect.Type, error) {
	element, array := f.Of, []int(nil)
	for strings.HasPrefix(element, "[") {
		length, rest, _ := strings.Cut(element[1:], "]")
		n, err := strconv.Atoi(length)
		if err != nil || n < 0 || n > f.Size || len(array) == deepArrays {
			return nil, fmt.Errorf("%v is no array of %d B", f, f.Size)
		}
		element, array = rest, append(array, n)
	}
	of := basicTypes()[element]
	if f.Of == "" {
		of = basicTypes()[reflect.Kind(f.Kind).String()]
	}
	if of == nil {
		if strings.Contains(element, "Entity") && !bare {
			return nil, fmt.Errorf("%v has entities in structs in an array", f)
		}
		return nil, nil
	}
	size := int(of.Size())
	for i := len(array) - 1; i >= 0; i-- {
		if n := array[i]; n > 0 && size > f.Size/n {
			return nil, fmt.Errorf("%v is no array of %d B", f, f.Size)
		}
		of = reflect.ArrayOf(array[i], of)
		size = int(of.Size())
	}
	return of, nil
}

// basicTypes are the types of fields, by name.
var basicTypes = sync.OnceValue(func() map[string]reflect.Type {
	types := map[string]reflect.Type{"Entity": world.EntityType}
	for _, v := range []any{false, int(0), int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0),
		uint32(0), uint64(0), uintptr(0),
		float32(0), float64(0), complex64(0), complex128(0)} {
		types[reflect.TypeOf(v).String()] = reflect.TypeOf(v)
	}
	return types
})
