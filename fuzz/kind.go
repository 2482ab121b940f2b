package fuzz

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"quarry/alloc"
	"quarry/ecs"
)

// The component types of the world under test. Their sizes cover the widths that have code of their
// own (0, 8, 16 bytes), odd widths, inner padding, links to entities and enable bits.

type (
	mark  struct{}
	flag  struct{ V uint8 }             // 1 B
	tint  struct{ R, G, B uint8 }       // 3 B
	count struct{ V int32 }             // 4 B, not in a component
	link  struct{ Of ecs.Entity }       // 8 B
	vec   struct{ X, Y, Z float32 }     // 12 B
	point struct{ X, Y float64 }        // 16 B
	wide  struct{ A, B, C, D, E int64 } // 40 B
	gaps  struct {
		A uint8
		B uint32
		C uint16
	} // 12 B, 5 of them padding
	stun   struct{ Left float32 } // 4 B, enableable
	hidden struct{}               // enableable
	hit    struct {               // 12 B, in a buffer
		By     ecs.Entity
		Damage int32
	}
	team struct{ V uint8 } // shared, with few values
	cell struct {          // shared, with many values
		X    float64
		Name any
	}
	desk   struct{ V uint8 }  // shared, cleanup
	socket struct{ FD int32 } // 4 B, cleanup
	note   struct {           // 16 B, in a buffer, cleanup
		To   ecs.Entity
		Text int64
	}
	spacer[A, B any] struct{} // uses up a type number
)

// kinds is a set of types: bit i stands for type i of a world.
type kinds uint32

func (s kinds) has(k int) bool { return s>>k&1 != 0 }
func (s kinds) len() int       { return bits.OnesCount32(uint32(s)) }

// maxKinds is the length of tables by kind.
const maxKinds = chunkMarksKind + 1

// Two kinds are the tags that hide entities from queries. The kinds after them are chosen by the
// header's size, and the last by a flag.
const (
	managedKind             = 5
	firstShared             = 16
	sharedKinds             = 3
	linkedKind              = 21
	cleanupEntityKind       = 22
	chunkMarksKind          = 23
	sharing           kinds = (1<<sharedKinds - 1) << firstShared
	cleanupKinds      kinds = 7 << 18 // cleanup types: one shared, a component, a buffer

	offKind          = 14
	prefabKind       = 15
	hiding     kinds = 1<<offKind | 1<<prefabKind
	bare       kinds = 1 | 1<<9 | hiding | 1<<chunkMarksKind // those without storage in rows
	// So small that a unit may have just as many rows without them.
	small kinds = 1<<1 | 1<<8
)

// laterKinds returns the kinds that the upper bits of a header's size choose.
func laterKinds(bits uint8) (some kinds) {
	for i, set := range [...]kinds{1 << firstShared, 1 << (firstShared + 1), 1 << 19, 1<<18 | 1<<20, 1 << linkedKind} {
		if bits>>i&1 != 0 {
			some |= set
		}
	}
	return some
}

// kind is one type of the world under test as the model sees it: a component's value is a T in an
// any, a buffer's value is a []T that is never written in place.
type kind interface {
	Type() ecs.Type
	toggles() toggler              // nil: not enableable
	buffer() bufferKind            // nil: a component
	shared() sharedKind            // nil: each entity has its own value
	listed() bool                  // it has Values, GetList and Uninitialized
	zero() any                     // the value of a new entity
	value(n uint64, at target) any // a value that n decides
	has(e ecs.Entity) bool
	same(e ecs.Entity, want any) error // Get finds this value
	add(e ecs.Entity, v any) (bool, error)
	remove(e ecs.Entity) (bool, error)
	set(e ecs.Entity, v any, mut bool) bool
	changed(rows ecs.Rows, since uint32) bool
	compare(rows ecs.Rows, want func(i int) any) error // every row
	fill(rows ecs.Rows, value func(i int) any)         // every row for which value does not return nil
	open(rows ecs.Rows)                                // takes the slice, or a buffer, of the rows
	absent(rows ecs.Rows) error                        // the rows' chunk lacks the type, which is optional
	many(list []ecs.Entity, want, write func(i int) any) error
	values(q *ecs.Query, want func(i int) any, n int) error
	setValues(q *ecs.Query, v func(i int) any, n int) error
}

// target is the entity in a value that holds one.
type target = ecs.Entity

// toggler has the additional methods of enableable components.
type toggler interface {
	Enable(e ecs.Entity) bool
	Disable(e ecs.Entity) bool
	Enabled(e ecs.Entity) bool
	EnableQuery(q *ecs.Query) int
	DisableQuery(q *ecs.Query) int
	EnableList(list []ecs.Entity) int
	DisableList(list []ecs.Entity) int
}

