package scene

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/internal/door"
)

// finishing gives the world of a section what its file has beside the entities: numbers, and the
// head with the links that do not move with a part.
type finishing struct {
	*assembly
	where []place // by index of entity
	order []ecs.Entity
	names []string // of types
	known map[ecs.Type]uint32
	links []link
}

// place is where an entity of a section is.
type place struct {
	local uint32 // plus 1; 0: nowhere
	part  uint32
}

// finish runs the systems and makes the world that of a file.
func (a *assembly) finish(section string) (*finishing, error) {
	for _, s := range a.b.systems {
		if err := s.call(a.w); err != nil {
			return nil, fmt.Errorf("section %s: baking system %s: %w", section, s.name, err)
		}
	}
	if a.w.Closed() {
		return nil, fmt.Errorf("section %s: a baking system closed the world", section)
	}
	if n := destroyed(a.w); n > 0 {
		return nil, fmt.Errorf("section %s: systems left %d entities with Cleanup types that are to be destroyed", section, n)
	}
	f := &finishing{assembly: a, known: map[ecs.Type]uint32{}}
	if err := f.tag(); err != nil {
		return nil, err
	}
	if err := f.number(); err != nil {
		return nil, fmt.Errorf("section %s: %w", section, err)
	}
	f.collect()
	names := []byte(section)
	for _, n := range f.names {
		names = append(append(names, 0), n...)
	}
	return f, f.describe(names)
}

// destroyed returns how many entities were destroyed and still have Cleanup types.
func destroyed(w *ecs.World) (n int) {
	q := ecs.NewQueryOfAll(w)
	defer q.Close()
	for rows := range q.Rows() {
		if slices.ContainsFunc(rows.Archetype().Components(), func(c ecs.ComponentInfo) bool { return c.Go == reflect.TypeFor[ecs.CleanupEntity]() }) {
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
	}{{f.types.identity, ecs.Add(f.types.identity)}, {f.types.tag, ecs.Put(f.types.tag.Of(Tag{Part: f.parts - 1}))}} {
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
	q := ecs.NewQuery(f.w, ecs.Write(f.types.identity), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer q.Close()
	others := uint32(0)
	for rows := range q.Rows() {
		tag, _ := f.types.tag.At(rows)
		if tag.Instance != 0 || tag.Part >= f.parts {
			return fmt.Errorf("a baking system gave %d entities the tag %+v, of %d parts", rows.Len(), tag, f.parts)
		}
		identities := f.types.identity.Slice(rows)
		for i, e := range rows.Entities() {
			id := &identities[i]
			if first, ok := f.byID[id.Object]; !ok || first+int(id.Sub) >= len(f.entities) || f.entities[first+int(id.Sub)] != e {
				if hash, ok := f.blobHash(e); ok {
					*id = Identity{Object: hash} // so a blob of other content is another entity
				} else {
					*id = Identity{Sub: others}
					others++
				}
			}
			id.Local = uint32(len(f.order))
			if n := e.Index() + 1; n > len(f.where) {
				f.where = append(f.where, make([]place, max(n-len(f.where), len(f.where)))...)
			}
			f.where[e.Index()] = place{id.Local + 1, tag.Part}
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
		l := link{Holder: local, Nth: nth}
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
			l.Object, l.Section = ObjectID(o.ID), SectionID(o.section())
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
		info := ecs.InfoOf(t)
		f.names = append(f.names, typeName(info)+"\x01"+strings.Join(linkPaths(nil, info.Go, ""), ","))
	}
	return n
}

// typeName returns the name of a type by which a program finds it.
func typeName(info ecs.ComponentInfo) string {
	return fmt.Sprintf("%v %s", info.Kind, fullName(info.Go))
}

func fullName(t reflect.Type) string {
	if t.Name() == "" {
		return t.String()
	}
	return t.PkgPath() + "." + t.Name()
}

// linkPaths appends where the entities in a value of a type lie, in order: A, List[2].Of.
func linkPaths(to []string, t reflect.Type, path string) []string {
	switch {
	case t.Size() == 0:
	case t == reflect.TypeFor[ecs.Entity]():
		return append(to, path)
	case t.Kind() == reflect.Array:
		if len(linkPaths(nil, t.Elem(), "")) > 0 {
			for i := range t.Len() {
				to = linkPaths(to, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
			}
		}
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			to = linkPaths(to, f.Type, strings.TrimPrefix(path+"."+f.Name, "."))
		}
	}
	return to
}

// describe makes the head.
func (f *finishing) describe(names []byte) error {
	a, err := ecs.TryNewArchetype(f.w, f.types.head, f.types.text, f.types.links)
	if err != nil {
		return err
	}
	e, err := a.TryCreate()
	if err != nil {
		return err
	}
	f.types.head.Set(e, head{Format: headFormat, Parts: f.parts, Entities: uint32(len(f.order))})
	texts := make([]text, len(names))
	for i, c := range names {
		texts[i].Byte = c
	}
	to, _ := f.types.text.Mut(e)
	if err := to.TryCopyFrom(texts); err != nil {
		return err
	}
	links, _ := f.types.links.Mut(e)
	return links.TryCopyFrom(slices.Clip(f.links))
}
