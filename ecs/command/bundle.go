package command

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"
)

// A bundle records a Create and the Set of each value at once. The records are those that the calls
// would write, so nothing that reads records knows of bundles; but their heads are worked out once,
// and their room is taken in one piece:
//
//	byte of the room  0        16     32      40     56      72
//	                  | Create | Set  | value | Set  | value |    Bundle[struct{ Health; Position }]

// Bundle records the creation of entities with the values of a struct, in some 0.6 of the time that
// a Create and a Set for each value take. The exported fields of S are components, each at most
// once, and structs of such fields. What a struct does not hold (buffers, shared values) comes from
// the archetype or from further commands about the placeholder. Any goroutine may use a bundle.
type Bundle[S any] struct{ core bundle }

// bundle is a Bundle without its Go type.
type bundle struct {
	w      *ecs.World
	id     uint32
	parts  []part
	linked []int // numbers of the parts that hold entities
	size   int   // bytes of the records of a spawn
	most   int   // bytes of the longest, with a line of Trace
}

// part is a field of a bundle.
type part struct {
	offset uintptr // in the struct
	size   uintptr // of the value
	to     uintptr // where its record begins in the room of a spawn
	t      ecs.Type
	index  int // of the type
	links  []world.Link
}

// bundleIDs numbers the bundles of the process.
var bundleIDs atomic.Uint32

// NewBundle creates the bundle of S. It registers no types. It panics for a field that is no
// component of w, with the path of the field, and for records of more than 64 KiB: the values, and
// 16 B for each and for the Create. Reflection happens here; create bundles once.
func NewBundle[S any](w *ecs.World) *Bundle[S] {
	t := reflect.TypeFor[S]()
	r := bundleReader{op: fmt.Sprintf("NewBundle[%v]", t), types: map[reflect.Type]ecs.Type{}}
	if w == nil || w.Closed() {
		panic("command: " + r.op + ": the world is nil or closed")
	}
	for _, c := range w.Components() {
		if c.Kind == ecs.KindComponent && c.Go != cleanupEntity {
			r.types[c.Go] = c.Type
		}
	}
	r.bundle = bundle{w: w, id: bundleIDs.Add(1), size: recordSize, most: recordSize + 8}
	r.walk(t, 0, t.Name())
	if r.size > mostSpawn {
		panic(fmt.Sprintf("command: %s: the records of a struct take %d B, at most %d", r.op, r.size, mostSpawn))
	}
	return &Bundle[S]{r.bundle}
}

// mostSpawn is the most bytes of the records of a bundle.
const mostSpawn = 64 << 10

// bundleReader reads the fields of a bundle's struct.
type bundleReader struct {
	bundle
	op    string
	types map[reflect.Type]ecs.Type // components that are no field yet; nil for those that are
}

// walk adds the fields of a struct that lies at an offset.
func (r *bundleReader) walk(t reflect.Type, at uintptr, path string) {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("command: %s: %v is no struct", r.op, t))
	}
	for i := range t.NumField() {
		f := t.Field(i)
		here := path + "." + f.Name
		of, registered := r.types[f.Type]
		switch {
		case !f.IsExported():
			r.refuse(here, "it is not exported")
		case registered && of == nil:
			r.refuse(here, "%v is the type of a field before it", f.Type)
		case registered:
			r.add(of, at+f.Offset, f.Type.Size())
			r.types[f.Type] = nil
		case r.hasComponents(f.Type):
			r.walk(f.Type, at+f.Offset, here)
		default:
			r.refuse(here, "%v is no component of this world: call ecs.Register first; "+
				"buffers, shared and sparse types take commands of their own", f.Type)
		}
	}
}

// hasComponents reports whether t is a struct with a field that is a component, or has some.
func (r *bundleReader) hasComponents(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i).Type
		if _, ok := r.types[f]; ok || r.hasComponents(f) {
			return true
		}
	}
	return false
}

func (r *bundleReader) refuse(path, what string, args ...any) {
	panic(fmt.Sprintf("command: %s: field %s: %s", r.op, path, fmt.Sprintf(what, args...)))
}

