package scene

import "quarry/ecs/scene/internal/bake"

// Object is a piece of authoring data: what a person or a tool wrote, of which a baker makes
// entities.
type Object struct {
	ID      string // unique among the objects of a bake, and the same in the next one
	Place   string // where it stands in the input, for messages: town.json:12
	Section string // which it belongs to, named as a file can be on every system; "" is main
	Parent  string // ID of the object under which it is in the hierarchy, in the same section; "" for none
	Value   any    // authoring data; its Go type chooses the baker
}

// String names the object for messages.
func (o *Object) String() string { return (*bake.Object)(o).String() }

// Error is an error of a bake about one object. Object is its id; Place is where it stands in the
// input; Baker is the name of the baker, or "" if none was asked yet; Err is what the baker
// returned, or what is wrong with the object; Stack is that of a baker that panicked. It wraps Err.
type Error = bake.Error
