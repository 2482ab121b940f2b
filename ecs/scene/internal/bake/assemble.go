package bake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/hierarchy"
	"quarry/ecs/internal/door"
	"quarry/ecs/scene/internal/section"
)

// Assembly of a section's world from records.
//
// Terminology
//
//	object     a thing of the authoring data; it belongs to one section
//	record     what the baker of an object made: values of its entities as bytes, placeholders as
//	           entities (bakedobject.go)
//	sub        number of an entity in its record; the first, 0, stands for the object
//	value      of a record: one component, buffer or other value of one entity (the Go type notedValue)
//	part       of a section: at most PartRows entities whose objects follow one another, or those of
//	           one larger object; a scene loads them as one
//	group      the entities of one part with the same types, sparse ones too, and the same shared
//	           values; groups that differ in sparse types alone are of one archetype
//	number     of an entity in the section: subs counted over all objects in order
//
// A record knows its entities only as placeholders. Their number is an index and their buffer names
// what it is an index of; own is a multiple of 4:
//
//	buffer    own                own+1                    own+2            tag of the placeholder
//	number    sub                object in r.outside      blob in r.blobs
//	becomes   entity             entity, or placeholder   entity of the blob
//	                             of elsewhere
//
// The steps: group sorts entities by what they have, and adds the types Identity and Tag; create
// makes each group's rows, copies its columns and fills in the Identity. addBlobs, putAll and
// setParents then add what is not in columns: blobs, buffers, managed and sparse values, and
// parents. putAll also replaces the placeholders in all values (resolve), as all entities exist by
// then, and refuses shared values that have an entity:
//
//	object     record                       number    group
//	tree-1     0: Position, Height          0         [Position Height]    row 0
//	house      0: Position                  1         [Position]           row 0
//	           1: Position, Door            2         [Position Door]      row 0
//	tree-2     0: Position, Height          3         [Position Height]    row 1

// elsewhere is the buffer of placeholders for entities of other sections while a section's world is
// assembled. The buffers of records are multiples of 4, and these plus 1 and 2.
const elsewhere = ^uint32(0)

// assembly makes the world of a section from records.
type assembly struct {
	b       *Bakery
	list    *list
	records []*bakedObject
	objects []int // of the section, in order
	w       *ecs.World
	types   section.Types
	handles []ecs.Type // by kind
	links   *hierarchy.Hierarchy

	groups   []*rowGroup
	byKey    map[string]*rowGroup
	values   map[any]uint32       // numbers of shared values
	first    map[int]int          // number of the first entity of an object
	byID     map[uint64]int       // the same, by section.Hash of the ID
	entities []ecs.Entity         // by number
	outside  []int                // objects in other sections that entities of this one name
	blobs    map[int][]ecs.Entity // of an object
	adds     map[int]*ecs.Change  // of sparse types
	parts    uint32               // number of parts so far; while entities are grouped, the part that is being filled
}

// rowGroup is the entities of an archetype in one part of the section.
type rowGroup struct {
	types   []ecs.Type
	members []member
	part    uint32
}

// member is an entity to be created.
type member struct {
	object int
	sub    int
	number int
}

