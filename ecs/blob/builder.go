package blob

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"quarry/ecs"
	"quarry/layout"
)

// maxBytes is the most that a blob has: offsets are signed, of 32 bits.
const maxBytes = 1<<31 - 1

// Words of a builder's segments: each has twice as many as the one before it.
const (
	leastWords = 64
	mostWords  = 1 << 20
)

// Builder collects what becomes a blob with root T. It is Go memory and belongs to one goroutine,
// any one. Make it by NewBuilder. It may be added to several stores, and changed in between.
type Builder[T any] struct{ parts parts }

// parts is a Builder without its type. The bytes of an object never move, so fields are known by
// address.
type parts struct {
	graph    *graph
	segments []segment
	objects  []object // the root first
	links    []link
}

// A segment is memory that objects fill from the beginning.
type segment struct {
	memory []uint64
	used   int   // words
	first  int   // number of its first object
	starts []int // word at which each of its objects begins
}

// An object is some values of a type, side by side.
type object struct {
	shape *shape
	n     int
	at    unsafe.Pointer // in Go memory
}

// A link is the target of a relative field: n elements, of an object, from a byte of it on.
type link struct {
	object, offset, n int
	to                *shape
}

// NewBuilder returns a builder with a zero root. It panics like Type. Cost: some allocations.
func NewBuilder[T any]() *Builder[T] {
	b := &Builder[T]{parts{graph: graphOf("NewBuilder", reflect.TypeFor[T]())}}
	b.parts.alloc("NewBuilder", b.parts.graph.root, 1)
	return b
}

// Root returns the root, to be filled. It is good as long as the builder.
func (b *Builder[T]) Root() *T {
	return (*T)(b.parts.objects[0].at) // Safe because the first object is a T.
}

// Allocate makes a field of b an array of n zero elements, and returns them, to be filled; they are
// good as long as the builder. What the field led to before is left out. Allocate panics if the
// field is not in b, for a negative n and, with a *ecs.LimitError, for more than 2 GiB. Cost: an
// allocation for some.
func Allocate[T, E any](b *Builder[T], field *Array[E], n int) []E {
	const op = "Allocate"
	x := partsOf(op, b)
	x.checkField(op, unsafe.Pointer(field), field) // Safe because only the address is used.
	if n < 0 {
		panic(fmt.Sprintf("blob: Allocate: n=%d is negative", n))
	}
	if n == 0 {
		field.span = byteRange{}
		return nil
	}
	i := x.alloc(op, x.graph.shapes[reflect.TypeFor[E]()], n)
	x.lead(&field.span, link{object: i, n: n, to: x.objects[i].shape})
	return unsafe.Slice((*E)(x.objects[i].at), n) // Safe because the object has n elements.
}

// SetString makes a field of b a text. It panics like Allocate.
func SetString[T any](b *Builder[T], field *String, text string) {
	const op = "SetString"
	x := partsOf(op, b)
	x.checkField(op, unsafe.Pointer(field), field) // Safe because only the address is used.
	if text == "" {
		field.span = byteRange{}
		return
	}
	i := x.alloc(op, x.graph.shapes[reflect.TypeFor[byte]()], len(text))
	x.lead(&field.span, link{object: i, n: len(text), to: x.objects[i].shape})
	copy(unsafe.Slice((*byte)(x.objects[i].at), len(text)), text) // Safe because the object has as many bytes.
}

// New makes a field of b lead to a new, zero E, and returns it, to be filled; it is good as long as
// the builder. New panics like Allocate.
func New[T, E any](b *Builder[T], field *Ref[E]) *E {
	const op = "New"
	x := partsOf(op, b)
	x.checkField(op, unsafe.Pointer(field), field) // Safe because only the address is used.
	i := x.alloc(op, x.graph.shapes[reflect.TypeFor[E]()], 1)
	x.lead(&field.span, link{object: i, n: 1, to: x.objects[i].shape})
	return (*E)(x.objects[i].at) // Safe because the object is an E.
}

// Point makes a field of b lead to an E that b has already: the root, what New returned, an element
// of an array, or a field of any of these. Nil makes it lead to none. Point panics if the field or
// the target is not in b.
func Point[T, E any](b *Builder[T], field *Ref[E], target *E) {
	const op = "Point"
	x := partsOf(op, b)
	x.checkField(op, unsafe.Pointer(field), field) // Safe because only the address is used.
	if target == nil {
		field.span = byteRange{}
		return
	}
	to := x.graph.shapes[reflect.TypeFor[E]()]
	i, offset, ok := x.locate(unsafe.Pointer(target), to.size) // Safe because only the address is used.
	if !ok {
		panic(fmt.Sprintf("blob: Point: the %s to point to is not in the builder", shortName(to.rtype)))
	}
	x.lead(&field.span, link{object: i, offset: offset, n: 1, to: to})
}

