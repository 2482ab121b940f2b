package world

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"reflect"
	"sync"
	"unsafe"

	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/entity"
	"quarry/internal/typename"
)

// Descriptions of types, in deltas and files. Another world may number its types otherwise, or
// belong to a program in which a type has changed. So a delta names a type by package, name and
// kind, and describes its layout by a hash of its fields and of the options that decide what rows
// have. Types of one description, as those that functions declare, are distinguished by the order
// of registration.

// Description describes a type for another world.
type Description struct {
	T      *Type // in the newer world, or in the one that the delta or file is of or comes to
	Name   string
	Kind   Kind
	Layout uint64
	Nth    int // how many types of this description were registered before
}

// DescribeType returns a type's description, without its number among its likes.
func DescribeType(t *Type) Description {
	known, ok := GoLayouts.Load(t.Go)
	if !ok {
		l := GoLayout{Name: typename.Of(t.Go)}
		h := fnv.New64a()
		hashLayout(h, t.Go)
		l.Hash = h.Sum64()
		known, _ = GoLayouts.LoadOrStore(t.Go, l)
	}
	l := known.(GoLayout)
	if t.Enableable {
		l.Hash ^= 1 << 63
	}
	if t.Cleanup {
		l.Hash ^= 1 << 62
	}
	return Description{T: t, Name: l.Name, Kind: t.Kind, Layout: l.Hash}
}

// GoLayout is what a description takes from a Go type; GoLayouts has those that were asked for:
// GoLayout by reflect.Type.
type GoLayout struct {
	Name string
	Hash uint64
}

// GoLayouts has the layouts that were asked for: GoLayout by reflect.Type.
var GoLayouts sync.Map

// isLike reports whether two descriptions are of one type, but for their numbers.
func (d *Description) isLike(e *Description) bool {
	return d.Name == e.Name && d.Kind == e.Kind && d.Layout == e.Layout
}

// DescribeTypes returns the descriptions of all types of a world, by TypeID.
func (w *World) DescribeTypes() []Description {
	all := make([]Description, len(w.Types.List))
	likes := map[Description]int{}
	for i, t := range w.Types.List {
		d := DescribeType(t)
		key := d
		key.T = nil
		d.Nth = likes[key]
		likes[key]++
		all[i] = d
	}
	return all
}

// hashLayout hashes what a value of a Go type consists of.
func hashLayout(h io.Writer, t reflect.Type) {
	fmt.Fprint(h, t.Kind(), t.Size(), ";")
	switch t.Kind() {
	case reflect.Array:
		fmt.Fprint(h, t.Len())
		hashLayout(h, t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			fmt.Fprint(h, f.Name, f.Offset, ",")
			hashLayout(h, f.Type)
		}
		fmt.Fprint(h, ".")
	}
}

// Find returns the type of a world that a delta names.
func (d *Description) Find(all []Description) (*Type, error) {
	named := false
	for i := range all {
		if all[i].isLike(d) && all[i].Nth == d.Nth {
			return all[i].T, nil
		}
		named = named || all[i].Name == d.Name && all[i].Kind == d.Kind
	}
	if named {
		return nil, fmt.Errorf("the %v type %s has another layout, or other options, in this world", d.Kind, d.Name)
	}
	return nil, fmt.Errorf("the %v type %s is not registered", d.Kind, d.Name)
}

// Shared values without pointers lie in deltas and files as their parts: numbers as in memory,
// texts with their lengths.

// ErrCut is the error of a value that ends early.
var ErrCut = errors.New("it ends early")