// assemble makes the world of a section, which the caller closes.
func (b *Bakery) assemble(l *list, records []*bakedObject, objects []int) (a *assembly, err error) {
	w, own, err := b.world()
	if err != nil {
		return nil, err
	}
	a = &assembly{
		b: b, list: l, records: records, objects: objects, w: w, types: own, byKey: map[string]*rowGroup{},
		values: map[any]uint32{},
		first:  map[int]int{}, byID: map[uint64]int{}, blobs: map[int][]ecs.Entity{}, adds: map[int]*ecs.Change{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	for _, info := range w.Components() {
		a.handles = append(a.handles, info.Type)
	}
	if err := a.group(); err != nil {
		return nil, err
	}
	for _, g := range a.groups {
		if err := a.create(g); err != nil {
			return nil, err
		}
	}
	if err := a.addBlobs(); err != nil {
		return nil, err
	}
	if err := a.putAll(); err != nil {
		return nil, err
	}
	if err := a.setParents(); err != nil {
		return nil, err
	}
	return a, nil
}

// refusal returns an error about an object.
func (a *assembly) refusal(object int, format string, args ...any) error {
	o := &a.list.objects[object]
	return &Error{
		Object: o.ID, Place: o.Place, Baker: a.b.bakers[reflect.TypeOf(o.Value)].name, Err: fmt.Errorf(format, args...),
	}
}

// group divides the entities into groups, in the order of the first entity of each.
func (a *assembly) group() error {
	parents := map[int]bool{}
	for _, o := range a.objects {
		if p := a.list.parent[o]; p >= 0 {
			parents[p] = true
		}
	}
	if len(parents) > 0 {
		known := len(a.handles)
		a.links = hierarchy.New(a.w)
		if len(a.w.Components()) > known {
			return fmt.Errorf("objects have parents, but the types of package hierarchy are not registered: call hierarchy.New in the function that registers types")
		}
	}
	n, inPart := 0, 0
	for _, o := range a.objects {
		r := a.records[o]
		a.first[o], a.byID[section.Hash(a.list.objects[o].ID)] = n, n
		if inPart > 0 && inPart+len(r.made) > a.b.PartRows {
			a.parts++
			inPart = 0
		}
		inPart += len(r.made)
		for sub := range r.made {
			var more []ecs.Type
			if sub == 0 && a.list.parent[o] >= 0 {
				more = append(more, a.links.ParentType())
			}
			if sub == 0 && parents[o] {
				more = append(more, a.links.ChildType())
			}
			g := a.groupOf(r, sub, more)
			g.members = append(g.members, member{o, sub, n + sub})
		}
		n += len(r.made)
	}
	a.parts++
	a.entities = make([]ecs.Entity, n)
	return nil
}

// groupOf returns the group of an entity of a record, in the part that is being filled.
func (a *assembly) groupOf(r *bakedObject, sub int, more []ecs.Type) *rowGroup {
	values := slices.Clone(r.made[sub].values)
	slices.SortFunc(values, func(x, y notedValue) int { return x.kind - y.kind })
	key := binary.LittleEndian.AppendUint32(nil, a.parts)
	for _, p := range values {
		key = binary.LittleEndian.AppendUint32(key, uint32(p.kind))
		if a.b.kinds[p.kind].Kind == ecs.KindShared {
			key = binary.LittleEndian.AppendUint32(key, a.valueNumber(p.value))
		}
	}
	for _, t := range more {
		key = binary.LittleEndian.AppendUint32(key, ^uint32(door.TypeIndex(a.w, t)))
	}
	g := a.byKey[string(key)]
	if g == nil {
		g = &rowGroup{part: a.parts, types: append(more, a.types.Identity, a.types.Tag.Of(0, a.parts))}
		for _, p := range values {
			switch t := a.handles[p.kind]; a.b.kinds[p.kind].Kind {
			case ecs.KindShared:
				g.types = append(g.types, door.SharedOf(a.w, t, p.value))
			case ecs.KindSparse:
			default:
				if !slices.Contains(more, t) {
					g.types = append(g.types, t)
				}
			}
		}
		a.byKey[string(key)] = g
		a.groups = append(a.groups, g)
	}
	return g
}

func (a *assembly) valueNumber(v any) uint32 {
	n, ok := a.values[v]
	if !ok {
		n = uint32(len(a.values))
		a.values[v] = n
	}
	return n
}

// create creates the entities of a group, with the values of components.
func (a *assembly) create(g *rowGroup) error {
	var to *ecs.Archetype
	err := ecs.Try(func() { to = ecs.NewArchetype(a.w, g.types...) })
	if err != nil {
		return err
	}
	batch, err := to.CreateN(len(g.members))
	if err != nil {
		return err
	}
	at := 0
	for rows := range batch.Rows() {
		members := g.members[at : at+rows.Len()]
		at += rows.Len()
		identities := a.types.Identity.Slice(rows)
		for i, e := range rows.Entities() {
			m := members[i]
			a.entities[m.number] = e
			identities[i] = section.Identity{Object: section.Hash(a.list.objects[m.object].ID), Sub: uint32(m.sub)}
		}
		for _, p := range a.records[members[0].object].made[members[0].sub].values {
			if a.b.kinds[p.kind].Kind == ecs.KindComponent && p.n > 0 {
				a.fill(rows.Bytes(a.handles[p.kind]), p.kind, members)
			}
		}
	}
	return nil
}

// fill copies the values of members to a column.
func (a *assembly) fill(column []byte, kind int, members []member) {
	for _, m := range members {
		r := a.records[m.object]
		for i := range r.made[m.sub].values {
			if p := &r.made[m.sub].values[i]; p.kind == kind {
				copy(column, r.data[p.at:p.at+p.n])
				column = column[p.n:]
				break
			}
		}
	}
}

// addBlobs adds the blobs of all objects, in their order.
func (a *assembly) addBlobs() error {
	var types []blob.TypeOf
	seen := map[reflect.Type]bool{}
	for _, o := range a.objects {
		for _, m := range a.records[o].blobs {
			if !seen[m.of] {
				seen[m.of] = true
				types = append(types, m.t)
			}
		}
	}
	if len(types) == 0 {
		return nil
	}
	s, err := blob.NewStore(a.w, types...)
	if err != nil {
		return err
	}
	for _, o := range a.objects {
		for _, m := range a.records[o].blobs {
			e, err := m.add(s)
			if err != nil {
				return a.refusal(o, "a blob: %w", err)
			}
			a.blobs[o] = append(a.blobs[o], e)
		}
	}
	return nil
}

// putAll sets all values that are not in columns, and replaces placeholders in all values.
func (a *assembly) putAll() error {
	for _, g := range a.groups {
		for _, m := range g.members {
			for i := range a.records[m.object].made[m.sub].values {
				if err := a.put(m, &a.records[m.object].made[m.sub].values[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (a *assembly) put(m member, p *notedValue) error {
	k, t, e := &a.b.kinds[p.kind], a.handles[p.kind], a.entities[m.number]
	data := a.records[m.object].data[p.at : p.at+p.n]
	var err error
	switch k.Kind {
	case ecs.KindBuffer:
		_, err = door.SetValue(a.w, e, t, k.elements(data))
	case ecs.KindManaged:
		_, err = door.SetValue(a.w, e, t, p.value)
	case ecs.KindSparse:
		c := a.adds[p.kind]
		if c == nil {
			c = ecs.NewChange(a.w, ecs.Add(t))
			a.adds[p.kind] = c
		}
		if _, err = c.Apply(e); err == nil {
			_, err = door.SetValue(a.w, e, t, k.value(data))
		}
	}
	if k.Kind == ecs.KindShared && hasEntity(reflect.ValueOf(p.value)) {
		return a.refusal(m.object, "its %s has an entity, but shared values of sections have none", k.Name)
	}
	if err != nil || !k.links || k.Kind == ecs.KindShared {
		return err
	}
	door.VisitLinks(a.w, e, t, func(to *ecs.Entity) {
		if *to != ecs.Null && err == nil {
			*to, err = a.resolve(m, p, *to)
		}
	})
	return err
}

// resolve returns the entity that an entity value of a record stands for. The entity of an object
// in another section becomes a placeholder of elsewhere.
func (a *assembly) resolve(m member, p *notedValue, e ecs.Entity) (ecs.Entity, error) {
	r := a.records[m.object]
	if n := r.numberOf(e); n >= 0 {
		return a.entities[a.first[m.object]+n], nil
	}
	if e.IsPlaceholder() {
		n, buffer := door.Number(e)
		if buffer == r.own+2 && n < len(r.blobs) {
			return a.blobs[m.object][n], nil
		}
		if buffer == r.own+1 && n < len(r.outside) {
			to := a.list.at[r.outside[n]]
			if first, here := a.first[to]; here {
				return a.entities[first], nil
			}
			a.outside = append(a.outside, to)
			return door.Placeholder(len(a.outside)-1, elsewhere), nil
		}
	}
	return e, a.refusal(m.object, "its %s has entity %v, which is neither one of the object nor from EntityOf",
		a.b.kinds[p.kind].Name, e)
}

// setParents sets the parents of the objects' first entities.
func (a *assembly) setParents() error {
	for _, o := range a.objects {
		if p := a.list.parent[o]; p >= 0 {
			if err := a.links.SetParent(a.entities[a.first[o]], a.entities[a.first[p]]); err != nil {
				return a.refusal(o, "its parent %s: %w", a.list.objects[p].ID, err)
			}
		}
	}
	return nil
}

// elements returns the elements of a buffer whose bytes are b.
func (k *linkedType) elements(b []byte) any {
	n := len(b) / max(k.size, 1)
	s := reflect.MakeSlice(reflect.SliceOf(k.Go), n, n)
	// Safe because the elements have no pointers, and take so many bytes.
	copy(unsafe.Slice((*byte)(s.UnsafePointer()), len(b)), b)
	return s.Interface()
}

// value returns the value whose bytes are b.
func (k *linkedType) value(b []byte) any {
	v := reflect.New(k.Go)
	// Safe because the value has no pointers, and takes so many bytes.
	copy(unsafe.Slice((*byte)(v.UnsafePointer()), len(b)), b)
	return v.Elem().Interface()
}

// hasEntity reports whether a value of a shared type has an entity.
func hasEntity(v reflect.Value) bool {
	if v.Type() == reflect.TypeFor[ecs.Entity]() {
		return !v.IsZero()
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if hasEntity(v.Field(i)) {
				return true
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			if hasEntity(v.Index(i)) {
				return true
			}
		}
	}
	return false
}