// eachSame reports the first entity of a list in which Get does not find the value wanted.
func eachSame(c kind, list []ecs.Entity, want func(i int) any) error {
	for i, e := range list {
		if err := c.same(e, want(i)); err != nil {
			return err
		}
	}
	return nil
}

// component is a kind with one T per entity.
type component[T comparable] struct {
	h      ecs.Component[T]
	enable bool
	from   func(n uint64, at target) T
}

func (c component[T]) Type() ecs.Type     { return c.h }
func (c component[T]) buffer() bufferKind { return nil }
func (c component[T]) shared() sharedKind { return nil }
func (c component[T]) listed() bool       { return true }

func (c component[T]) toggles() toggler {
	if c.enable {
		return c.h
	}
	return nil
}

func (c component[T]) zero() any {
	var t T
	return t
}

func (c component[T]) value(n uint64, at target) any { return c.from(n, at) }
func (c component[T]) has(e ecs.Entity) bool         { return c.h.Has(e) }

func (c component[T]) same(e ecs.Entity, want any) error {
	p := c.h.Get(e)
	switch {
	case want == nil && p != nil:
		return fmt.Errorf("%v has a %v: got %v want none", e, c.h, *p)
	case want == nil:
		return nil
	case p == nil:
		return fmt.Errorf("%v: %v: got none want %v", e, c.h, want)
	case *p != want.(T):
		return fmt.Errorf("%v: %v: got %v want %v", e, c.h, *p, want)
	}
	return nil
}

func (c component[T]) add(e ecs.Entity, v any) (bool, error) {
	return tried(func() bool { return c.h.Add(e, v.(T)) })
}

func (c component[T]) remove(e ecs.Entity) (bool, error) {
	return tried(func() bool { return c.h.Remove(e) })
}

func (c component[T]) set(e ecs.Entity, v any, mut bool) bool {
	if !mut {
		return c.h.Set(e, v.(T))
	}
	p := c.h.Mut(e)
	if p != nil {
		*p = v.(T)
	}
	return p != nil
}

func (c component[T]) changed(rows ecs.Rows, since uint32) bool { return c.h.Changed(rows, since) }

func (c component[T]) open(rows ecs.Rows) { c.h.Slice(rows) }

func (c component[T]) compare(rows ecs.Rows, want func(i int) any) error {
	got := c.h.Slice(rows)
	if len(got) != rows.Len() {
		return fmt.Errorf("%v: slice of %d rows: got %d elements", c.h, rows.Len(), len(got))
	}
	for i := range got {
		if v := want(i); got[i] != v.(T) {
			return fmt.Errorf("row %d, %v: %v: got %v want %v", i, rows.Entities()[i], c.h, got[i], v)
		}
	}
	return nil
}

func (c component[T]) fill(rows ecs.Rows, value func(i int) any) {
	s := c.h.Slice(rows)
	for i := range s {
		if v := value(i); v != nil {
			s[i] = v.(T)
		}
	}
}

