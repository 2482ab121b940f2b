package world

import (
	"fmt"
	"reflect"
)

// longestPrinted is the greatest array length that messages print.
const longestPrinted = 64

// TextOf formats a value, or returns (long) if it holds longer arrays: fmt would print every
// element, even elements without a size, as {}. Like fmt, TextOf follows a pointer at the top and
// no pointers behind it.
func TextOf(x any) string {
	v := reflect.ValueOf(x)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !isShort(v) {
		return "(long)"
	}
	return fmt.Sprint(x)
}

func isShort(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
			if i == longestPrinted || !isShort(v.Index(i)) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !isShort(v.Field(i)) {
				return false
			}
		}
	case reflect.Interface:
		return isShort(v.Elem())
	}
	return true
}
