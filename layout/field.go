package layout

import "reflect"

// Field is a span of bytes inside a value that holds data and not padding, or an array of
// elements that have some: the list for a type is as long as the type is written, however
// long its arrays are.
type Field struct {
	Offset int     // bytes from the start of the value, or of the element around it
	Size   int     // bytes of the span, or of an element, padding included
	Marked bool    // the span is one value of the marked type
	Count  int     // elements of an array, one behind the other; 0: a span
	Each   []Field // of an element
}

// Fields lists the bytes of a value of type t that hold data, in rising order,
// neighbours joined. Padding and fields named _ are left out: Go's own ==
// ignores them too. A value of the type marked (nil: none) is not walked into
// but listed as one span of its own, so that a caller can treat it differently.
// It panics when t is not free of pointers.
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
	if t.Size() == 0 { // of an array of such there may be more than anybody can walk
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

// appendSpan adds [at, at+size) and joins it with the span before.
func appendSpan(to []Field, at, size int) []Field {
	if n := len(to); n > 0 && !to[n-1].Marked && to[n-1].Count == 0 && to[n-1].Offset+to[n-1].Size == at {
		to[n-1].Size += size
		return to
	}
	return append(to, Field{Offset: at, Size: size})
}
