package image

import (
	"reflect"
	"unsafe"

	"quarry/internal/seam"
)

// Options for types that have changed since a file was written. They name a type of the file as
// Describe does, "shop/market.Stall", or without its package, "Stall", which means all of that
// name. Rules that meet no type of a file do nothing, so a program keeps them for its old files.
// Where several concern a type, Drop comes first, then the rules that name it, then Keep,
// KeepUnknown and DropUnknown, in this order.

// Renamed says that a type of the file has another name in the program: Renamed("Pos", "Position").
// Renames of several versions add up: with Renamed("P", "Pos") too, files of both versions open. A
// file that has a type of the newer name already is from after the change, so the rule says nothing
// about it. Rules that lead back to a name are refused.
func Renamed(old, now string) Option {
	return func(s *settings) { s.rules.Types = append(s.rules.Types, seam.ImageRename{Old: old, New: now}) }
}

// RenamedField says that a field has another name in the program: RenamedField("Position", "Lat",
// "X"). The type is named as in the file, as in the program, or as in a version between. A field of
// a struct in it is "Outer.Inner"; "Outer" renames all of them; "" is the value of a type that is
// no struct. Renames add up as those of types do. One that leads to no field of the program is
// refused, so that no value is lost.
func RenamedField(of, old, now string) Option {
	return func(s *settings) {
		s.rules.Fields = append(s.rules.Fields, seam.ImageFieldRename{Type: of, Old: old, New: now})
	}
}

// Drop says that entities lose types of the file, which need not be registered. Archetypes that are
// the same without them become one.
func Drop(types ...string) Option {
	return func(s *settings) { s.rules.Drop = append(s.rules.Drop, types...) }
}

// DropUnknown is Drop for all types of the file that the program has not registered.
func DropUnknown() Option { return func(s *settings) { s.rules.DropUnknown = true } }

// Convert says how values of a type of the file become those of a type of the program, where fields
// do not tell: Old is the type as it was, of whatever name. For a buffer it converts elements. It
// applies to files whose layout is that of Old, so there may be one for each version of a type; in
// files of other layouts fields decide; where Old and New have the same name and layout, it is
// called each time that a file is opened, so give the type another name. New is the type of the
// program, or the file is refused. The function is called once for each value, of a type with
// bytes, in the goroutine of Open, and must not use the world. If it panics, so does Open, and
// there is no world.
func Convert[Old, New any](of string, convert func(Old) New) Option {
	if convert == nil {
		// errors.md: `image: Convert: the function is nil` | `Convert` without one. | Leave the
		// option out.
		panic("image: Convert: the function is nil")
	}
	c := seam.ImageConversion{Name: of, Old: reflect.TypeFor[Old](), New: reflect.TypeFor[New]()}
	c.Rows = func(to, from unsafe.Pointer, n int) {
		if unsafe.Sizeof(*new(Old)) == 0 { // no column has values of a tag
			from = unsafe.Pointer(new(Old))
		}
		// Safe because n values lie at both addresses, of the layouts that Open has compared.
		olds, news := unsafe.Slice((*Old)(from), n), unsafe.Slice((*New)(to), n)
		for i := range olds {
			news[i] = convert(olds[i])
		}
	}
	c.Value = func(v any) any { return convert(v.(Old)) }
	return func(s *settings) { s.rules.Conversions = append(s.rules.Conversions, c) }
}

// Keep says that types of the file stay as they are, though the program has not registered them:
// entities keep them, they have the name and the fields of the file, are copied, moved to other
// worlds and saved again. World.Components has handles of them, by which Rows.Value and queries
// reach them. A type that is registered is not affected. Managed values, and shared ones, are the
// bytes that the file has of them; a shared type with entities in its values is refused, for only
// the type can rename them.
func Keep(types ...string) Option {
	return func(s *settings) { s.rules.Keep = append(s.rules.Keep, types...) }
}

// KeepUnknown is Keep for all types of the file that the program has not registered.
func KeepUnknown() Option { return func(s *settings) { s.rules.KeepUnknown = true } }