// add adds the field of a type.
func (r *bundleReader) add(t ecs.Type, offset, size uintptr) {
	p := part{offset: offset, size: size, to: uintptr(r.size), t: t, index: door.TypeIndex(r.w, t),
		links: door.FactsOf(t).Links}
	if len(p.links) > 0 {
		r.linked = append(r.linked, len(r.parts))
	}
	r.parts = append(r.parts, p)
	r.size += recordSize + roundUp(int(size))
	r.most = max(r.most, recordSize+roundUp(int(size))+8)
}

// Create records the creation of an entity with the archetype's types, and with the values of s: a
// Writer.Create and a Set for each field. It returns the placeholder. Play fails if the archetype
// lacks the type of a field. A Create that panics has recorded nothing.
//
//go:nocheckptr
func (b *Bundle[S]) Create(r Recorder, a *ecs.Archetype, s S) ecs.Entity {
	if b == nil {
		return (*bundle)(nil).create(writerOf(r), a, nil)
	}
	return b.core.create(writerOf(r), a, unsafe.Pointer(&s)) // Safe because the fields are those of S.
}

// create records a spawn with the values of the struct at v. Like valueOf, it and what it calls are
// excluded from checkptr level 2, or the struct would escape.
//
//go:nocheckptr
func (b *bundle) create(w *Writer, a *ecs.Archetype, v unsafe.Pointer) ecs.Entity {
	if !w.open() {
		w.check("Bundle.Create")
	}
	s := w.stream
	if b == nil || b.w != s.b.w || a == nil || a.World() != s.b.w {
		b.refuse(s.b.w)
	}
	named := false
	for _, i := range b.linked {
		named = w.namesPlaceholder(b.parts[i].links, unsafe.Add(v, b.parts[i].offset)) || named
	}
	if s.quick < b.size || s.inside || named {
		return b.createSlowly(w, a, v)
	}
	steps := s.stepsOf(b)
	if a != s.created {
		s.findCreate(a)
	}
	e := s.placeholder()
	s.inside = true
	room := unsafe.Add(s.page.base, s.page.used) // Safe because so many bytes of the page are free.
	s.page.used += b.size
	s.quick -= b.size
	*(*commandRecord)(room) = commandRecord{op: s.createdAs, size: recordSize, e: e}
	for i := range steps {
		p := &steps[i]
		to := unsafe.Add(room, p.to)
		// Safe because the room has a record there, which begins with the head and the entity.
		*(*uint64)(to), *(*ecs.Entity)(unsafe.Add(to, 8)) = p.head, e
		copyValue(unsafe.Add(to, recordSize), unsafe.Add(v, p.offset), uintptr(p.size))
	}
	s.segment.n += 1 + len(steps)
	s.inside = false
	return e
}

// createSlowly is create by the calls that it stands for. What can be refused comes first: there is
// room for all of a spawn, or nothing of it is recorded.
//
//go:nocheckptr
func (b *bundle) createSlowly(w *Writer, a *ecs.Archetype, v unsafe.Pointer) ecs.Entity {
	steps := w.stream.stepsOf(b)
	if w.stream.quick < b.size {
		if err := w.stream.reserve(1+len(steps), b.most); err != nil {
			panic(err)
		}
	}
	if a != w.stream.created {
		w.stream.findCreate(a)
	}
	e := w.Create(a)
	for i, step := range steps {
		p := &b.parts[i]
		r, to := w.record1(uint16(step.op), e, int(p.size))
		copyValue(to, unsafe.Add(v, p.offset), p.size) // Safe because v has the field and to has its size.
		w.noteLinks(r, p.links, to, 1, 0)
	}
	return e
}

//go:noinline
func (b *bundle) refuse(w *ecs.World) {
	if b == nil || b.w != w {
		panic("command: Bundle.Create: the bundle is nil, the zero value or of another world; bundles come from NewBundle")
	}
	panic("command: Bundle.Create: the archetype is nil or belongs to another world")
}

