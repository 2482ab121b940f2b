package bake

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"reflect"
	"slices"
	"sync"
)

// digest is a hash of content: of an object's authoring data, or of a file. The zero digest is that
// of what is not there.
type digest [sha256.Size]byte

// digestOf returns the digest of authoring data: of its type, and of all that is in it.
func digestOf(v any) (d digest, err error) {
	defer func() {
		if p := recover(); p != nil { // of a method of the type
			err = fmt.Errorf("its content cannot be hashed: it panicked: %v", p)
		}
	}()
	t := reflect.TypeOf(v)
	b, err := appendContent(fmt.Appendf(nil, "%s.%v\x00", t.PkgPath(), t), reflect.ValueOf(v), 0)
	if err != nil {
		return digest{}, fmt.Errorf("its content cannot be hashed: %w", err)
	}
	return sha256.Sum256(b), nil
}

// deepest is how deep authoring data may be: what leads to itself has no end.
const deepest = 1000

// appendContent appends bytes that differ for values that differ. JSON does not do: it has no types
// of what is in interfaces, and no fields that others of the same name hide.
func appendContent(b []byte, v reflect.Value, depth int) ([]byte, error) {
	if depth > deepest {
		return nil, fmt.Errorf("it is more than %d levels deep", deepest)
	}
	if t := v.Type(); v.CanInterface() &&
		(t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())) {
		if t.Kind() != reflect.Interface {
			text, err := json.Marshal(v.Interface())
			return appendBytes(b, text), err
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case reflect.String:
		return appendBytes(b, v.String()), nil
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return append(b, 0), nil
		}
		if b = append(b, 1); v.Kind() == reflect.Interface {
			t := v.Elem().Type()
			if path := hidden(t, t.String(), map[reflect.Type]bool{}); path != "" {
				return nil, fmt.Errorf("JSON does not show %s", path)
			}
			b = appendBytes(b, t.PkgPath()+"."+t.String())
		}
		return appendContent(b, v.Elem(), depth+1)
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0), nil
		}
		return appendList(append(b, 1), v, depth)
	case reflect.Array:
		return appendList(b, v, depth)
	case reflect.Map:
		return appendMap(b, v, depth)
	case reflect.Struct:
		var err error
		for i := 0; i < v.NumField() && err == nil; i++ {
			b, err = appendContent(b, v.Field(i), depth+1)
		}
		return b, err
	}
	switch {
	case v.CanInt():
		return binary.LittleEndian.AppendUint64(b, uint64(v.Int())), nil
	case v.CanUint():
		return binary.LittleEndian.AppendUint64(b, v.Uint()), nil
	case v.CanFloat():
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float())), nil
	}
	return nil, fmt.Errorf("a %v has no content", v.Type())
}

func appendBytes[S string | []byte](b []byte, s S) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

func appendList(b []byte, v reflect.Value, depth int) ([]byte, error) {
	b = binary.LittleEndian.AppendUint64(b, uint64(v.Len()))
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return append(b, v.Bytes()...), nil
	}
	var err error
	for i := 0; i < v.Len() && err == nil; i++ {
		b, err = appendContent(b, v.Index(i), depth+1)
	}
	return b, err
}

// appendMap appends the entries in the order of their bytes.
func appendMap(b []byte, v reflect.Value, depth int) ([]byte, error) {
	if v.IsNil() {
		return append(b, 0), nil
	}
	entries := make([]string, 0, v.Len())
	for key, value := range v.Seq2() {
		entry, err := appendContent(nil, key, depth+1)
		if err == nil {
			entry, err = appendContent(appendBytes(nil, entry), value, depth+1)
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, string(entry))
	}
	slices.Sort(entries)
	b = binary.LittleEndian.AppendUint64(append(b, 1), uint64(len(entries)))
	for _, entry := range entries {
		b = appendBytes(b, entry)
	}
	return b, nil
}

// hidden returns the path to what JSON does not show of a type, and "" if it shows all.
func hidden(t reflect.Type, path string, seen map[reflect.Type]bool) string {
	if seen[t] || t.Implements(reflect.TypeFor[json.Marshaler]()) ||
		t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return ""
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return path
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return hidden(t.Elem(), path, seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if name := f.Tag.Get("json"); !f.IsExported() || name == "-" {
				return path + "." + f.Name
			}
			if p := hidden(f.Type, path+"."+f.Name, seen); p != "" {
				return p
			}
		}
	}
	return ""
}

// files reads the files that bakers ask for, each once in a bake.
type files struct {
	from fs.FS
	mu   sync.Mutex
	read map[string]*file
}

type file struct {
	once  sync.Once
	bytes []byte
	err   error
	hash  digest
}

// open returns a file.
func (f *files) open(name string) *file {
	f.mu.Lock()
	at := f.read[name]
	if at == nil {
		at = new(file)
		f.read[name] = at
	}
	f.mu.Unlock()
	at.once.Do(func() {
		if f.from == nil {
			at.err = fmt.Errorf("file %s: the bakery has no files: make it with scene.Files", name)
			return
		}
		if at.bytes, at.err = fs.ReadFile(f.from, name); at.err == nil {
			at.hash = sha256.Sum256(at.bytes)
		}
	})
	return at
}
