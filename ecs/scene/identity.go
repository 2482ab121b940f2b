package scene

import (
	"quarry/ecs"
	"quarry/ecs/scene/internal/section"
)

// Identity is the component by which an entity of a scene is known in every program, and after
// every bake: ids of entities are of one world, an Identity is not. 16 bytes.
type Identity struct {
	Object uint64 // ObjectID of the object that led to the entity; 0: a baking system made it
	Sub    uint32 // number of the entity among those of the object; 0 is Context.Entity
	Local  uint32 // number of the entity in its section; another bake may give it another
}

var _ = section.Identity(Identity{}) // a handle of the one is converted to one of the other

// Tag is the shared value of all entities of a section. In a file the instance is 0.
type Tag struct {
	Instance uint32 // which loading of a section, see Instance.Number
	Part     uint32 // which part of it; a part moves into the host's world at once
}

// Types of the package's own, named as files have them.
type (
	head  section.Head
	text  section.Text
	link  section.Link
	stays section.Stays
)

// Register registers what scenes need in a world: Identity, Tag, and types of the package's own.
// NewBakery and NewHost call it. A program that opens a section's file as a world of its own calls
// it in the function that registers types. It panics like ecs.Register.
func Register(w *ecs.World) { register(w) }

func register(w *ecs.World) (t section.Types) {
	t.Identity = ecs.Component[section.Identity](ecs.Register[Identity](w))
	tag := ecs.RegisterShared[Tag](w)
	t.Tag.Type = tag
	t.Tag.Of = func(instance, part uint32) ecs.SharedValue { return tag.Of(Tag{instance, part}) }
	t.Tag.At = func(rows ecs.Rows) (instance, part uint32, ok bool) {
		v, ok := tag.At(rows)
		return v.Instance, v.Part, ok
	}
	t.Head = ecs.Component[section.Head](ecs.Register[head](w))
	t.Text = ecs.Buffer[section.Text](ecs.RegisterBuffer[text](w, ecs.Inline(0)))
	t.Links = ecs.Buffer[section.Link](ecs.RegisterBuffer[link](w, ecs.Inline(0)))
	t.Stays = ecs.Component[section.Stays](ecs.Register[stays](w))
	return t
}

// registering returns a function that registers a program's types in a world, and then those of the
// package, and returns the handles of these.
func registering(types func(*ecs.World)) func(*ecs.World) section.Types {
	return func(w *ecs.World) section.Types {
		types(w)
		return register(w)
	}
}

// ObjectID returns the number by which an Identity names an object: a hash of its id.
func ObjectID(id string) uint64 { return section.Hash(id) }