// register registers the types of a world under test; the order decides their numbers. With apart,
// other types are registered between them, so that numbers go beyond the first words of a
// signature; with copied, snapshots and files have the values of the managed type.
func register(w *ecs.World, apart, copied bool) []kind {
	spread := func(f func(*ecs.World)) {
		if apart {
			f(w)
		}
	}
	list := []kind{
		component[mark]{h: ecs.Register[mark](w), from: func(uint64, target) mark { return mark{} }},
		component[flag]{h: ecs.Register[flag](w), from: func(n uint64, _ target) flag { return flag{uint8(n)} }},
		component[wide]{h: ecs.Register[wide](w), from: func(n uint64, _ target) wide {
			return wide{int64(n), int64(mix(n)), -int64(n), 4, int64(n << 32)}
		}},
		component[stun]{h: ecs.Register[stun](w, ecs.Enableable), enable: true,
			from: func(n uint64, _ target) stun { return stun{float32(n % 1000)} }},
		buffer[hit]{h: ecs.RegisterBuffer[hit](w), inline: 128 / 12, size: 12, growth: alloc.Doubling(),
			from: func(n uint64, at target) hit { return hit{at, int32(n)} }},
	}
	spread(spaceAll[mark])
	var texts []ecs.TypeOption
	if copied {
		texts = []ecs.TypeOption{ecs.CopyWith(func(from *string) string { return *from }), ecs.Codec(
			func(b []byte, v *string) ([]byte, error) { return append(b, *v...), nil },
			func(b []byte, v *string) error { *v = string(b); return nil })}
	}
	list = append(list,
		managed[string]{h: ecs.RegisterManaged[string](w, texts...), from: func(n uint64, _ target) string {
			return strconv.FormatUint(n, 36)
		}},
		component[link]{h: ecs.Register[link](w), from: func(_ uint64, at target) link { return link{at} }},
		buffer[uint16]{h: ecs.RegisterBuffer[uint16](w, ecs.Inline(0), ecs.Growth(alloc.Fixed(90)), ecs.Enableable),
			enable: true, inline: 0, size: 2, growth: alloc.Fixed(90),
			from: func(n uint64, _ target) uint16 { return uint16(n) }},
		component[tint]{h: ecs.Register[tint](w), from: func(n uint64, _ target) tint {
			return tint{uint8(n), uint8(n >> 8), uint8(n >> 16)}
		}},
		component[hidden]{h: ecs.Register[hidden](w, ecs.Enableable), enable: true,
			from: func(uint64, target) hidden { return hidden{} }},
	)
	spread(spaceAll[flag])
	return append(list,
		component[vec]{h: ecs.Register[vec](w), from: func(n uint64, _ target) vec {
			return vec{float32(n % 1000), float32(n % 77), -1}
		}},
		component[point]{h: ecs.Register[point](w), from: func(n uint64, _ target) point {
			return point{float64(n % 100_000), -float64(n % 99)}
		}},
		buffer[wide]{h: ecs.RegisterBuffer[wide](w, ecs.Inline(2)), inline: 2, size: 40, growth: alloc.Doubling(),
			from: func(n uint64, _ target) wide { return wide{A: int64(n), E: -int64(n)} }},
		component[gaps]{h: ecs.Register[gaps](w), from: func(n uint64, _ target) gaps {
			return gaps{uint8(n), uint32(mix(n)), uint16(n >> 3)}
		}},
		component[ecs.DisabledEntity]{h: ecs.Register[ecs.DisabledEntity](w),
			from: func(uint64, target) ecs.DisabledEntity { return ecs.DisabledEntity{} }},
		component[ecs.Prefab]{h: ecs.Register[ecs.Prefab](w), from: func(uint64, target) ecs.Prefab {
			return ecs.Prefab{}
		}},
		shared[team]{h: ecs.RegisterShared[team](w), from: func(n uint64) team { return team{uint8(n % 6)} }},
		shared[cell]{h: ecs.RegisterShared[cell](w), from: cellOf},
		shared[desk]{h: ecs.RegisterShared[desk](w, ecs.Cleanup), from: func(n uint64) desk {
			return desk{uint8(n % 3)}
		}},
		component[socket]{h: ecs.Register[socket](w, ecs.Cleanup), from: func(n uint64, _ target) socket {
			return socket{int32(n)}
		}},
		buffer[note]{h: ecs.RegisterBuffer[note](w, ecs.Cleanup, ecs.Inline(1)), inline: 1, size: 16,
			growth: alloc.Doubling(),
			from:   func(n uint64, at target) note { return note{at, int64(n)} }},
		buffer[ecs.LinkedEntity]{h: ecs.RegisterBuffer[ecs.LinkedEntity](w), inline: 128 / 8, size: 8,
			growth: alloc.Doubling(),
			from:   func(_ uint64, at target) ecs.LinkedEntity { return ecs.LinkedEntity{Entity: at} }},
		component[ecs.CleanupEntity]{
			h: ecs.Register[ecs.CleanupEntity](w), from: func(uint64, target) ecs.CleanupEntity {
				return ecs.CleanupEntity{}
			},
		},
		chunked[chunkMarks]{h: ecs.RegisterChunk[chunkMarks](w, ecs.Merge(unite))},
	)
}

// cellOf returns one of about a hundred cells, some of which have a NaN or a -0.
func cellOf(n uint64) cell {
	c := cell{X: float64(n % 60), Name: [...]any{nil, "north", 7}[n>>8%3]}
	switch n >> 16 & 15 {
	case 0:
		c.X = math.NaN()
	case 1:
		c.X = math.Copysign(0, -1)
	}
	return c
}

// spaceAll registers 64 types that nothing uses.
func spaceAll[A any](w *ecs.World) {
	space[A, mark](w)
	space[A, flag](w)
	space[A, tint](w)
	space[A, count](w)
	space[A, link](w)
	space[A, vec](w)
	space[A, point](w)
	space[A, wide](w)
}

func space[A, B any](w *ecs.World) {
	ecs.Register[spacer[A, spacer[B, mark]]](w)
	ecs.Register[spacer[A, spacer[B, flag]]](w)
	ecs.Register[spacer[A, spacer[B, tint]]](w)
	ecs.Register[spacer[A, spacer[B, count]]](w)
	ecs.Register[spacer[A, spacer[B, link]]](w)
	ecs.Register[spacer[A, spacer[B, vec]]](w)
	ecs.Register[spacer[A, spacer[B, point]]](w)
	ecs.Register[spacer[A, spacer[B, wide]]](w)
}
