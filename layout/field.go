package layout

import "reflect"

// Field is a span of bytes inside a value that holds data and not padding.
type Field struct {
	Offset int  // bytes from the start of the value
	Size   int  // bytes
	Marked bool // the span is one value of the marked type
}

// Fields lists the bytes of a value of type t that hold data, in rising order,
// neighbours joined. Padding and fields named _ are left out: Go's own ==
// ignores them too. A value of the type marked (nil: none) is not walked into
// but listed as one span of its own, so that a caller can treat it differently.
// It panics when t is not free of pointers.
func Fields(t, marked reflect.Type) []Field {
	if err := PointerFree(t); err != nil {
		panic("layout: Fields: " + err.Error())
	}
	return appendFields(nil, t, marked, 0)
}

func appendFields(to []Field, t, marked reflect.Type, at int) []Field {
	if t.Size() == 0 {
		return to
	}
	if t == marked {
		return append(to, Field{Offset: at, Size: int(t.Size()), Marked: true})
	}
	switch t.Kind() {
	case reflect.Array:
		if one := appendFields(nil, t.Elem(), marked, 0); len(one) == 1 && !one[0].Marked && one[0].Size == int(t.Elem().Size()) {
			return appendSpan(to, at, int(t.Size()))
		}
		for i := range t.Len() {
			to = appendFields(to, t.Elem(), marked, at+i*int(t.Elem().Size()))
		}
		return to
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
	if n := len(to); n > 0 && !to[n-1].Marked && to[n-1].Offset+to[n-1].Size == at {
		to[n-1].Size += size
		return to
	}
	return append(to, Field{Offset: at, Size: size})
}
