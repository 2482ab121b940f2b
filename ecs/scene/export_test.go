package scene

import (
	"time"

	"quarry/ecs"
)

// SetPartRows sets the most entities of a part.
func SetPartRows(b *Bakery, n int) { b.partRows = n }

// MakeHead gives a world the head of a section, whatever it says; a link has a holder, a type and a
// local target.
func MakeHead(w *ecs.World, format, parts, entities uint32, names string, links ...[3]uint32) {
	t := register(w)
	e := ecs.NewArchetype(w, t.head, t.text, t.links).Create()
	t.head.Set(e, head{Format: format, Parts: parts, Entities: entities})
	for _, c := range []byte(names) {
		t.text.Append(e, text{c})
	}
	for _, l := range links {
		t.links.Append(e, link{Holder: l[0], Type: l[1], Sub: l[2]})
	}
}

// Pace is a pace that has noted steps of some items, in turn.
type Pace struct{ p pace }

func (p *Pace) Note(took time.Duration, items int)      { p.p.note(took, items) }
func (p *Pace) Fits(items int, left time.Duration) bool { return p.p.fits(items, left) }