// partsOf returns the parts of a builder, and panics for one that NewBuilder has not made.
func partsOf[T any](op string, b *Builder[T]) *parts {
	if b == nil || b.parts.graph == nil {
		panic("blob: " + op + ": the builder is nil; NewBuilder makes one")
	}
	return &b.parts
}

// checkField panics unless a field is in the builder.
func (x *parts) checkField(op string, at unsafe.Pointer, field any) {
	if at != nil {
		if _, _, ok := x.locate(at, int(unsafe.Sizeof(byteRange{}))); ok {
			return
		}
	}
	name := shortName(reflect.TypeOf(field).Elem())
	panic(fmt.Sprintf(
		"blob: %s: the %s is not in the builder; fields are those of Root, and of what Allocate and New return",
		op, name))
}

// lead makes a field lead to the target of a link.
func (x *parts) lead(field *byteRange, to link) {
	field.offset, field.n = 0, ^int32(len(x.links))
	x.links = append(x.links, to)
}

// alloc makes an object of n zero elements, n > 0, and returns its number.
func (x *parts) alloc(op string, s *shape, n int) int {
	if n > maxBytes/s.size || len(x.links) >= maxBytes {
		panic(tooLarge(op))
	}
	words := (n*s.size + 7) / 8
	last := len(x.segments) - 1
	if last < 0 || words > len(x.segments[last].memory)-x.segments[last].used {
		room := leastWords
		if last >= 0 {
			room = min(2*len(x.segments[last].memory), mostWords)
		}
		x.segments = append(x.segments, segment{memory: make([]uint64, max(room, words)), first: len(x.objects)})
		last++
	}
	seg := &x.segments[last]
	seg.starts = append(seg.starts, seg.used)
	// Safe because n elements fit into words from there.
	x.objects = append(x.objects, object{s, n, unsafe.Pointer(&seg.memory[seg.used])})
	seg.used += words
	return len(x.objects) - 1
}

// locate returns the object that has size bytes at an address, and their offset in it.
func (x *parts) locate(at unsafe.Pointer, size int) (i, offset int, ok bool) {
	for k := len(x.segments) - 1; k >= 0; k-- {
		seg := &x.segments[k]
		// Safe because x keeps the memory, which does not move.
		base := uintptr(unsafe.Pointer(unsafe.SliceData(seg.memory)))
		if uintptr(at) < base || uintptr(at) >= base+uintptr(seg.used)*8 {
			continue
		}
		from := int(uintptr(at) - base)
		j, exact := slices.BinarySearch(seg.starts, from/8)
		if !exact {
			j--
		}
		o := &x.objects[seg.first+j]
		offset = from - seg.starts[j]*8
		return seg.first + j, offset, offset+size <= o.n*o.shape.size
	}
	return 0, 0, false
}

func tooLarge(op string) *ecs.LimitError {
	return &ecs.LimitError{Op: "blob." + op, Limit: "bytes of a blob", Max: maxBytes}
}

// A plan is where the objects of a block lie.
type plan struct {
	x     *parts
	order []int // objects that the root leads to, the nearest first
	at    []int // byte of the block at which an object begins; 0: it is left out
	paths []string
	end   int // of the content
}

// plan lays out all that the root leads to.
func (x *parts) plan(op string) (*plan, error) {
	p := &plan{x: x, at: make([]int, len(x.objects)), end: headerBytes}
	p.place(0, shortName(x.graph.root.rtype))
	for k := 0; k < len(p.order); k++ {
		o := &x.objects[p.order[k]]
		if len(o.shape.relatives) == 0 {
			continue
		}
		for i := range o.n {
			// Safe because the object has n elements.
			p.reach(o.shape.relatives, unsafe.Add(o.at, i*o.shape.size), p.paths[k])
		}
	}
	if p.end > maxBytes-len(x.graph.text)-8 {
		return nil, tooLarge(op)
	}
	return p, nil
}

// place gives an object its place, once.
func (p *plan) place(i int, path string) {
	if p.at[i] > 0 {
		return
	}
	o := &p.x.objects[i]
	p.at[i] = (p.end + o.shape.align - 1) &^ (o.shape.align - 1)
	p.end = p.at[i] + o.n*o.shape.size
	p.order = append(p.order, i)
	p.paths = append(p.paths, path)
}

