package section

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"

	"quarry/ecs"
	"quarry/internal/typename"
)

// Identity is scene.Identity.
type Identity struct {
	Object uint64
	Sub    uint32
	Local  uint32
}

// TagType is the handle of scene.Tag, the shared type whose values are an instance and a part.
type TagType struct {
	Type ecs.Type
	Of   func(instance, part uint32) ecs.SharedValue
	At   func(rows ecs.Rows) (instance, part uint32, ok bool)
}

// Hash is scene.ObjectID, and numbers sections likewise: FNV-1a, without 0.
func Hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return max(h.Sum64(), 1)
}

// Head is the component of the one entity of a section's file that describes it. It stays in the
// loader's world.
type Head struct {
	Format   uint32
	Parts    uint32
	Entities uint32
	_        uint32
}

// Format is the format of Head, Link and Text.
const Format = 1

// Text is an element of the head's names: that of the section, and those of the types in links,
// separated by zeros.
type Text struct{ Byte byte }

// Link is an entity that a part cannot keep in its rows when it moves: one of another part or
// section. An element of the head's buffer.
type Link struct {
	Holder  uint32 // local number of the entity that has it
	Type    uint32 // place in the names
	Nth     uint32 // which of the entities in the value
	Sub     uint32 // of the target
	Object  uint64 // of the target
	Section uint64 // Hash of the target's section; 0: the same, and Sub is a local number
}

// Stays is the tag of entities that were baked with ecs.DisabledEntity, while their section
// arrives.
type Stays struct{}

// Types are the handles of what package scene registers in a world.
type Types struct {
	Identity ecs.Component[Identity]
	Tag      TagType
	Head     ecs.Component[Head]
	Text     ecs.Buffer[Text]
	Links    ecs.Buffer[Link]
	Stays    ecs.Component[Stays]
}

// Own returns the types, which no baker gives a value of.
func (t Types) Own() []ecs.Type {
	return []ecs.Type{t.Identity, t.Tag.Type, t.Head, t.Text, t.Links, t.Stays}
}

// Describe makes the head of a section: names are its own, and those of the types in links.
func (t Types) Describe(w *ecs.World, parts, entities uint32, names []string, links []Link) error {
	var a *ecs.Archetype
	err := ecs.Try(func() { a = ecs.NewArchetype(w, t.Head, t.Text, t.Links) })
	if err != nil {
		return err
	}
	var e ecs.Entity
	err = ecs.Try(func() { e = a.Create() })
	if err != nil {
		return err
	}
	t.Head.Set(e, Head{Format: Format, Parts: parts, Entities: entities})
	text := strings.Join(names, "\x00")
	elements := make([]Text, len(text))
	for i := range elements {
		elements[i].Byte = text[i]
	}
	to, _ := t.Text.Mut(e)
	if err := ecs.Try(func() { to.CopyFrom(elements) }); err != nil {
		return err
	}
	all, _ := t.Links.Mut(e)
	return ecs.Try(func() { all.CopyFrom(slices.Clip(links)) })
}

// Names returns the name of the section whose head is e, and of each type in links the name and
// where the entities in its values were when the file was made.
func (t Types) Names(e ecs.Entity) (name string, types []string, paths [][]string) {
	text := make([]byte, 0, 64)
	for _, c := range t.Text.Slice(e) {
		text = append(text, c.Byte)
	}
	names := strings.Split(string(text), "\x00")
	for _, n := range names[1:] {
		of, list, _ := strings.Cut(n, "\x01")
		types, paths = append(types, of), append(paths, strings.Split(list, ","))
	}
	return names[0], types, paths
}

// NameOf returns what the head has of a type in links.
func NameOf(info ecs.ComponentInfo) string {
	return TypeName(info) + "\x01" + strings.Join(Paths(nil, info.Go, ""), ",")
}

// TypeName returns the name of a type by which a program finds it.
func TypeName(info ecs.ComponentInfo) string {
	return fmt.Sprintf("%v %s", info.Kind, typename.Of(info.Go))
}

// Paths appends where the entities in a value of a type lie, in order: A, List[2].Of.
func Paths(to []string, t reflect.Type, path string) []string {
	switch {
	case t.Size() == 0:
	case t == reflect.TypeFor[ecs.Entity]():
		return append(to, path)
	case t.Kind() == reflect.Array:
		if len(Paths(nil, t.Elem(), "")) > 0 {
			for i := range t.Len() {
				to = Paths(to, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
			}
		}
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			to = Paths(to, f.Type, strings.TrimPrefix(path+"."+f.Name, "."))
		}
	}
	return to
}
