package ecs

import (
	"fmt"
	"reflect"
)

// longestPrinted is how many elements an array may have in a value that messages print.
const longestPrinted = 64

// textOf prints a value, and one with longer arrays in it as (long): fmt prints each element, as {}
// those without a size. Where a pointer leads fmt follows it, but not those behind it.
func textOf(x any) string {
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
