package layout

import "reflect"

// Field is a span of bytes inside a value that holds data rather than padding, or an array whose
// elements hold such spans. The length of a type's list depends on how the type is written, not on
// the length of its arrays.
type Field struct {
	Offset int     // bytes from the start of the value, or of the enclosing element
	Size   int     // bytes of the span, or of one element including padding
	Marked bool    // the span is one value of the marked type
	Count  int     // number of contiguous elements of an array; 0: a span
	Each   []Field // fields of one element
}

// Fields returns the bytes of a value of type t that hold data, in rising order, with adjacent
// spans joined. It omits padding and fields named _, which Go's == ignores too. A value of type
// marked (nil: none) is listed as one span of its own, so that the caller can treat it differently.
// Fields panics when t is not free of pointers.
func Fields(t, marked reflect.Type) []Field {
	if t == nil {
		panic("layout: Fields: the type is nil")
	}
	if err := PointerFree(t); err != nil {
		panic("layout: Fields: " + err.Error())
	}
	return appendFields(nil, t, marked, 0)
}

func appendFields(to []Field, t, marked reflect.Type, at int) []Field {
	if t.Size() == 0 { // an array of these may have more elements than anyone can walk
		return to
	}
	if t == marked {
		return append(to, Field{Offset: at, Size: int(t.Size()), Marked: true})
	}
	switch t.Kind() {
	case reflect.Array:
		size := int(t.Elem().Size())
		each := appendFields(nil, t.Elem(), marked, 0)
		switch {
		case len(each) == 0:
			return to
		case len(each) == 1 && !each[0].Marked && each[0].Count == 0 && each[0].Size == size:
			return appendSpan(to, at, int(t.Size()))
		}
		return append(to, Field{Offset: at, Size: size, Count: t.Len(), Each: each})
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name != "_" {
				to = appendFields(to, f.Type, marked, at+int(f.Offset))
			}
		}
		return to
	}
	return appendSpan(to, at, int(t.Size()))
}

// appendSpan appends [at, at+size) and joins it with an adjacent span before it.
func appendSpan(to []Field, at, size int) []Field {
	if n := len(to); n > 0 && !to[n-1].Marked && to[n-1].Count == 0 && to[n-1].Offset+to[n-1].Size == at {
		to[n-1].Size += size
		return to
	}
	return append(to, Field{Offset: at, Size: size})
}
