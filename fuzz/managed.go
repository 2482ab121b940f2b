package fuzz

import (
	"fmt"

	"quarry/ecs"
)

// managed is a kind with one T per entity, in Go memory. For the model, having no value yet is the
// same as having a zero value; World.Verify knows how many values there are.
type managed[T comparable] struct {
	h    ecs.Managed[T]
	from func(n uint64, at target) T
}

func (m managed[T]) Type() ecs.Type                           { return m.h }
func (m managed[T]) toggles() toggler                         { return nil }
func (m managed[T]) buffer() bufferKind                       { return nil }
func (m managed[T]) shared() sharedKind                       { return nil }
func (m managed[T]) listed() bool                             { return false }
func (m managed[T]) value(n uint64, at target) any            { return m.from(n, at) }
func (m managed[T]) has(e ecs.Entity) bool                    { return m.h.Has(e) }
func (m managed[T]) open(rows ecs.Rows)                       { m.h.At(rows, 0) }
func (m managed[T]) changed(rows ecs.Rows, since uint32) bool { return m.h.Changed(rows, since) }

func (m managed[T]) zero() any {
	var v T
	return v
}

func (m managed[T]) same(e ecs.Entity, want any) error {
	if has := m.h.Has(e); has != (want != nil) {
		return fmt.Errorf("%v has a %v: got %v want %v", e, m.h, has, want != nil)
	}
	if want == nil {
		if p := m.h.Get(e); p != nil {
			return fmt.Errorf("%v: %v: got %v want none", e, m.h, *p)
		}
		return nil
	}
	return m.equal(m.h.Get(e), want)
}

// equal compares a value, nil for none yet, with the model's.
func (m managed[T]) equal(p *T, want any) error {
	var got T
	if p != nil {
		got = *p
	}
	if got != want.(T) {
		return fmt.Errorf("%v: got %v want %v", m.h, got, want)
	}
	return nil
}

func (m managed[T]) add(e ecs.Entity, v any) (bool, error) {
	return tried(func() bool { return m.h.Add(e, v.(T)) })
}

func (m managed[T]) remove(e ecs.Entity) (bool, error) {
	return tried(func() bool { return m.h.Remove(e) })
}

func (m managed[T]) set(e ecs.Entity, v any, mut bool) bool {
	if !mut {
		return m.h.Set(e, v.(T))
	}
	p := m.h.Mut(e)
	if p != nil {
		*p = v.(T)
	}
	return p != nil
}

func (m managed[T]) compare(rows ecs.Rows, want func(i int) any) error {
	for i := range rows.Len() {
		if err := m.equal(m.h.At(rows, i), want(i)); err != nil {
			return fmt.Errorf("row %d, %v: %w", i, rows.Entities()[i], err)
		}
	}
	return nil
}

func (m managed[T]) fill(rows ecs.Rows, value func(i int) any) {
	for i := range rows.Len() {
		if p, v := m.h.At(rows, i), value(i); v != nil {
			*p = v.(T)
		}
	}
}

// many writes by Mut and Set in turn, because a managed kind has no look-up of many entities.
func (m managed[T]) many(list []ecs.Entity, want, write func(i int) any) error {
	for i, e := range list {
		if err := m.same(e, want(i)); err != nil {
			return err
		}
	}
	for i, e := range list {
		if write != nil && m.h.Has(e) {
			m.set(e, write(i), i%2 == 0)
		}
	}
	return nil
}

func (m managed[T]) values(*ecs.Query, func(i int) any, int) error    { return nil }
func (m managed[T]) setValues(*ecs.Query, func(i int) any, int) error { return nil }

func (m managed[T]) absent(rows ecs.Rows) error {
	if m.h.In(rows) || m.h.Changed(rows, 0) {
		return fmt.Errorf("%v: In or Changed find what the chunk lacks", m.h)
	}
	return panics("ecs: ", func() { m.h.At(rows, 0) })
}
