package scene

import (
	"hash/fnv"

	"quarry/ecs"
)

// Identity is the component by which an entity of a scene is known in every program, and after
// every bake: ids of entities are of one world, an Identity is not. 16 bytes.
type Identity struct {
	Object uint64 // ObjectID of the object that led to the entity; 0: a baking system made it
	Sub    uint32 // number of the entity among those of the object; 0 is Context.Entity
	Local  uint32 // number of the entity in its section; another bake may give it another
}

// Tag is the shared value of all entities of a section. In a file the instance is 0.
type Tag struct {
	Instance uint32 // which loading of a section, see Instance.Number
	Part     uint32 // which part of it; a part moves into the host's world at once
}

// head is the component of the one entity of a section's file that describes it. It stays in the
// loader's world.
type head struct {
	Format   uint32
	Parts    uint32
	Entities uint32
	_        uint32
}

// headFormat is the format of head, link and text.
const headFormat = 1

// text is an element of the head's names: that of the section, and those of the types in links,
// separated by zeros.
type text struct{ Byte byte }

// link is an entity that a part cannot keep in its rows when it moves: one of another part or
// section. An element of the head's buffer.
type link struct {
	Holder  uint32 // local number of the entity that has it
	Type    uint32 // place in the names
	Nth     uint32 // which of the entities in the value
	Sub     uint32 // of the target
	Object  uint64 // of the target
	Section uint64 // SectionID of the target's section
}

// stays is the tag of entities that were baked with ecs.DisabledEntity, while their section
// arrives.
type stays struct{}

// types are the handles of what the package registers in a world.
type types struct {
	identity ecs.Component[Identity]
	tag      ecs.Shared[Tag]
	head     ecs.Component[head]
	text     ecs.Buffer[text]
	links    ecs.Buffer[link]
	stays    ecs.Component[stays]
}

// Register registers what scenes need in a world: Identity, Tag, and types of the package's own.
// NewBakery and NewHost call it. A program that opens a section's file as a world of its own calls
// it in the function that registers types. It panics like ecs.Register.
func Register(w *ecs.World) { register(w) }

func register(w *ecs.World) types {
	return types{
		identity: ecs.Register[Identity](w), tag: ecs.RegisterShared[Tag](w),
		head: ecs.Register[head](w), text: ecs.RegisterBuffer[text](w, ecs.Inline(0)), links: ecs.RegisterBuffer[link](w, ecs.Inline(0)),
		stays: ecs.Register[stays](w),
	}
}

// own returns the types of the package, which no baker gives a value of.
func (t types) own() []ecs.Type {
	return []ecs.Type{t.identity, t.tag, t.head, t.text, t.links, t.stays}
}

// ObjectID returns the number by which an Identity names an object: a hash of its id.
func ObjectID(id string) uint64 { return hash(id) }

// SectionID returns the number by which links name a section.
func SectionID(name string) uint64 { return hash(name) }

// hash is FNV-1a, without 0.
func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return max(h.Sum64(), 1)
}
