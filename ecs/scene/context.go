package scene

import (
	"reflect"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/scene/internal/bake"
)

// Context is what a baker makes entities by, and asks for what it depends on. It is valid until the
// baker returns, in one goroutine at a time.
type Context struct{ core bake.Context }

func (c *Context) inner() *bake.Context {
	return (*bake.Context)(unsafe.Pointer(c)) // Safe because a Context is its core.
}

// Object returns the object that is baked. When its Place, Section or Parent changes, it is baked
// anew.
func (c *Context) Object() Object { return Object(c.inner().Object()) }

// Entity returns the entity of the object, a placeholder. It is there without a call too, and has
// the values that Put gives it.
func (c *Context) Entity() ecs.Entity { return c.inner().Entity() }

// Create makes another entity of the object, and returns its placeholder.
func (c *Context) Create() ecs.Entity { return c.inner().Create() }

// EntityOf returns a placeholder of the entity of another object, for values. It may be in another
// section: then the value has the entity while both sections are loaded. The bake fails if there is
// no such object.
func (c *Context) EntityOf(id string) ecs.Entity { return c.inner().EntityOf(id) }

// Of returns the authoring data of another object. ok is false if there is no such object, or its
// data is no A. When its data changes, or it comes or goes, the asking object is baked anew.
func Of[A any](c *Context, id string) (v A, ok bool) {
	v, ok = c.inner().Of(id).(A)
	return v, ok
}

// File returns the content of a file of the bakery's Files, which must not be changed. When it
// changes, the object is baked anew.
func (c *Context) File(name string) ([]byte, error) { return c.inner().File(name) }

// Put gives an entity a value of a component, a tag, a shared, a managed or a sparse type, by which
// T is registered; a later value of the same type replaces it. Entities in the value are
// placeholders of the context, or Null. It panics if T is not registered, or as two of these kinds.
func Put[T any](c *Context, e ecs.Entity, v T) {
	// Safe because a component's type has no pointers, and its size is that of v.
	b := unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))
	c.inner().Put(e, reflect.TypeFor[T](), b, func() any { return v })
}

// PutBuffer gives an entity a buffer with elements; a later call replaces them. It panics if there
// is no buffer of T.
func PutBuffer[T any](c *Context, e ecs.Entity, v ...T) {
	// Safe because a buffer's elements have no pointers, and are as large as these.
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
	c.inner().PutBuffer(e, reflect.TypeFor[T](), b)
}

// AddBlob returns a placeholder of the blob that a builder has, for values. The section has blobs
// of equal content once. The builder must not be changed afterwards. AddBlob panics unless the
// function that registers types calls blob.Register.
func AddBlob[T any](c *Context, b *blob.Builder[T]) blob.Blob[T] {
	return blob.Of[T](c.inner().AddBlob(b == nil, reflect.TypeFor[T](), blob.Type[T],
		func(s *blob.Store) (ecs.Entity, error) {
			made, err := blob.Add(s, b)
			return made.Entity(), err
		}))
}