// appendShared appends a part of a shared value. It fails for pointers, interfaces, channels and
// functions, which mean nothing elsewhere.
func appendShared(to []byte, p unsafe.Pointer, t reflect.Type) ([]byte, error) {
	v := reflect.NewAt(t, p).Elem()
	switch t.Kind() {
	case reflect.String:
		to = binary.AppendUvarint(to, uint64(v.Len()))
		return append(to, v.String()...), nil
	case reflect.Array:
		for i := range elementsOf(t) {
			var err error
			// Safe because the element is one of the array's.
			if to, err = appendShared(to, unsafe.Add(p, uintptr(i)*t.Elem().Size()), t.Elem()); err != nil {
				return to, err
			}
		}
		return to, nil
	case reflect.Struct:
		for f := range t.Fields() {
			var err error
			// Safe because the field is in the value.
			if to, err = appendShared(to, unsafe.Add(p, f.Offset), f.Type); err != nil {
				return to, err
			}
		}
		return to, nil
	case reflect.Pointer, reflect.Interface, reflect.Chan, reflect.UnsafePointer, reflect.Func, reflect.Map,
		reflect.Slice:
		return to, fmt.Errorf("its values hold a %v", t)
	}
	// Safe because a value of another kind is so many bytes without Go pointers.
	return append(to, unsafe.Slice((*byte)(p), t.Size())...), nil
}

// elementsOf returns the number of elements of an array type that need be walked.
func elementsOf(t reflect.Type) int {
	if t.Size() == 0 {
		return 0
	}
	return t.Len()
}

// ReadShared reads the bytes of appendShared, and returns the bytes behind them.
func ReadShared(from []byte, p unsafe.Pointer, t reflect.Type) (rest []byte, err error) {
	switch t.Kind() {
	case reflect.String:
		length, n := binary.Uvarint(from)
		if n <= 0 || length > uint64(len(from)-n) {
			return nil, ErrCut
		}
		reflect.NewAt(t, p).Elem().SetString(string(from[n : n+int(length)]))
		return from[n+int(length):], nil
	case reflect.Array:
		for i := range elementsOf(t) {
			// Safe because the element is one of the array's.
			if from, err = ReadShared(from, unsafe.Add(p, uintptr(i)*t.Elem().Size()), t.Elem()); err != nil {
				return nil, err
			}
		}
		return from, nil
	case reflect.Struct:
		for f := range t.Fields() {
			// Safe because the field is in the value.
			if from, err = ReadShared(from, unsafe.Add(p, f.Offset), f.Type); err != nil {
				return nil, err
			}
		}
		return from, nil
	case reflect.Pointer, reflect.Interface, reflect.Chan, reflect.UnsafePointer, reflect.Func, reflect.Map,
		reflect.Slice:
		return nil, fmt.Errorf("its values hold a %v", t)
	case reflect.Bool:
		if len(from) > 0 && from[0] > 1 {
			return nil, errors.New("a bool is neither 0 nor 1")
		}
	}
	if uintptr(len(from)) < t.Size() {
		return nil, ErrCut
	}
	// Safe because a value of another kind is so many bytes without Go pointers.
	copy(unsafe.Slice((*byte)(p), t.Size()), from)
	return from[t.Size():], nil
}

// Checksum returns the checksum of bytes.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, Castagnoli) }

// Code codes the description.
func (d *Description) Code(c *codec.Coder) {
	kind := uint32(d.Kind)
	c.Text(&d.Name)
	c.Half(&kind)
	c.Word(&d.Layout)
	c.Number(&d.Nth)
	d.Kind = Kind(min(kind, 255))
}

// CodeIDs codes entities of one tag.
func CodeIDs(c *codec.Coder, list *[]entity.ID, tag entity.Tag) {
	last := int64(0)
	codec.List(c, list, func(e *entity.ID) {
		step := int64(e.Index()) - last
		zigzag, version := uint64(step<<1^step>>63), e.Version()
		c.Word(&zigzag)
		c.Half(&version)
		last += int64(zigzag>>1) ^ -int64(zigzag&1)
		if c.Reading {
			if uint64(last) >= entity.MaxIDs {
				last = 0
				c.Fail()
			}
			*e = entity.Make(uint32(last), tag, version)
		}
	})
}

// Castagnoli is the polynomial of checksums, for which processors have an instruction.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)
