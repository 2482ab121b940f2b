package bake

import (
	"fmt"
	"reflect"
	"slices"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/internal/door"
	"quarry/ecs/scene/internal/section"
)

// finishing gives the world of a section what its file has beside the entities: numbers, and the
// head with the links that do not move with a part.
type finishing struct {
	*assembly
	where []place // by index of entity
	order []ecs.Entity
	names []string // of types
	known map[ecs.Type]uint32
	links []section.Link
}

// place is where an entity of a section is.
type place struct {
	local uint32 // plus 1; 0: nowhere
	part  uint32
}

// finish runs the systems and makes the world that of a file.
func (a *assembly) finish(name string) (*finishing, error) {
	for _, s := range a.b.systems {
		if err := s.call(a.w); err != nil {
			return nil, fmt.Errorf("section %s: baking system %s: %w", name, s.name, err)
		}
	}
	if a.w.Closed() {
		return nil, fmt.Errorf("section %s: a baking system closed the world", name)
	}
	if n := destroyed(a.w); n > 0 {
		return nil, fmt.Errorf("section %s: systems left %d entities with Cleanup types that are to be destroyed",
			name, n)
	}
	f := &finishing{assembly: a, known: map[ecs.Type]uint32{}}
	if err := f.tag(); err != nil {
		return nil, err
	}
	if err := f.number(); err != nil {
		return nil, fmt.Errorf("section %s: %w", name, err)
	}
	f.collect()
	return f, f.types.Describe(f.w, f.parts, uint32(len(f.order)), append([]string{name}, f.names...), f.links)
}

// destroyed returns how many entities were destroyed and still have Cleanup types.
func destroyed(w *ecs.World) (n int) {
	q := ecs.NewQueryOfAll(w)
	defer q.Close()
	for rows := range q.Rows() {
		if slices.ContainsFunc(rows.Archetype().Components(),
			func(c ecs.ComponentInfo) bool { return c.Go == reflect.TypeFor[ecs.CleanupEntity]() }) {
			n += rows.Len()
		}
	}
	return n
}

// call runs a baking system.
func (s *bakingSystem) call(w *ecs.World) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return s.run(w)
}

// tag gives the entities that systems made what others have.
func (f *finishing) tag() error {
	for _, c := range []struct {
		lacks ecs.Type
		give  ecs.Part
	}{{f.types.Identity, ecs.Add(f.types.Identity)}, {f.types.Tag.Type, ecs.Put(f.types.Tag.Of(0, f.parts-1))}} {
		q := ecs.NewQuery(f.w, ecs.Without(c.lacks), ecs.IncludeDisabled(), ecs.IncludePrefabs())
		_, err := ecs.NewChange(f.w, c.give).ApplyQuery(q)
		if q.Close(); err != nil {
			return err
		}
	}
	return nil
}

// number numbers the entities in the order of rows (S3). A copy that a system made of an entity has
// its Identity, and gets another.
func (f *finishing) number() error {
	q := ecs.NewQuery(f.w, ecs.Write(f.types.Identity), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer q.Close()
	others := uint32(0)
	for rows := range q.Rows() {
		instance, part, _ := f.types.Tag.At(rows)
		if instance != 0 || part >= f.parts {
			return fmt.Errorf("a baking system gave %d entities the tag {Instance:%d Part:%d}, of %d parts",
				rows.Len(), instance, part, f.parts)
		}
		identities := f.types.Identity.Slice(rows)
		for i, e := range rows.Entities() {
			id := &identities[i]
			if first, ok := f.byID[id.Object]; !ok || first+int(id.Sub) >= len(f.entities) ||
				f.entities[first+int(id.Sub)] != e {
				if hash, ok := f.blobHash(e); ok {
					*id = section.Identity{Object: hash} // so a blob of other content is another entity
				} else {
					*id = section.Identity{Sub: others}
					others++
				}
			}
			id.Local = uint32(len(f.order))
			if n := e.Index() + 1; n > len(f.where) {
				f.where = append(f.where, make([]place, max(n-len(f.where), len(f.where)))...)
			}
			f.where[e.Index()] = place{id.Local + 1, part}
			f.order = append(f.order, e)
		}
	}
	return nil
}

// blobHash returns the hash of a blob, if the entity is one.
func (f *finishing) blobHash(e ecs.Entity) (uint64, bool) {
	if !f.b.hasBlobs {
		return 0, false
	}
	return blob.HashOf(f.w, e)
}

// collect notes the entity values that do not move with their parts (S4).
func (f *finishing) collect() {
	var sparse []ecs.Type
	for _, info := range f.w.Components() {
		if info.Kind == ecs.KindSparse && len(door.FactsOf(info.Type).Links) > 0 {
			sparse = append(sparse, info.Type)
		}
	}
	byArchetype := map[*ecs.Archetype][]ecs.Type{}
	for local, e := range f.order {
		at, _ := f.w.Locate(e)
		linked, ok := byArchetype[at.Archetype]
		if !ok {
			for _, info := range at.Archetype.Components() {
				if info.Kind != ecs.KindShared && info.Kind != ecs.KindChunk && len(door.FactsOf(info.Type).Links) > 0 {
					linked = append(linked, info.Type)
				}
			}
			byArchetype[at.Archetype] = linked
		}
		for _, t := range linked {
			f.collectOf(uint32(local), e, t)
		}
		for _, t := range sparse {
			f.collectOf(uint32(local), e, t)
		}
	}
}

func (f *finishing) collectOf(local uint32, e ecs.Entity, t ecs.Type) {
	part, nth := f.where[e.Index()].part, uint32(0)
	door.VisitLinks(f.w, e, t, func(to *ecs.Entity) {
		l := section.Link{Holder: local, Nth: nth}
		nth++
		switch {
		case *to == ecs.Null:
			return
		case to.IsPlaceholder():
			n, buffer := door.Number(*to)
			if buffer != elsewhere || n >= len(f.outside) {
				*to = ecs.Null // of a command buffer that a system has
				return
			}
			o := &f.list.objects[f.outside[n]]
			l.Object, l.Section = section.Hash(o.ID), section.Hash(o.section())
			*to = ecs.Null
		case !f.w.Alive(*to) || f.where[to.Index()].part == part:
			return
		default:
			l.Sub = f.where[to.Index()].local - 1 // of the section itself: the local number
		}
		l.Type = f.nameOf(t)
		f.links = append(f.links, l)
	})
}

// nameOf returns the place of a type among the names.
func (f *finishing) nameOf(t ecs.Type) uint32 {
	n, ok := f.known[t]
	if !ok {
		n = uint32(len(f.names))
		f.known[t] = n
		f.names = append(f.names, section.NameOf(ecs.InfoOf(t)))
	}
	return n
}
