package image

import (
	"reflect"
	"slices"
	"unsafe"

	"quarry/ecs/internal/fileformat"
	"quarry/ecs/internal/worldfile"
)

// Options for types that have changed since a file was written. They name a type of the file as
// Describe does, "shop/market.Stall", or without its package, "Stall", which means all of that
// name. Rules that meet no type of a file do nothing, so a program keeps them for its old files.
// Where several concern a type, those that rename come first, then Drop, then what the program has
// registered, then Keep, KeepUnknown and DropUnknown, in this order.

// Renamed declares that a type has another name in the program: Renamed("Pos", "Position"). The
// renames are a program's history, oldest first, and each applies to the names that those before it
// made: with Renamed("P", "Pos") before it, files of all three versions open. A file that has a
// type of the newer name already is from after the change, so the rule does not apply to it. Rules
// that exchange two names are refused, and so is a name that the program has not registered, unless
// Drop or Keep have it.
func Renamed(old, now string) Option {
	checkNames("Renamed", old, now)
	return func(s *fileformat.Settings) {
		s.Rules.Types = append(s.Rules.Types, worldfile.Rename{Old: old, New: now})
	}
}

// RenamedField declares that a field has another name in the program: RenamedField("Position",
// "Lat", "X"). The type is named as in the file, as in the program, or as in a version between. A
// field of a struct in it is "Outer.Inner"; "Outer" renames all of them; "" is the value of a type
// that is no struct. Renames apply in their order as those of types do, to types that have changed;
// one that gives a field a name which the program does not have is refused, so that its values are
// not lost.
func RenamedField(of, old, now string) Option {
	checkNames("RenamedField", of)
	return func(s *fileformat.Settings) {
		s.Rules.Fields = append(s.Rules.Fields, worldfile.FieldRename{Type: of, Old: old, New: now})
	}
}

// checkNames panics if a name of a type is empty.
func checkNames(op string, names ...string) {
	if slices.Contains(names, "") {
		panic("image: " + op + ": the name of a type is empty")
	}
}

// Drop makes entities lose types, which need not be registered. A type that is renamed has its new
// name here. Archetypes that are the same without them become one.
func Drop(types ...string) Option {
	checkNames("Drop", types...)
	return func(s *fileformat.Settings) { s.Rules.Drop = append(s.Rules.Drop, types...) }
}

// DropUnknown is Drop for all types of the file that the program has not registered and that no
// rule renames.
func DropUnknown() Option { return func(s *fileformat.Settings) { s.Rules.DropUnknown = true } }

// Strict makes Open, Load and Plan refuse a type of which something would be lost, with ErrTypes
// and its name: a field that the program does not have, unless DropField names it, and a type that
// entities have and DropUnknown would drop, unless Drop names it. Without it a field that was
// renamed is lost if the program forgets RenamedField. Fields that Convert gets are not lost, and
// neither enable bits nor versions of rows count as values.
func Strict() Option { return func(s *fileformat.Settings) { s.Rules.Strict = true } }

// DropField declares that the program no longer has fields of a type, so that Strict does not
// refuse their loss. The type is named as in RenamedField, and a field as in the file or after
// renames; "Outer" is all fields of a struct. Fields that the program has stay, and without Strict
// the option has no effect.
func DropField(of string, fields ...string) Option {
	checkNames("DropField", of)
	return func(s *fileformat.Settings) {
		for _, name := range fields {
			s.Rules.DropFields = append(s.Rules.DropFields, worldfile.LostField{Type: of, Name: name})
		}
	}
}

// Convert defines how values of a type of the file become values of a type of the program, where
// fields do not determine it: Old is the type as it was, of whatever name; the type is named as in
// RenamedField. For a buffer it converts elements. It applies to files whose layout is that of Old,
// so there may be one for each version of a type; in files of other layouts fields decide. New is
// the type of the program, or the file is refused. Where Old and New have the same layout and the
// type keeps its name, the function is called each time that a file or a journal is opened, so give
// the type another name.
//
// The function is called once for each value, of a type with bytes, in the goroutine of Open, and
// must not use the world. If it panics, so does Open, and there is no world.
func Convert[Old, New any](of string, convert func(Old) New) Option {
	if convert == nil {
		panic("image: Convert: the function is nil")
	}
	checkNames("Convert", of)
	c := worldfile.Conversion{Name: of, Old: reflect.TypeFor[Old](), New: reflect.TypeFor[New]()}
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
	return func(s *fileformat.Settings) { s.Rules.Conversions = append(s.Rules.Conversions, c) }
}

// Keep keeps types of the file as they are, though the program has not registered them: entities
// keep them, they have the name and the fields of the file, are copied, moved to other worlds and
// saved again. World.Components has handles of them, by which Rows.Value and queries reach them. A
// type that is registered is not affected. Managed values, and shared ones, are the bytes that the
// file has of them; a shared type with entities in its values is refused, for only the type can
// rename them.
func Keep(types ...string) Option {
	checkNames("Keep", types...)
	return func(s *fileformat.Settings) { s.Rules.Keep = append(s.Rules.Keep, types...) }
}

// KeepUnknown is Keep for all types of the file that the program has not registered and that no
// rule renames.
func KeepUnknown() Option { return func(s *fileformat.Settings) { s.Rules.KeepUnknown = true } }
