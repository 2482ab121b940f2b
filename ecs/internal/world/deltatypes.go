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
)

// Types in a delta. Another world may number its types otherwise, or belong to a program in which a
// type has changed. So a delta names a type by package, name and kind, and describes its layout by
// a hash of its fields and of the options that say what rows have. Types of one description, as
// those that functions declare, are told apart by the order of registration.

// deltaType is a type that a delta names.
type deltaType struct {
	t      *Type // in the newer world, or in the one that the delta is applied to
	Name   string
	Kind   Kind
	layout uint64
	nth    int // how many types of this description were registered before
}

// describeType returns a type's description, without its number among its likes.
func describeType(t *Type) deltaType {
	known, ok := goLayouts.Load(t.Go)
	if !ok {
		l := goLayout{name: t.Go.String()}
		if t.Go.Name() != "" {
			l.name = t.Go.PkgPath() + "." + t.Go.Name()
		}
		h := fnv.New64a()
		hashLayout(h, t.Go)
		l.hash = h.Sum64()
		known, _ = goLayouts.LoadOrStore(t.Go, l)
	}
	l := known.(goLayout)
	if t.Enableable {
		l.hash ^= 1 << 63
	}
	if t.Cleanup {
		l.hash ^= 1 << 62
	}
	return deltaType{t: t, Name: l.name, Kind: t.Kind, layout: l.hash}
}

// goLayout is what a description takes from a Go type; goLayouts has those that were asked for:
// goLayout by reflect.Type.
type goLayout struct {
	name string
	hash uint64
}

var goLayouts sync.Map

// isLike reports whether two descriptions are of one type, but for their numbers.
func (d *deltaType) isLike(e *deltaType) bool {
	return d.Name == e.Name && d.Kind == e.Kind && d.layout == e.layout
}

// describeTypes returns the descriptions of all types of a world, by TypeID.
func (w *World) describeTypes() []deltaType {
	all := make([]deltaType, len(w.Types.List))
	likes := map[deltaType]int{}
	for i, t := range w.Types.List {
		d := describeType(t)
		key := d
		key.t = nil
		d.nth = likes[key]
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

// find returns the type of a world that a delta names.
func (d *deltaType) find(all []deltaType) (*Type, error) {
	named := false
	for i := range all {
		if all[i].isLike(d) && all[i].nth == d.nth {
			return all[i].t, nil
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

var errDeltaCut = errors.New("it ends early")

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
			if to, err = appendShared(to, unsafe.Add(p, f.Offset), f.Type); err != nil { // Safe because the field is in the value.
				return to, err
			}
		}
		return to, nil
	case reflect.Pointer, reflect.Interface, reflect.Chan, reflect.UnsafePointer, reflect.Func, reflect.Map, reflect.Slice:
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

// readShared reads what appendShared has written, and returns what follows.
func readShared(from []byte, p unsafe.Pointer, t reflect.Type) (rest []byte, err error) {
	switch t.Kind() {
	case reflect.String:
		length, n := binary.Uvarint(from)
		if n <= 0 || length > uint64(len(from)-n) {
			return nil, errDeltaCut
		}
		reflect.NewAt(t, p).Elem().SetString(string(from[n : n+int(length)]))
		return from[n+int(length):], nil
	case reflect.Array:
		for i := range elementsOf(t) {
			// Safe because the element is one of the array's.
			if from, err = readShared(from, unsafe.Add(p, uintptr(i)*t.Elem().Size()), t.Elem()); err != nil {
				return nil, err
			}
		}
		return from, nil
	case reflect.Struct:
		for f := range t.Fields() {
			if from, err = readShared(from, unsafe.Add(p, f.Offset), f.Type); err != nil { // Safe because the field is in the value.
				return nil, err
			}
		}
		return from, nil
	case reflect.Pointer, reflect.Interface, reflect.Chan, reflect.UnsafePointer, reflect.Func, reflect.Map, reflect.Slice:
		return nil, fmt.Errorf("its values hold a %v", t)
	case reflect.Bool:
		if len(from) > 0 && from[0] > 1 {
			return nil, errors.New("a bool is neither 0 nor 1")
		}
	}
	if uintptr(len(from)) < t.Size() {
		return nil, errDeltaCut
	}
	// Safe because a value of another kind is so many bytes without Go pointers.
	copy(unsafe.Slice((*byte)(p), t.Size()), from)
	return from[t.Size():], nil
}

// checksum returns the checksum of bytes.
func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
