package blob

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"quarry/ecs"
	"quarry/internal/typename"
	"quarry/layout"
)

// A graph describes a root type: its shape, and those of all types that its blobs may hold. Nothing
// changes it, and all stores and builders share it.
type graph struct {
	root   *shape
	shapes map[reflect.Type]*shape
	list   []*shape // in the order in which they are found, the root first
	name   string   // of the root, with its path
	text   string   // the layouts of all, which blobs carry
	hash   uint64   // of the text: the type's number in blobs
}

// A shape is the layout of a type, of which a blob holds one or several, side by side.
type shape struct {
	rtype       reflect.Type
	index       int // in list
	size, align int
	plain       bool           // each byte is data, and no field leads elsewhere
	data        []layout.Field // bytes that are not padding
	relatives   []relative     // fields that lead elsewhere
}

// A relative is a relative field of a shape, or a Go array of values that have some.
type relative struct {
	offset int
	kind   linkKind
	path   string // of the field in its shape: .Parts
	to     *shape // of what it leads to

	count, stride int        // of a kindGroup
	each          []relative // of its values
}

var graphs sync.Map // *graph by reflect.Type

// graphOf returns the graph of a root type, and panics for a type that cannot be in a blob.
func graphOf(op string, t reflect.Type) *graph {
	if known, ok := graphs.Load(t); ok {
		return known.(*graph)
	}
	g := &graph{shapes: map[reflect.Type]*shape{}, name: shortName(t)}
	if t.Name() != "" && t.PkgPath() != "" {
		g.name = typename.Of(t)
	}
	op += "[" + shortName(t) + "]"
	g.root = g.shapeOf(op, t, shortName(t))
	g.text = g.describe()
	g.hash = hashText(g.text)
	known, _ := graphs.LoadOrStore(t, g)
	return known.(*graph)
}

// shapeOf returns the shape of a type, which is at a path from the root.
func (g *graph) shapeOf(op string, t reflect.Type, path string) *shape {
	if s := g.shapes[t]; s != nil {
		return s
	}
	if err := layout.PointerFree(t); err != nil {
		panic(fmt.Sprintf("blob: %s: at %s: %v", op, path, err))
	}
	if t.Size() == 0 {
		panic(fmt.Sprintf("blob: %s: %s has no size", op, path))
	}
	s := &shape{rtype: t, index: len(g.list), size: int(t.Size()), align: t.Align(), data: layout.Fields(t, nil)}
	g.shapes[t] = s
	g.list = append(g.list, s)
	s.relatives = g.relativesOf(op, t, 0, "", path)
	s.plain = len(s.relatives) == 0 && len(s.data) == 1 && s.data[0].Count == 0 && s.data[0].Size == s.size
	return s
}

// relativesOf returns the relative fields of a type at an offset and a path of a shape, which is at
// a path from the root.
func (g *graph) relativesOf(op string, t reflect.Type, offset int, path, above string) (list []relative) {
	switch k, to := targetOf(t); {
	case t == reflect.TypeFor[ecs.Entity]():
		panic(fmt.Sprintf(
			"blob: %s: %s is an ecs.Entity, whose number changes when worlds are merged; a blob never changes",
			op, above+path))
	case to != nil:
		deeper := above + path
		if k == kindArray {
			deeper += "[]"
		}
		return append(list, relative{offset: offset, kind: k, path: path, to: g.shapeOf(op, to, deeper)})
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			list = append(list, g.relativesOf(op, f.Type, offset+int(f.Offset), path+"."+f.Name, above)...)
		}
	case t.Kind() == reflect.Array && t.Len() > 0:
		each := g.relativesOf(op, t.Elem(), 0, "", above+path+"[]")
		if len(each) > 0 {
			list = append(list, relative{
				offset: offset, kind: kindGroup, path: path, count: t.Len(), stride: int(t.Elem().Size()), each: each,
			})
		}
	}
	return list
}

// targetOf returns the kind of a relative field and the type of its elements, or nil for another
// type. Structs that embed such a field are other types.
func targetOf(t reflect.Type) (linkKind, reflect.Type) {
	if t.Kind() != reflect.Struct || t.NumField() == 0 || t.Field(0).Type != reflect.TypeFor[noCopy]() {
		return 0, nil
	}
	if f, ok := reflect.New(t).Interface().(relativeField); ok {
		return f.target()
	}
	return 0, nil
}

// describe returns the layouts of all shapes as one line, the root with its path. Two programs in
// which it is the same lay the type out alike. The name is up to the first ": ".
func (g *graph) describe() string {
	names, taken := make([]string, len(g.list)), map[string]int{}
	for i, s := range g.list {
		name := shortName(s.rtype)
		if i == 0 {
			name = g.name
		}
		taken[name]++
		if n := taken[name]; n > 1 { // types of functions may have one name
			name = fmt.Sprintf("%s#%d", name, n)
		}
		names[i] = name
	}
	var b strings.Builder
	for i, s := range g.list {
		if s.rtype.Kind() == reflect.Uint8 && i > 0 {
			continue // of texts and arrays of bytes
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %d B ", names[i], s.size)
		g.describeType(&b, s.rtype, names)
	}
	return b.String()
}

func (g *graph) describeType(b *strings.Builder, t reflect.Type, names []string) {
	k, to := targetOf(t)
	switch {
	case to != nil && k == kindString:
		b.WriteString("String")
	case to != nil:
		fmt.Fprintf(b, "%s[%s]", [...]string{kindArray: "Array", kindRef: "Ref"}[k], names[g.shapes[to].index])
	case t.Kind() == reflect.Struct:
		b.WriteByte('{')
		for i := range t.NumField() {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(b, "%d %s ", t.Field(i).Offset, t.Field(i).Name)
			g.describeType(b, t.Field(i).Type, names)
		}
		b.WriteByte('}')
	case t.Kind() == reflect.Array:
		fmt.Fprintf(b, "[%d]", t.Len())
		g.describeType(b, t.Elem(), names)
	default:
		b.WriteString(t.Kind().String())
	}
}

// shortName returns the name of a type without its package.
func shortName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// nameIn returns the name of the type that a description begins with.
func nameIn(text string) string {
	name, _, _ := strings.Cut(text, ": ")
	return name
}
