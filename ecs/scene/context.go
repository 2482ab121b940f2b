package scene

import (
	"fmt"
	"reflect"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/internal/door"
)

// Context is what a baker makes entities by, and asks for what it depends on. It is valid until the
// baker returns, in one goroutine at a time.
type Context struct {
	b      *Bakery
	list   *list
	object int
	record *record
}

// Object returns the object that is baked. When its Place, Section or Parent changes, it is baked
// anew.
func (c *Context) Object() Object {
	o := c.list.objects[c.object]
	c.open("Object").asked = o.placing()
	return o
}

// Entity returns the entity of the object, a placeholder. It is there without a call too, and has
// the values that Put gives it.
func (c *Context) Entity() ecs.Entity { return c.open("Entity").placeholder(0) }

// Create makes another entity of the object, and returns its placeholder.
func (c *Context) Create() ecs.Entity {
	r := c.open("Create")
	r.made = append(r.made, made{})
	return r.placeholder(len(r.made) - 1)
}

// EntityOf returns a placeholder of the entity of another object, for values. It may be in another
// section: then the value has the entity while both sections are loaded. The bake fails if there is
// no such object.
func (c *Context) EntityOf(id string) ecs.Entity {
	return c.open("EntityOf").leads(id)
}

// Of returns the authoring data of another object. ok is false if there is no such object, or its
// data is no A. When its data changes, or it comes or goes, the asking object is baked anew.
func Of[A any](c *Context, id string) (v A, ok bool) {
	c.open("Of")
	c.depend(id)
	i, found := c.list.at[id]
	if !found {
		return v, false
	}
	v, ok = c.list.objects[i].Value.(A)
	return v, ok
}

func (c *Context) depend(id string) {
	c.record.reads = append(c.record.reads, read{id, c.list.digest(id)})
}

// File returns the content of a file of the bakery's Files, which must not be changed. When it
// changes, the object is baked anew.
func (c *Context) File(name string) ([]byte, error) {
	r := c.open("File")
	f := c.list.files.open(name)
	r.files = append(r.files, read{name, f.hash})
	return f.bytes, f.err
}

// open returns the record.
func (c *Context) open(op string) *record {
	if c == nil || c.record == nil {
		// errors.md: `scene: Context....: the baker has returned, or the context is nil` | A
		// context was kept, or used by a goroutine that the baker did not wait for. | Make all
		// entities before the baker returns.
		panic("scene: Context." + op + ": the baker has returned, or the context is nil")
	}
	return c.record
}

// made returns an entity of the record.
func (c *Context) made(op string, e ecs.Entity) *made {
	r := c.open(op)
	n := r.numberOf(e)
	if n < 0 {
		// errors.md: `scene: ...: ... is no entity of object ...` | Values were given to an entity
		// of another object, or of none. | Only an object's own baker makes its entities; others
		// may lead to them.
		panic(fmt.Sprintf("scene: %s: %v is no entity of object %s", op, e, c.list.objects[c.object].ID))
	}
	return &r.made[n]
}

// Put gives an entity a value of a component, a tag, a shared, a managed or a sparse type, by which
// T is registered; a later value of the same type replaces it. Entities in the value are
// placeholders of the context, or Null. It panics if T is not registered, or as two of these kinds.
func Put[T any](c *Context, e ecs.Entity, v T) {
	m := c.made("Put", e)
	k := c.kindOf("Put", c.b.byType, reflect.TypeFor[T]())
	switch c.b.kinds[k].Kind {
	case ecs.KindShared, ecs.KindManaged:
		c.record.managed = c.record.managed || c.b.kinds[k].Kind == ecs.KindManaged
		m.put(part{kind: k, value: v})
	default:
		// Safe because a component's type has no pointers, and its size is that of v.
		m.put(c.record.note(k, &c.b.kinds[k], unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))))
	}
}

