package ecs

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// field is a field of a struct that a View or a Bundle fills or reads: its offset, and the world's
// type that it stands for.
type field struct {
	offset   uintptr // bytes from the struct's start
	t        *world.Type
	kind     fieldKind
	write    bool
	optional bool
}

type fieldKind uint8

const (
	fieldColumn   fieldKind = iota // W or R
	fieldBuffers                   // BufferW or BufferR
	fieldBits                      // Bits, or BitsW if written
	fieldEntities                  // []Entity
	fieldValue                     // of a bundle: the component
	fieldElements                  // of a bundle: a slice of a buffer's elements
)

// columnField is implemented by W, R, BufferW, BufferR, Bits and BitsW. A struct that embeds one of
// them has the method too, so columnKind.self names the type that declares it.
type columnField interface{ column() columnKind }

type columnKind struct {
	self, of reflect.Type
	kind     fieldKind
	write    bool
}

// fieldReader reads the fields of a struct type, once.
type fieldReader struct {
	w        *World
	op       string
	fields   []field
	seen     world.Signature // types of the fields so far, other than Bits and BitsW
	bits     world.Signature // types of the Bits and BitsW fields so far
	switched world.Signature // types of the BitsW fields so far
	within   reflect.Type    // the struct inside S or V that is being read; nil: none
}

func (r *fieldReader) refuse(path, what string, args ...any) {
	panic(fmt.Sprintf("ecs: %s: field %s: %s", r.op, path, fmt.Sprintf(what, args...)))
}

// walk calls each for the fields of a struct, with the field's offset and path.
func (r *fieldReader) walk(t reflect.Type, at uintptr, path string,
	each func(f reflect.StructField, at uintptr, path string)) {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("ecs: %s: %v is no struct", r.op, t))
	}
	for i := range t.NumField() {
		f := t.Field(i)
		here := path + "." + f.Name
		if !f.IsExported() {
			r.refuse(here, "it is not exported")
		}
		each(f, at+f.Offset, here)
	}
}

// enter adds a field. Its type must be registered and must not be the type of another field.
func (r *fieldReader) enter(path string, of reflect.Type, f field) {
	buffer := f.kind == fieldBuffers || f.kind == fieldElements
	kind := KindComponent
	if buffer {
		kind = KindBuffer
	}
	id, ok := r.w.core.Types.Find(world.TypeKey{Go: of, Kind: kind})
	if !ok {
		r.refuseUnregistered(path, of, buffer)
	}
	seen := &r.seen
	if f.kind == fieldBits {
		seen = &r.bits
		if f.write {
			r.switched.Add(id)
		}
	}
	if seen.Has(id) {
		r.refuse(path, "%s is the type of a field before it", r.w.core.Types.List[id].Name)
	}
	seen.Add(id)
	f.t = r.w.core.Types.List[id]
	for _, g := range r.fields {
		if g.t == f.t && g.optional != f.optional {
			r.refuse(path, "the column of %s and its Bits must both be optional, or none", f.t.Name)
		}
	}
	r.fields = append(r.fields, f)
}

func (r *fieldReader) refuseUnregistered(path string, of reflect.Type, buffer bool) {
	register, within := "Register", ""
	if buffer {
		register = "RegisterBuffer"
	}
	if r.within != nil {
		within = fmt.Sprintf(", and neither is %v around it", r.within)
	}
	if _, ok := r.w.core.Types.Find(world.TypeKey{Go: of, Kind: KindShared}); ok && !buffer {
		r.refuse(path, "%v is a shared type, and a field is a component or a buffer; see Shared.Add and Shared.At", of)
	}
	r.refuse(path, "%v is not registered in this world%s: call %s first", of, within, register)
}

// optional reads a field's tag, `ecs:"optional"`.
func (r *fieldReader) optional(f reflect.StructField, path string) bool {
	tag, ok := f.Tag.Lookup("ecs")
	if ok && tag != "optional" {
		r.refuse(path, "the tag ecs:%q is not known; there is ecs:\"optional\"", tag)
	}
	return ok
}