// namesPlaceholder reports whether the value at p holds a placeholder, and panics for one of
// another buffer. It notes the era for what the value names: see stale.go.
//
//go:nocheckptr
func (w *Writer) namesPlaceholder(links []world.Link, p unsafe.Pointer) (named bool) {
	for i := range links {
		l, at := &links[i], unsafe.Add(p, links[i].Offset) // Safe because the value has an entity or an array there.
		if l.Count > 0 {
			for j := range l.Count {
				named = w.namesPlaceholder(l.Each, unsafe.Add(at, uintptr(j)*l.Size)) || named
			}
			continue
		}
		if e := *(*ecs.Entity)(at); e.IsPlaceholder() {
			w.checkEntity("a value", e)
			named = true
		} else if era := w.stream.b.recordings.Era(); era != w.stream.era {
			w.stream.mark(era, 0)
		}
	}
	return named
}

// copyValue copies a value of n bytes.
//
//go:nocheckptr
func copyValue(to, from unsafe.Pointer, n uintptr) {
	switch n { // Safe because both are values of one type, of n bytes, which has no Go pointers.
	case 8:
		*(*[8]byte)(to) = *(*[8]byte)(from)
	case 16:
		*(*[16]byte)(to) = *(*[16]byte)(from)
	default:
		copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n))
	}
}

// stepsOf returns how the stream records the parts of a bundle.
func (o *ops) stepsOf(b *bundle) []bundleStep {
	last := &o.bundles[b.id%uint32(len(o.bundles))]
	if last.id == b.id {
		return last.steps
	}
	steps := make([]bundleStep, 0, len(b.parts))
	for i := range b.parts {
		p := &b.parts[i]
		number := o.noted(set, p.index)
		if number == 0 {
			number = o.note(set, p.t, p.index, &bytesCodec{p.t, p.size, p.links}) + 1
		}
		r := commandRecord{op: number - 1, size: uint32(recordSize + roundUp(int(p.size)))}
		steps = append(steps, bundleStep{r.head(), uint32(p.to), uint32(p.offset), uint32(p.size), uint32(r.op)})
	}
	*last = bundled{b.id, steps}
	return steps
}

// bytesCodec is the codec of a component whose Go type is not known.
type bytesCodec struct {
	t  ecs.Type
	n  uintptr // bytes of a value
	at []world.Link
}

func (c *bytesCodec) size() uintptr { return c.n }

func (c *bytesCodec) links() []world.Link { return c.at }

func (c *bytesCodec) fills() bool { return true }

func (c *bytesCodec) counted() bool { return false }

func (c *bytesCodec) fill(_ commandKind, rows ecs.Rows, from source, _ *unfitRows) {
	to, n := door.ColumnOf(c.t, rows), rows.Len()
	switch c.n {
	case 4:
		fillAs[[4]byte](to, n, from)
	case 8:
		fillAs[[8]byte](to, n, from)
	case 16:
		fillAs[[16]byte](to, n, from)
	case 24:
		fillAs[[24]byte](to, n, from)
	default:
		for i := range n {
			copyValue(unsafe.Add(to, uintptr(i)*c.n), from.value(i), c.n) // Safe because the column has n values.
		}
	}
}

// fillAs writes n values of a column that have the size of a V.
func fillAs[V any](to unsafe.Pointer, n int, from source) {
	column := unsafe.Slice((*V)(to), n) // Safe because the column has n values, and Vs have no pointers.
	for i := range column {
		column[i] = *(*V)(from.value(i)) // Safe because a record of the type's op holds a value there.
	}
}

func (c *bytesCodec) spread(_ commandKind, list []ecs.Entity, from source) (int, error) {
	for i, e := range list {
		copyValue(door.Mut(c.t, e), from.value(i), c.n)
	}
	return len(list), nil
}

func (c *bytesCodec) patch(e ecs.Entity, made []ecs.Entity) { name(c.at, door.Mut(c.t, e), 1, 0, made) }

func (c *bytesCodec) shared(any) ecs.SharedValue { return ecs.SharedValue{} }
