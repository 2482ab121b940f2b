package value

import "reflect"

// Comparison of shared values, part by part. Values of a type without size are all the same and are
// not walked: an array of them may have 2^63-1 elements.

// sameParts compares two values of one type like ==, except that NaN is the same as NaN.
func sameParts(a, b reflect.Value) bool {
	if a.Type().Size() == 0 {
		return true
	}
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		x, y := a.Float(), b.Float()
		return x == y || x != x && y != y
	case reflect.Complex64, reflect.Complex128:
		x, y := a.Complex(), b.Complex()
		return sameParts(reflect.ValueOf(real(x)), reflect.ValueOf(real(y))) &&
			sameParts(reflect.ValueOf(imag(x)), reflect.ValueOf(imag(y)))
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).Name != "_" && !sameParts(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Array:
		for i := range a.Len() {
			if !sameParts(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return a.Elem().Type() == b.Elem().Type() && sameParts(a.Elem(), b.Elem())
	}
	return a.Equal(b)
}

// holdsInterface reports whether values of a comparable type contain interfaces.
func holdsInterface(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Array:
		return holdsInterface(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsInterface(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// isComparable reports whether == on a value does not panic. reflect.Value.Comparable reports the
// same, but walks arrays of elements without size.
func isComparable(v reflect.Value) bool {
	t := v.Type()
	if !t.Comparable() || t.Size() == 0 || !holdsInterface(t) {
		return t.Comparable()
	}
	switch v.Kind() {
	case reflect.Interface:
		return v.IsNil() || isComparable(v.Elem())
	case reflect.Array:
		for i := range v.Len() {
			if !isComparable(v.Index(i)) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !isComparable(v.Field(i)) {
				return false
			}
		}
	}
	return true
}
