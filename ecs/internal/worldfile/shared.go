package worldfile

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/world"
)

// Shared values of a file: their parts, in the order of the fields that the file describes. Texts
// move as numbers do.

// decodeShared returns the value of the program that a file has as bytes.
func (x *imageMatch) decodeShared(from []byte) (any, error) {
	switch {
	case x.im.Coded || x.fate == Kept:
		return x.t.DecodeShared(from, true)
	case x.by != nil:
		old := world.Type{Go: x.by.Old, Name: x.im.Name}
		v, err := old.DecodeShared(from, false)
		if err != nil {
			return nil, err
		}
		return x.by.Value(v), nil
	case x.alike:
		return x.t.DecodeShared(from, false)
	}
	p := reflect.New(x.t.Go)
	kinds := fieldTypes(nil, x.t.Go)
	for i := range x.changes {
		c := &x.changes[i]
		if c.from == nil {
			break // new fields come last
		}
		rest, err := c.read(from, p.UnsafePointer(), kinds, &x.now)
		if err != nil {
			return nil, fmt.Errorf("a value of the shared type %s: %w", x.t.Name, err)
		}
		from = rest
	}
	if len(from) > 0 {
		return nil, fmt.Errorf("a value of the shared type %s: %d bytes follow it", x.t.Name, len(from))
	}
	return p.Elem().Interface(), nil
}

// fieldTypes returns the types of the fields that ImageType.AddFields adds.
func fieldTypes(to []reflect.Type, t reflect.Type) []reflect.Type {
	if t.Kind() != reflect.Struct || t == world.EntityType {
		return append(to, t)
	}
	for f := range t.Fields() {
		to = fieldTypes(to, f.Type)
	}
	return to
}

// read moves one field from bytes to a value, and returns what follows.
func (c *fieldChange) read(from []byte, value unsafe.Pointer, kinds []reflect.Type,
	now *ImageType) (rest []byte, err error) {
	if c.to != nil && c.from.typeName() == c.to.typeName() {
		for i := range now.Fields {
			if &now.Fields[i] == c.to {
				// Safe because the field is in the value.
				return world.ReadShared(from, unsafe.Add(value, c.to.Offset), kinds[i])
			}
		}
	}
	if reflect.Kind(c.from.Kind) == reflect.String { // it is lost, for texts become nothing else
		length, n := binary.Uvarint(from)
		if n <= 0 || length > uint64(len(from)-n) {
			return nil, world.ErrCut
		}
		return from[n+int(length):], nil
	}
	size := c.from.Size
	if size > len(from) || c.to != nil && size > 8 {
		return nil, world.ErrCut
	}
	if c.to != nil {
		var word uint64
		copy(rawBytes(unsafe.Pointer(&word), 8), from[:size]) // Safe because a word has so many.
		m, err := c.from.moveTo(c.to)
		if err != nil {
			return nil, err
		}
		m.from = 0
		ValueCopy{value, unsafe.Pointer(&word), 0, 8, 1}.move(&m)
	}
	return from[size:], nil
}
