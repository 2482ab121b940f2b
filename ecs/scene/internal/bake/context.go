package bake

import (
	"fmt"
	"reflect"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/internal/door"
)

// Context is scene.Context.
type Context struct {
	b      *Bakery
	list   *list
	object int
	record *bakedObject
}

// Object is scene.Context.Object.
func (c *Context) Object() Object {
	o := c.list.objects[c.object]
	c.open("Object").asked = o.placing()
	return o
}

// Entity is scene.Context.Entity.
func (c *Context) Entity() ecs.Entity { return c.open("Entity").placeholder(0) }

// Create is scene.Context.Create.
func (c *Context) Create() ecs.Entity {
	r := c.open("Create")
	r.made = append(r.made, made{})
	return r.placeholder(len(r.made) - 1)
}

// EntityOf is scene.Context.EntityOf.
func (c *Context) EntityOf(id string) ecs.Entity { return c.open("EntityOf").leads(id) }

// Of is scene.Of: nil if there is no such object.
func (c *Context) Of(id string) any {
	r := c.open("Of")
	r.reads = append(r.reads, read{id, c.list.digest(id)})
	if i, found := c.list.at[id]; found {
		return c.list.objects[i].Value
	}
	return nil
}

// File is scene.Context.File.
func (c *Context) File(name string) ([]byte, error) {
	r := c.open("File")
	f := c.list.files.open(name)
	r.files = append(r.files, read{name, f.hash})
	return f.bytes, f.err
}

// open returns the record.
func (c *Context) open(op string) *bakedObject {
	if c == nil || c.record == nil {
		panic("scene: Context." + op + ": the baker has returned, or the context is nil")
	}
	return c.record
}

// made returns an entity of the record.
func (c *Context) made(op string, e ecs.Entity) *made {
	r := c.open(op)
	n := r.numberOf(e)
	if n < 0 {
		panic(fmt.Sprintf("scene: %s: %v is no entity of object %s", op, e, c.list.objects[c.object].ID))
	}
	return &r.made[n]
}

// Put is scene.Put, of a value whose bytes are b; value returns it, for types whose values stay Go
// values.
func (c *Context) Put(e ecs.Entity, t reflect.Type, b []byte, value func() any) {
	m := c.made("Put", e)
	k := c.kindOf("Put", c.b.byType, t)
	switch c.b.kinds[k].Kind {
	case ecs.KindShared, ecs.KindManaged:
		c.record.managed = c.record.managed || c.b.kinds[k].Kind == ecs.KindManaged
		m.put(notedValue{kind: k, value: value()})
	default:
		m.put(c.record.note(k, &c.b.kinds[k], b))
	}
}

// PutBuffer is scene.PutBuffer, of elements whose bytes are b.
func (c *Context) PutBuffer(e ecs.Entity, t reflect.Type, b []byte) {
	m := c.made("PutBuffer", e)
	k := c.kindOf("PutBuffer", c.b.buffers, t)
	m.put(c.record.note(k, &c.b.kinds[k], b))
}

// AddBlob is scene.AddBlob, of a builder that may be nil.
func (c *Context) AddBlob(isNil bool, of reflect.Type, t func() blob.TypeOf,
	add func(*blob.Store) (ecs.Entity, error)) ecs.Entity {
	r := c.open("AddBlob")
	if isNil {
		panic("scene: AddBlob: the builder is nil")
	}
	if !c.b.hasBlobs {
		panic("scene: AddBlob: the types of blobs are not registered: call blob.Register in the function that registers types")
	}
	r.blobs = append(r.blobs, blobMaker{of, t(), add})
	return door.Placeholder(len(r.blobs)-1, r.own+2)
}

// kindOf returns the type by which a Go type is registered.
func (c *Context) kindOf(op string, in map[reflect.Type]int, t reflect.Type) int {
	k, ok := in[t]
	switch {
	case !ok:
		panic(fmt.Sprintf("scene: %s: %v is not registered", op, t))
	case k < 0:
		panic(fmt.Sprintf("scene: %s: %v is registered as two kinds", op, t))
	case c.b.kinds[k].own:
		panic(fmt.Sprintf("scene: %s: %v is given by the bake", op, t))
	}
	return k
}
