package load

import (
	"bytes"
	"math"
	"reflect"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/internal/door"
	"quarry/ecs/scene/internal/section"
)

// base is what a section's file has, kept beside the game's world, to be compared with the next.
// Its entity values are taken out of the rows, so that those are compared without ids.
type base struct {
	*opened
	at    []ecs.Entity // by local number
	links map[valueAt][]linkTo
	infos []ecs.ComponentInfo
}

// valueAt names a value of the base.
type valueAt struct {
	local uint32
	of    string // section.TypeName
}

// linkTo is an entity value: the n-th of a value leads to the entity with an Identity.
type linkTo struct {
	nth     uint32
	object  uint64
	sub     uint32
	section uint64 // 0: the same
}

func newBase(file []byte, path string, register func(*ecs.World) section.Types, options []image.Option) (*base, error) {
	o, err := openFrom(bytes.NewReader(file), path, register, nil, options)
	if err != nil {
		return nil, err
	}
	b := &base{opened: o, at: make([]ecs.Entity, o.count), links: map[valueAt][]linkTo{}}
	for _, info := range o.w.Components() {
		if info.Kind != ecs.KindChunk && !o.isOwn(info.Type) {
			b.infos = append(b.infos, info)
		}
	}
	q := ecs.NewQuery(o.w, ecs.Read(o.types.Identity), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	for rows := range q.Rows() {
		list := rows.Entities()
		for i, id := range o.types.Identity.Slice(rows) {
			b.at[id.Local] = list[i]
		}
	}
	q.Close()
	for _, l := range o.out {
		key := valueAt{l.Holder, o.names[l.Type]}
		b.links[key] = append(b.links[key], linkTo{l.Nth, l.Object, l.Sub, l.Section})
	}
	for _, info := range b.infos {
		if info.Kind != ecs.KindShared && len(door.FactsOf(info.Type).Links) > 0 {
			b.strip(info)
		}
	}
	return b, nil
}

func (o *opened) isOwn(t ecs.Type) bool {
	for _, own := range o.types.Own() {
		if door.TypeIndex(o.w, own) == door.TypeIndex(o.w, t) {
			return true
		}
	}
	return false
}

// strip takes the entities out of all values of a type.
func (b *base) strip(info ecs.ComponentInfo) {
	name := section.TypeName(info)
	for local, e := range b.at {
		key, nth := valueAt{uint32(local), name}, uint32(0)
		door.VisitLinks(b.w, e, info.Type, func(to *ecs.Entity) {
			if *to != ecs.Null {
				if id := b.types.Identity.Get(*to); id != nil {
					b.links[key] = append(b.links[key], linkTo{nth, id.Object, id.Sub, 0})
				}
				*to = ecs.Null
			}
			nth++
		})
	}
}

// edit is what a newer base makes of an entity that an older one has too.
type edit struct {
	id      section.Identity // of the newer
	values  []newValue
	removed []string // types
	renamed bool
	name    string
}

// newValue is a value that an entity gets.
type newValue struct {
	of      string // section.TypeName
	value   any
	links   []linkTo
	enables bool // the type has bits
	enabled bool
}

// equals reports whether two values are the same, those that are no numbers too.
func (v newValue) equals(other newValue) bool {
	if reflect.DeepEqual(v, other) {
		return true
	}
	a, b := v.value, other.value
	if a == nil || b == nil || !sameBits(reflect.ValueOf(a), reflect.ValueOf(b)) {
		return false
	}
	v.value, other.value = nil, nil
	return reflect.DeepEqual(v, other)
}

// sameBits compares values without pointers, floats by their bits.
func sameBits(a, b reflect.Value) bool {
	switch {
	case a.Type() != b.Type():
		return false
	case a.CanFloat():
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if !sameBits(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case a.Kind() == reflect.Slice || a.Kind() == reflect.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameBits(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	return a.Comparable() && a.Equal(b)
}

// replacement is what leads from a base to a newer one.
type replacement struct {
	gone  []section.Identity // of the older
	born  []section.Identity // of the newer
	edits []edit
}

// compare returns what leads from b to a newer base.
func (b *base) compare(newer *base) (c replacement) {
	old, is := b.byID, newer.byID
	for len(old) > 0 || len(is) > 0 {
		order := 0
		switch {
		case len(old) == 0:
			order = 1
		case len(is) == 0:
			order = -1
		default:
			order = compareIdentity(old[0], is[0])
		}
		switch {
		case order < 0:
			c.gone, old = append(c.gone, old[0]), old[1:]
		case order > 0:
			c.born, is = append(c.born, is[0]), is[1:]
		default:
			if e, differs := b.compareEntity(old[0], newer, is[0]); differs {
				c.edits = append(c.edits, e)
			}
			old, is = old[1:], is[1:]
		}
	}
	return c
}

func (b *base) compareEntity(old section.Identity, newer *base, id section.Identity) (d edit, differs bool) {
	d.id = id
	before, now := b.at[old.Local], newer.at[id.Local]
	for _, info := range b.infos {
		if is, ok := newer.infoOf(info); has(b.w, before, info) && !(ok && has(newer.w, now, is)) {
			d.removed = append(d.removed, section.TypeName(info))
		}
	}
	for _, info := range newer.infos {
		if !has(newer.w, now, info) {
			continue
		}
		v := newer.value(id.Local, info)
		if was, ok := b.infoOf(info); !ok || !has(b.w, before, was) || !b.value(old.Local, was).equals(v) {
			d.values = append(d.values, v)
		}
	}
	if d.name = newer.w.Name(now); d.name != b.w.Name(before) {
		d.renamed = true
	}
	return d, len(d.values) > 0 || len(d.removed) > 0 || d.renamed
}

// value returns an entity's value of a type.
func (b *base) value(local uint32, info ecs.ComponentInfo) newValue {
	e := b.at[local]
	name := section.TypeName(info)
	return newValue{name, b.w.Value(e, info.Type), b.links[valueAt{local, name}], info.Enableable,
		info.Enableable && door.Enabled(b.w, e, info.Type)}
}

// infoOf returns the base's type for that of another base.
func (b *base) infoOf(of ecs.ComponentInfo) (ecs.ComponentInfo, bool) {
	for _, info := range b.infos {
		if info.Go == of.Go && info.Kind == of.Kind {
			return info, true
		}
	}
	return ecs.ComponentInfo{}, false
}

// has reports whether an entity has a type.
func has(w *ecs.World, e ecs.Entity, info ecs.ComponentInfo) bool {
	if info.Kind == ecs.KindSparse {
		return w.Value(e, info.Type) != nil
	}
	at, ok := w.Locate(e)
	return ok && at.Archetype.Has(info.Type)
}