// PutBuffer gives an entity a buffer with elements; a later call replaces them. It panics if there
// is no buffer of T.
func PutBuffer[T any](c *Context, e ecs.Entity, v ...T) {
	m := c.made("PutBuffer", e)
	k := c.kindOf("PutBuffer", c.b.buffers, reflect.TypeFor[T]())
	// Safe because a buffer's elements have no pointers, and are as large as these.
	m.put(c.record.note(k, &c.b.kinds[k], unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*c.b.kinds[k].size)))
}

// AddBlob returns a placeholder of the blob that a builder has, for values. The section has blobs
// of equal content once. The builder must not be changed afterwards. AddBlob panics unless the
// function that registers types calls blob.Register.
func AddBlob[T any](c *Context, b *blob.Builder[T]) blob.Blob[T] {
	r := c.open("AddBlob")
	if b == nil {
		// errors.md: `scene: AddBlob: the builder is nil` | There is none. | `blob.NewBuilder`.
		panic("scene: AddBlob: the builder is nil")
	}
	if !c.b.hasBlobs {
		// errors.md: `scene: AddBlob: the types of blobs are not registered` | Neither bakery nor
		// game would know them. | Call `blob.Register` in the function that registers types.
		panic("scene: AddBlob: the types of blobs are not registered: call blob.Register in the function that registers types")
	}
	r.blobs = append(r.blobs, blobMaker{reflect.TypeFor[T](), blob.Type[T](), func(s *blob.Store) (ecs.Entity, error) {
		made, err := blob.Add(s, b)
		return made.Entity(), err
	}})
	return blob.Of[T](door.Placeholder(len(r.blobs)-1, r.own+2))
}

// note copies bytes of a value, or of elements. What lies between fields is not copied: it may be
// anything, and files of equal values are equal.
func (r *record) note(number int, k *kind, b []byte) part {
	r.data = append(r.data, b...)
	p := part{kind: number, at: len(r.data) - len(b), n: len(b)}
	for first := p.at; len(k.gaps) > 0 && first < len(r.data); first += k.size {
		for _, g := range k.gaps {
			clear(r.data[first+g.from : first+g.to])
		}
	}
	return p
}

// gap is bytes of a value that no field has.
type gap struct{ from, to int }

// gapsOf appends the gaps of a type whose values are at an offset.
func gapsOf(gaps []gap, t reflect.Type, at int) []gap {
	switch t.Kind() {
	case reflect.Struct:
		end := 0
		for f := range t.Fields() {
			if int(f.Offset) > end {
				gaps = append(gaps, gap{at + end, at + int(f.Offset)})
			}
			if f.Name == "_" { // == does not compare it either
				continue
			}
			gaps = gapsOf(gaps, f.Type, at+int(f.Offset))
			end = int(f.Offset + f.Type.Size())
		}
		if int(t.Size()) > end {
			gaps = append(gaps, gap{at + end, at + int(t.Size())})
		}
	case reflect.Array:
		if len(gapsOf(nil, t.Elem(), 0)) > 0 {
			for i := range t.Len() {
				gaps = gapsOf(gaps, t.Elem(), at+i*int(t.Elem().Size()))
			}
		}
	}
	return gaps
}

// kindOf returns the type by which a Go type is registered.
func (c *Context) kindOf(op string, in map[reflect.Type]int, t reflect.Type) int {
	k, ok := in[t]
	switch {
	case !ok:
		// errors.md: `scene: ...: ... is not registered` | A baker gives a value of a type that the
		// bakery's function does not register. | Register it there.
		panic(fmt.Sprintf("scene: %s: %v is not registered", op, t))
	case k < 0:
		// errors.md: `scene: ...: ... is registered as two kinds` | A Go type is a component and a
		// shared type, say, so a value does not tell which. | Two Go types.
		panic(fmt.Sprintf("scene: %s: %v is registered as two kinds", op, t))
	case c.b.kinds[k].own:
		// errors.md: `scene: ...: ... is given by the bake` | A baker gives an `Identity` or a
		// `Tag`. | Leave it out.
		panic(fmt.Sprintf("scene: %s: %v is given by the bake", op, t))
	}
	return k
}