// reach places what fields lead to.
func (p *plan) reach(fields []relative, base unsafe.Pointer, path string) {
	for k := range fields {
		r := &fields[k]
		at := unsafe.Add(base, r.offset) // Safe because the value at base has the field.
		if r.kind == kindGroup {
			for i := range r.count {
				p.reach(r.each, unsafe.Add(at, i*r.stride), path)
			}
			continue
		}
		if l := p.x.linkOf((*byteRange)(at), r); l != nil { // Safe because the field is relative.
			p.place(l.object, path+r.path)
		}
	}
}

// linkOf returns the link of a field, or nil if it leads to none.
func (x *parts) linkOf(s *byteRange, r *relative) *link {
	if s.n == 0 {
		return nil
	}
	i := int(^s.n)
	if s.n > 0 || i >= len(x.links) || x.links[i].to != r.to || r.kind == kindRef && x.links[i].n != 1 {
		panic(fmt.Sprintf("blob: Add: %s%s was copied from another builder or from a blob",
			shortName(x.graph.root.rtype), r.path))
	}
	return &x.links[i]
}

// build returns the block: the same for the same content, whatever the order of calls.
func (x *parts) build(op string) ([]word, error) {
	p, err := x.plan(op)
	if err != nil {
		return nil, err
	}
	g := x.graph
	words := make([]word, (p.end+len(g.text)+7)/8)
	block := bytesOf(words)
	words[0], words[1] = word(g.hash), word(p.end)|word(len(g.text))<<32
	copy(block[p.end:], g.text)
	for _, k := range p.order {
		o := &x.objects[k]
		from := unsafe.Slice((*byte)(o.at), o.n*o.shape.size) // Safe because the object has n elements.
		to := block[p.at[k] : p.at[k]+len(from)]
		if o.shape.plain {
			copy(to, from)
			continue
		}
		for i := 0; i < len(to); i += o.shape.size {
			copyData(to[i:], from[i:], o.shape.data)
			// Safe because the element is in the object.
			p.patch(o.shape.relatives, unsafe.Add(o.at, i), block, p.at[k]+i)
		}
	}
	return words, nil
}

// patch writes the fields of the value that lies at a place of a block.
func (p *plan) patch(fields []relative, base unsafe.Pointer, block []byte, place int) {
	for k := range fields {
		r := &fields[k]
		at := unsafe.Add(base, r.offset) // Safe because the value at base has the field.
		if r.kind == kindGroup {
			for i := range r.count {
				p.patch(r.each, unsafe.Add(at, i*r.stride), block, place+r.offset+i*r.stride)
			}
			continue
		}
		var s byteRange
		if l := p.x.linkOf((*byteRange)(at), r); l != nil { // Safe because the field is relative.
			s = byteRange{offset: int32(p.at[l.object] + l.offset - (place + r.offset)), n: int32(l.n)}
		}
		*(*byteRange)(unsafe.Pointer(&block[place+r.offset])) = s // Safe because the block has the value, aligned.
	}
}

// copyData copies the bytes of a value that are not padding.
func copyData(to, from []byte, fields []layout.Field) {
	for i := range fields {
		f := &fields[i]
		if f.Count == 0 {
			copy(to[f.Offset:f.Offset+f.Size], from[f.Offset:])
			continue
		}
		for k := range f.Count {
			at := f.Offset + k*f.Size
			copyData(to[at:], from[at:], f.Each)
		}
	}
}

// bytesOf returns words as bytes.
func bytesOf(words []word) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8) // Safe because a word has 8.
}

// String returns a drawing of the block as it would be added now.
func (b *Builder[T]) String() string {
	x := partsOf("Builder.String", b)
	p, err := x.plan("Builder.String")
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%6s %7s\n", "offset", "bytes")
	fmt.Fprintf(&out, "%6d %7d  type, length\n", 0, headerBytes)
	for k, i := range p.order {
		o := &x.objects[i]
		fmt.Fprintf(&out, "%6d %7d  %s", p.at[i], o.n*o.shape.size, p.paths[k])
		if k > 0 {
			fmt.Fprintf(&out, "  %d x %s %d B", o.n, shortName(o.shape.rtype), o.shape.size)
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "%6d %7d  layout as text\n", p.end, len(x.graph.text))
	return out.String()
}
