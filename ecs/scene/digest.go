package scene

import (
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
	"sync"
)

// digest is a hash of content: of an object's authoring data, or of a file. The zero digest is that
// of what is not there.
type digest [sha256.Size]byte

// digestOf returns the digest of authoring data: of its type, and of what JSON shows of it.
func digestOf(v any) (digest, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return digest{}, fmt.Errorf("its content cannot be hashed: %w", err)
	}
	t := reflect.TypeOf(v)
	return sha256.Sum256(fmt.Appendf(b, "\x00%s.%v", t.PkgPath(), t)), nil
}

// hidden returns the path to what JSON does not show of a type, and "" if it shows all.
func hidden(t reflect.Type, path string, seen map[reflect.Type]bool) string {
	if seen[t] || t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return ""
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return path
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return hidden(t.Elem(), path, seen)
	case reflect.Map:
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