// viewField reads a field of a view.
func (r *fieldReader) viewField(f reflect.StructField, at uintptr, path string) {
	optional := r.optional(f, path)
	if c, ok := reflect.Zero(f.Type).Interface().(columnField); ok {
		if k := c.column(); k.self == f.Type {
			r.enter(path, k.of, field{offset: at, kind: k.kind, write: k.write, optional: optional})
			if t := r.fields[len(r.fields)-1].t; k.kind == fieldBits && !t.Enableable {
				r.refuse(path, "%s was not registered with ecs.Enableable", t.Name)
			}
			return
		}
	}
	if optional {
		r.refuse(path, "only W, R, BufferW, BufferR, Bits and BitsW may be optional")
	}
	switch {
	case f.Type == reflect.TypeFor[[]Entity]():
		r.fields = append(r.fields, field{offset: at, kind: fieldEntities})
	case f.Type.Kind() == reflect.Struct:
		r.walk(f.Type, at, path, r.viewField)
	default:
		r.refuse(path, "%v is none of W, R, BufferW, BufferR, Bits, BitsW, []Entity and structs of those", f.Type)
	}
}

// bundleField reads a field of a bundle. A struct that is not a component is read as a struct of
// fields.
func (r *fieldReader) bundleField(f reflect.StructField, at uintptr, path string) {
	of, optional := f.Type, f.Type.Kind() == reflect.Pointer
	if optional {
		of = of.Elem()
	}
	if _, ok := f.Tag.Lookup("ecs"); ok {
		r.refuse(path, "a bundle has no tags: a pointer is what is optional")
	}
	if of.Kind() == reflect.Slice {
		r.enter(path, of.Elem(), field{offset: at, kind: fieldElements, optional: optional})
		return
	}
	_, registered := r.w.core.Types.Find(world.TypeKey{Go: of})
	if of == reflect.TypeFor[CleanupEntity]() {
		r.refuse(path, "CleanupEntity comes with World.Destroy; no entity is created with it")
	}
	if optional || registered || of.Kind() != reflect.Struct || of.NumField() == 0 {
		r.enter(path, of, field{offset: at, kind: fieldValue, optional: optional})
		return
	}
	outer := r.within
	r.within = of
	r.walk(of, at, path, r.bundleField)
	r.within = outer
}

// in returns the address of the field in the struct at p.
func (f *field) in(p unsafe.Pointer) unsafe.Pointer {
	return unsafe.Add(p, f.offset) // Safe because the struct is of the type that the offset was read from.
}

// valueIn returns the address of the value of a bundle's field, which is a slice for a buffer, or
// nil if the value is absent.
func (f *field) valueIn(s unsafe.Pointer) unsafe.Pointer {
	if f.optional {
		return *(*unsafe.Pointer)(f.in(s)) // Safe because an optional field is a pointer.
	}
	return f.in(s)
}

// placeIn returns the place of the field's type in an archetype, and whether the archetype has the
// type.
func (f *field) placeIn(a *Archetype) (p world.Place, ok bool) {
	if id := int(f.t.ID); id < len(a.core.Table.Places) {
		p = a.core.Table.Places[id]
	}
	return p, p.Flags() != 0
}

// readyOf returns what a view with the fields keeps ready of chunks, and the fields without write,
// or nothing if some do not stay as they are while the rows of a chunk do.
func readyOf(q *Query, fields []field) (r query.Ready, shown []field) {
	r.Query = q.inner()
	for _, f := range fields {
		if f.kind != fieldColumn && f.kind != fieldEntities {
			return query.Ready{Query: q.inner()}, nil
		}
		if f.t != nil {
			r.Columns = append(r.Columns, query.ReadyColumn{Type: f.t, Write: f.write})
		}
		f.write = false
		shown = append(shown, f)
	}
	return r, shown
}
