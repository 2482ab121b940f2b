package worldfile

import (
	"reflect"
	"unsafe"
)

// Rules decide what becomes of types of an image that the program has otherwise, or not at all.
// Types are named with or without their package.
type Rules struct {
	Types       []Rename
	Fields      []FieldRename
	Drop, Keep  []string
	DropUnknown bool // types that nobody registered are dropped
	KeepUnknown bool // and kept
	Strict      bool // a loss of data is refused, except of what Drop and DropFields name
	DropFields  []LostField
	// KeepEntities is set if kept types may have entities where no made type has them, in a world
	// that is neither cloned nor moved.
	KeepEntities bool
	Conversions  []Conversion
}

// Rename is the name of a type in the image and in the program.
type Rename struct{ Old, New string }

// FieldRename is the name of a field in the image and in the program; Type is the name of its
// type in either.
type FieldRename struct{ Type, Old, New string }

// LostField is a field that the program no longer has; Type is the name of its type in the
// image or in the program.
type LostField struct{ Type, Name string }

// Conversion makes values of one type into those of another.
type Conversion struct {
	Name     string // of the type in the image
	Old, New reflect.Type
	Rows     func(to, from unsafe.Pointer, n int) // n values, one after the other
	Value    func(any) any                        // one value
}

// Fate is what becomes of a type of an image.
type Fate uint8

// Fates.
const (
	Same Fate = iota
	Converted
	Dropped
	Kept
	Refused
	Unused // nobody registered it, and nothing has it
)

// Plan is what becomes of each type of an image.
type Plan struct {
	Name  string // in the image
	Kind  uint8
	Fate  Fate
	To    string   // name of the type in the program
	Notes []string // what is converted, field by field
	Err   error    // of a type that is refused
}
