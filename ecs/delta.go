package ecs

import (
	"iter"
	"unsafe"

	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// Delta is what differs between two states of a world. It reads both when it is walked, so walks
// panic once one of the snapshots is closed or renewed. A Delta is not changed by walking, and its
// bytes, which EncodeDelta writes without the snapshots, are those of the moment at which it was
// made.
type Delta struct{ core delta.Delta }

func (d *Delta) inner() *delta.Delta  { return (*delta.Delta)(unsafe.Pointer(d)) } // Safe because a Delta is its core.
func deltaFrom(d *delta.Delta) *Delta { return (*Delta)(unsafe.Pointer(d)) }       // Safe because a Delta is its core.

// IsEmpty reports whether the two states are the same, and have the same archetypes in the same
// order, those without rows too.
func (d *Delta) IsEmpty() bool {
	return len(d.core.Tables) == 0 && len(d.core.IDs.Steps) == 0 && d.core.IDs.From == d.core.IDs.To && len(d.core.IDs.Reserved) == 0 &&
		len(d.core.Sparse) == 0 && len(d.core.Names) == 0 && d.core.Roster == nil && d.core.Created[0] == d.core.Created[1] && d.core.Destroyed[0] == d.core.Destroyed[1]
}

// Born yields the entities that are alive in the newer state only, in order of archetypes and rows.
func (d *Delta) Born() iter.Seq[Entity] { return seqOf(d.inner().Born()) }

// Died yields the entities that are alive in the older state only, in order of archetypes and rows.
func (d *Delta) Died() iter.Seq[Entity] { return seqOf(d.inner().Died()) }

// Moved yields the entities that are alive in both states and have other types or shared values in
// the newer one, with both archetypes; Gained and Lost tell which types came and went.
func (d *Delta) Moved() iter.Seq2[Entity, [2]*Archetype] {
	d.inner().CheckWalk("Delta.Moved")
	return func(yield func(Entity, [2]*Archetype) bool) {
		d.inner().EachMoved(func(e entity.ID, from, to *world.Archetype) bool {
			return yield(Entity(e), [2]*Archetype{archetypeFrom(from), archetypeFrom(to)})
		})
	}
}

// Renamed yields the entities that are alive in the newer state and have another name than before,
// with the name, which is "" where it was removed.
func (d *Delta) Renamed() iter.Seq2[Entity, string] {
	renamed := d.inner().Renamed()
	return func(yield func(Entity, string) bool) { renamed(idNamed(yield)) }
}

// ErrDelta is wrapped by the errors of deltas that do not fit, and of worlds that cannot be
// compared.
var ErrDelta = delta.ErrDelta

// MaxDelta is how many bytes a delta may have that ApplyDelta reads, unless its reader says that it
// has more.
const MaxDelta = delta.MaxDelta
