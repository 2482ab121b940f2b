package inspect

import (
	"bytes"
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"strconv"

	"quarry/ecs"
)

// cell is a value in words: text, which JSON puts in quotes, or what is written as it is.
type cell struct {
	words  string
	isText bool
}

// null is the cell of a value that is not there. In CSV it is empty.
var null = cell{"null", false}

var (
	entityType = reflect.TypeFor[ecs.Entity]()
	textType   = reflect.TypeFor[encoding.TextMarshaler]()
)

// isText reports whether values of a type are one text, whatever they consist of. Pointers and
// interfaces, which may be nil, are left to encoding/json.
func isText(t reflect.Type) bool {
	k := t.Kind()
	return t == entityType || k != reflect.Pointer && k != reflect.Interface && t.Implements(textType)
}

// copyOf returns a copy of a value, whose fields cellOf can read whether they are exported or not.
func copyOf(v any) reflect.Value {
	if v == nil {
		return reflect.Value{}
	}
	p := reflect.New(reflect.TypeOf(v))
	p.Elem().Set(reflect.ValueOf(v))
	return p.Elem()
}

// cellOf returns the cell of a value, which is part of a copy.
func cellOf(v reflect.Value) cell {
	if !v.CanInterface() { // Safe because the value is part of a copy, and is only read.
		v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	}
	if isText(v.Type()) {
		return textCell(v)
	}
	switch v.Kind() {
	case reflect.Bool:
		return cell{strconv.FormatBool(v.Bool()), false}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return cell{strconv.FormatInt(v.Int(), 10), false}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return cell{strconv.FormatUint(v.Uint(), 10), false}
	case reflect.Float32, reflect.Float64:
		return number(v.Float(), v.Type().Bits())
	case reflect.Complex64, reflect.Complex128:
		return cell{strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits()), true}
	case reflect.String:
		return cell{v.String(), true}
	case reflect.Slice:
		if v.IsNil() {
			return null
		}
		return cell{string(appendList(nil, v)), false}
	case reflect.Array:
		return cell{string(appendList(nil, v)), false}
	case reflect.Struct:
		return cell{string(appendObject(nil, v)), false}
	}
	return other(v)
}

// textCell returns the cell of a value whose type is text.
func textCell(v reflect.Value) cell {
	if e, ok := v.Interface().(ecs.Entity); ok {
		if e == ecs.Null {
			return null
		}
		return cell{e.String(), true}
	}
	text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
	if err != nil {
		return typeOf(v)
	}
	return cell{string(text), true}
}

// number returns the cell of a number with a fraction.
func number(x float64, bits int) cell {
	switch {
	case math.IsNaN(x):
		return cell{"NaN", true}
	case math.IsInf(x, 0):
		return cell{strconv.FormatFloat(x, 'g', -1, bits), true}
	case bits == 32:
		return cell{string(marshal(float32(x))), false}
	}
	return cell{string(marshal(x)), false}
}

// other returns the cell of a value of a kind that only managed types have.
func other(v reflect.Value) cell {
	if b := marshal(v.Interface()); b != nil {
		return cell{string(b), false}
	}
	return typeOf(v)
}

// typeOf returns the type of a value that has no words.
func typeOf(v reflect.Value) cell { return cell{"(" + v.Type().String() + ")", true} }

// marshal returns a value as JSON, nil if it has none.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// appendCell appends a cell as JSON.
func appendCell(to []byte, c cell) []byte {
	if c.isText {
		return append(to, marshal(c.words)...)
	}
	return append(to, c.words...)
}

// appendList appends an array or slice as JSON.
func appendList(to []byte, v reflect.Value) []byte {
	to = append(to, '[')
	for i := range v.Len() {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendCell(to, cellOf(v.Index(i)))
	}
	return append(to, ']')
}

// appendObject appends a struct as JSON.
func appendObject(to []byte, v reflect.Value) []byte {
	to = append(to, '{')
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "_" {
			continue
		}
		if to[len(to)-1] != '{' {
			to = append(to, ',')
		}
		to = append(append(to, marshal(name)...), ':')
		to = appendCell(to, cellOf(v.Field(i)))
	}
	return append(to, '}')
}
