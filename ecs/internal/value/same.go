package value

import "reflect"

// Parts of shared values. What has no size is looked at once: of an array of such there may be more elements
// than anybody can walk.

// sameParts compares two values of one type as == does, but that NaN is the same as NaN.
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
		return sameParts(reflect.ValueOf(real(x)), reflect.ValueOf(real(y))) && sameParts(reflect.ValueOf(imag(x)), reflect.ValueOf(imag(y)))
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

// holdsInterface reports whether values of a comparable type have interfaces in them.
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

// isComparable reports whether Go compares a value with == and does not panic, as
// reflect.Value.Comparable does, which walks what has no size.
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
