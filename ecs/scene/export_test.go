package scene

import (
	"quarry/ecs"
	"quarry/ecs/scene/internal/section"
)

// SetPartRows sets the most entities of a part.
func SetPartRows(b *Bakery, n int) { b.core.PartRows = n }

// MakeHead gives a world the head of a section, with any content; a link has a holder, a type and a
// local target.
func MakeHead(w *ecs.World, format, parts, entities uint32, names string, links ...[3]uint32) {
	t := register(w)
	e := ecs.NewArchetype(w, t.Head, t.Text, t.Links).Create()
	t.Head.Set(e, section.Head{Format: format, Parts: parts, Entities: entities})
	for _, c := range []byte(names) {
		t.Text.Append(e, section.Text{Byte: c})
	}
	for _, l := range links {
		t.Links.Append(e, section.Link{Holder: l[0], Type: l[1], Sub: l[2]})
	}
}
