package under

import (
	"reflect"
	"unsafe"
)

// ImageRules say what becomes of types of an image that the program has otherwise, or not at all.
// Types are named with or without their package.
type ImageRules struct {
	Types       []ImageRename
	Fields      []ImageFieldRename
	Drop, Keep  []string
	DropUnknown bool // types that nobody registered are dropped
	KeepUnknown bool // and kept
	Strict      bool // what is lost is refused, but for what Drop and DropFields name
	DropFields  []ImageLostField
	// KeepEntities says that kept types may have entities where no made type has them, in a world
	// that is neither cloned nor moved.
	KeepEntities bool
	Conversions  []ImageConversion
}

// ImageRename is the name of a type in the image and in the program.
type ImageRename struct{ Old, New string }

// ImageFieldRename is the name of a field in the image and in the program; Type is the name of its
// type in either.
type ImageFieldRename struct{ Type, Old, New string }

// ImageLostField is a field that the program no longer has; Type is the name of its type in the
// image or in the program.
type ImageLostField struct{ Type, Name string }

// ImageConversion makes values of one type into those of another.
type ImageConversion struct {
	Name     string // of the type in the image
	Old, New reflect.Type
	Rows     func(to, from unsafe.Pointer, n int) // n values, one behind the other
	Value    func(any) any                        // one value
}

// ImageFate is what becomes of a type of an image.
type ImageFate uint8

// Fates.
const (
	ImageSame ImageFate = iota
	ImageConverted
	ImageDropped
	ImageKept
	ImageRefused
	ImageUnused // nobody registered it, and nothing has it
)

// ImagePlan is what becomes of each type of an image.
type ImagePlan struct {
	Name  string // in the image
	Kind  uint8
	Fate  ImageFate
	To    string   // name of the type in the program
	Notes []string // what is converted, field by field
	Err   error    // of a type that is refused
}
