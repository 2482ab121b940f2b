package edit

import (
	"fmt"
	"reflect"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// SetAny sets e's value of a type to x, a value of the Go type, or a slice of it for a buffer, and
// marks it changed. It returns false if e is not alive or lacks the type. A shared value moves the
// row.
func SetAny(w *world.World, op string, e entity.ID, info *world.Type, x any) (bool, error) {
	w.CheckOwn(op, info)
	want := info.Go
	if info.Kind == world.KindBuffer {
		want = reflect.SliceOf(want)
	}
	v := reflect.ValueOf(x)
	if !v.IsValid() || v.Type() != want && want.Kind() != reflect.Interface {
		panic(fmt.Sprintf("ecs: %s: a value of %s is a %v, not a %T", op, info.Name, want, x))
	}
	switch info.Kind {
	case world.KindShared:
		if p, _ := info.OwnerLookup().LookUp(world.OpHas, e); p == nil {
			return false, nil
		}
		c := &Change{World: w}
		c.TakePart(&Part{Types: []Given{{info, w.SharedOf(op, info, x).Value}}, Put: true})
		return c.Apply(e)
	case world.KindBuffer:
		b, ok := info.Open(world.OpBufferMut, e, true)
		if !ok {
			return false, nil
		}
		return true, b.CopyFrom(op, v.UnsafePointer(), v.Len())
	}
	p := info.AnyValue(op, e)
	if p == nil {
		return false, nil
	}
	reflect.NewAt(info.Go, p).Elem().Set(v) // Safe because p points to a value of the type.
	return true, nil
}
