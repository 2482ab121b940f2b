package fuzz

import (
	"fmt"
	"slices"

	"quarry/alloc"
	"quarry/ecs"
)

// bufferKind has the additional methods of kinds that are buffers. They take the model's value and
// return the new one.
type bufferKind interface {
	appendTo(e ecs.Entity, old any, n int, seed uint64, at target, view bool) (now any, err error)
	appendOwn(e ecs.Entity, old any) (now any, err error)
	swapRemove(e ecs.Entity, old any, i int) (now any)
	clear(e ecs.Entity) (now any)
	length(v any) int
	inlined() int                          // elements that need no block
	elementBytes() int                     // bytes of one element
	grows(e ecs.Entity, n int) (bytes int) // bytes of the block for n more elements; 0: they fit
	appendAt(rows ecs.Rows, i int, old any, seed uint64, at target) (now any, err error)
	misuse(e ecs.Entity, change func() error) error
	edit(e ecs.Entity, old any, c edit) (now any, err error)
	editAt(rows ecs.Rows, i int, old any, c edit) (now any, err error)
}

// buffer is a kind with a growing array of T per entity.
type buffer[T comparable] struct {
	h      ecs.Buffer[T]
	enable bool
	inline int // elements inside the chunk
	size   int // bytes of one element
	growth alloc.Growth
	from   func(n uint64, at target) T
}

func (b buffer[T]) Type() ecs.Type           { return b.h }
func (b buffer[T]) buffer() bufferKind       { return b }
func (b buffer[T]) shared() sharedKind       { return nil }
func (b buffer[T]) listed() bool             { return false }
func (b buffer[T]) zero() any                { return []T(nil) }
func (b buffer[T]) value(uint64, target) any { return []T(nil) }
func (b buffer[T]) has(e ecs.Entity) bool    { return b.h.Has(e) }
func (b buffer[T]) length(v any) int         { return len(v.([]T)) }
func (b buffer[T]) inlined() int             { return b.inline }
func (b buffer[T]) elementBytes() int        { return b.size }

func (b buffer[T]) toggles() toggler {
	if b.enable {
		return b.h
	}
	return nil
}

func (b buffer[T]) same(e ecs.Entity, want any) error {
	got, ok := b.h.Get(e)
	switch {
	case ok != (want != nil):
		return fmt.Errorf("%v has a %v: got %v want %v", e, b.h, ok, want != nil)
	case !ok:
		return nil
	}
	return b.equal(got, want.([]T))
}

// equal compares a view with the model's elements.
func (b buffer[T]) equal(got ecs.DynamicBuffer[T], want []T) error {
	if got.Len() != len(want) || got.Cap() < len(want) || got.Cap() < b.inline {
		return fmt.Errorf("%v: got length %d, capacity %d, want %d elements, %d inline",
			b.h, got.Len(), got.Cap(), len(want), b.inline)
	}
	if s := got.Slice(); !slices.Equal(s, want) {
		return fmt.Errorf("%v: got %v want %v", b.h, s, want)
	}
	return nil
}

func (b buffer[T]) add(e ecs.Entity, _ any) (bool, error) {
	return tried(func() bool { return b.h.Add(e) })
}

func (b buffer[T]) remove(e ecs.Entity) (bool, error) {
	return tried(func() bool { return b.h.Remove(e) })
}

// set writes nothing: a buffer's whole value cannot be assigned.
func (b buffer[T]) set(e ecs.Entity, _ any, _ bool) bool {
	_, ok := b.h.Mut(e)
	return ok
}

func (b buffer[T]) changed(rows ecs.Rows, since uint32) bool { return b.h.Changed(rows, since) }

func (b buffer[T]) open(rows ecs.Rows) { b.h.At(rows, 0) }

func (b buffer[T]) compare(rows ecs.Rows, want func(i int) any) error {
	for i := range rows.Len() {
		if err := b.equal(b.h.At(rows, i), want(i).([]T)); err != nil {
			return fmt.Errorf("row %d, %v: %w", i, rows.Entities()[i], err)
		}
	}
	return nil
}

// fill writes nothing: new buffers are empty, and the model knows.
func (b buffer[T]) fill(ecs.Rows, func(i int) any) {}

// elements returns n new elements.
func (b buffer[T]) elements(n int, seed uint64, at target) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = b.from(mix(seed+uint64(i)), at)
	}
	return v
}

func (b buffer[T]) appendTo(e ecs.Entity, old any, n int, seed uint64, at target, view bool) (any, error) {
	v := b.elements(n, seed, at)
	var err error
	if view {
		d, ok := b.h.Mut(e)
		if !ok {
			return old, fmt.Errorf("%v has no %v to append to", e, b.h)
		}
		err = ecs.Try(func() { d.Append(v...) })
	} else {
		var ok bool
		if err = ecs.Try(func() { ok = b.h.Append(e, v...) }); err == nil && !ok {
			return old, fmt.Errorf("%v has no %v to append to", e, b.h)
		}
	}
	if err != nil {
		return old, err
	}
	return slices.Concat(old.([]T), v), nil
}

func (b buffer[T]) appendOwn(e ecs.Entity, old any) (any, error) {
	d, _ := b.h.Mut(e)
	if err := ecs.Try(func() { d.Append(d.Slice()...) }); err != nil {
		return old, err
	}
	return slices.Concat(old.([]T), old.([]T)), nil
}

func (b buffer[T]) appendAt(rows ecs.Rows, i int, old any, seed uint64, at target) (any, error) {
	v := b.elements(1, seed, at)
	if err := ecs.Try(func() { b.h.At(rows, i).Append(v...) }); err != nil {
		return old, err
	}
	return slices.Concat(old.([]T), v), nil
}

// grows follows the contract of Append: capacity grows by the policy, up to the limit. A block of
// up to a chunk may fit into one that the heap has.
func (b buffer[T]) grows(e ecs.Entity, n int) int {
	d, _ := b.h.Get(e)
	need := d.Len() + n
	if need <= d.Cap() {
		return 0
	}
	if need*b.size > alloc.MegachunkSize {
		return need * b.size
	}
	return min(b.growth.Next(d.Cap(), need), alloc.MegachunkSize/b.size) * b.size
}

func (b buffer[T]) swapRemove(e ecs.Entity, old any, i int) any {
	d, _ := b.h.Mut(e)
	d.SwapRemove(i)
	now := slices.Clone(old.([]T))
	now[i] = now[len(now)-1]
	return now[:len(now)-1]
}

func (b buffer[T]) clear(e ecs.Entity) any {
	d, _ := b.h.Mut(e)
	d.Clear()
	return []T(nil)
}

// misuse breaks the contract of e's buffer in every possible way; change makes a structural change
// that does not affect e.
func (b buffer[T]) misuse(e ecs.Entity, change func() error) error {
	read, _ := b.h.Get(e)
	write, _ := b.h.Mut(e)
	for _, f := range []func(){
		func() { write.SwapRemove(write.Len()) },
		func() { write.SwapRemove(-1) },
		func() { read.Append(b.from(1, e)) },
		func() { read.Clear() },
		func() { ecs.DynamicBuffer[T]{}.Len() },
	} {
		if err := panics("ecs: DynamicBuffer.", f); err != nil {
			return err
		}
	}
	if err := change(); err != nil {
		return err
	}
	return panics("ecs: DynamicBuffer.", func() { write.Len() })
}
