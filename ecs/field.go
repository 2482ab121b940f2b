package ecs

import (
	"fmt"
	"reflect"
	"unsafe"
)

// field is a place in a struct that a View or a Bundle fills or reads: where it lies
// there, and which type of the world it stands for.
type field struct {
	offset   uintptr // bytes from the struct's start
	t        *typeInfo
	kind     fieldKind
	write    bool
	optional bool
}

type fieldKind uint8

const (
	fieldColumn   fieldKind = iota // W or R
	fieldBuffers                   // BufferW or BufferR
	fieldEntities                  // []Entity
	fieldValue                     // of a bundle: the component, or when optional a pointer to it
)

// columnField is what W, R, BufferW and BufferR are to a view. A struct that embeds one
// has its method too, so self says whose it is.
type columnField interface{ column() columnKind }

type columnKind struct {
	self, of      reflect.Type
	buffer, write bool
}

// fieldReader reads the fields of a struct type, once.
type fieldReader struct {
	w      *World
	op     string
	fields []field
	seen   signature
}

func (r *fieldReader) refuse(path, what string, args ...any) {
	panic(fmt.Sprintf("ecs: %s: field %s: %s", r.op, path, fmt.Sprintf(what, args...)))
}

// walk reads the fields of a struct by each, which gets where the field lies and what it
// is called.
func (r *fieldReader) walk(t reflect.Type, at uintptr, path string, each func(f reflect.StructField, at uintptr, path string)) {
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

// enter adds a field of a type that must be registered, and be no other field's.
func (r *fieldReader) enter(path string, of reflect.Type, buffer bool, f field) {
	id, ok := r.w.byType[typeKey{rtype: of, buffer: buffer}]
	if !ok {
		register := "Register"
		if buffer {
			register = "RegisterBuffer"
		}
		r.refuse(path, "%v is not registered in this world: call %s first", of, register)
	}
	if r.seen.has(id) {
		r.refuse(path, "%s is the type of a field before it", r.w.types[id].name)
	}
	r.seen.add(id)
	f.t = r.w.types[id]
	r.fields = append(r.fields, f)
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
			kind := fieldColumn
			if k.buffer {
				kind = fieldBuffers
			}
			r.enter(path, k.of, k.buffer, field{offset: at, kind: kind, write: k.write, optional: optional})
			return
		}
	}
	if optional {
		r.refuse(path, "only W, R, BufferW and BufferR may be optional")
	}
	switch {
	case f.Type == reflect.TypeFor[[]Entity]():
		r.fields = append(r.fields, field{offset: at, kind: fieldEntities})
	case f.Type.Kind() == reflect.Struct:
		r.walk(f.Type, at, path, r.viewField)
	default:
		r.refuse(path, "%v is none of W, R, BufferW, BufferR, []Entity and structs of those", f.Type)
	}
}

// bundleField reads a field of a bundle.
func (r *fieldReader) bundleField(f reflect.StructField, at uintptr, path string) {
	of, optional := f.Type, f.Type.Kind() == reflect.Pointer
	if optional {
		of = of.Elem()
	}
	if _, ok := f.Tag.Lookup("ecs"); ok {
		r.refuse(path, "a bundle has no tags: a pointer is what is optional")
	}
	r.enter(path, of, false, field{offset: at, kind: fieldValue, optional: optional})
}

// in returns the field of a struct at p.
func (f *field) in(p unsafe.Pointer) unsafe.Pointer {
	return unsafe.Add(p, f.offset) // Safe because the struct is of the type that the offset was read from.
}

// placeIn returns where the field's type lies in an archetype, if it has it.
func (f *field) placeIn(a *Archetype) (p place, ok bool) {
	if id := int(f.t.id); id < len(a.place) {
		p = a.place[id]
	}
	return p, p.flags() != 0
}
