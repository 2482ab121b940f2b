package ecs

import (
	"io"

	"quarry/ecs/internal/delta"
)

// ApplyDelta reads one delta, as EncodeDelta writes it, and makes w, which is in the older state,
// equal to the newer one: the same entities in the same rows, with the same values, enable bits,
// elements, shared and sparse values and names, and the same next ids. The two have the same Hash.
// Rows that come or differ are marked changed at the world's version, which stays; nothing else is.
// Values of managed types and chunk types are exceptions: an archetype with the former may not
// differ, and the latter are merged where w's chunks have other rows than the sender's.
//
// Archetypes without rows come too, and those that the newer state does not have are given up, but
// for those of NewArchetype and of snapshots. If w's archetypes begin with those of the older
// state, in its order, as after Fork, image.Open and deltas before, they are then those of the
// newer state in its order, by which queries go, and w's own behind them; else only those with rows
// come in that order.
//
// w must have the types of the delta, with the same layouts and options, and the tag of the
// sender's world, as the worlds have that Snapshot.Fork makes, and as the first worlds of two
// programs have. Types that only archetypes without rows have may be missing. Each archetype that
// differs is compared: its entities, and the bytes that are replaced; what does not differ is not
// read.
//
// The delta is read as a whole before the world is looked at. It may have MaxDelta bytes, or as
// many as a reader with a Len method says that it has, such as a bytes.Reader: a stream without end
// is refused by the length that it states. To read from the network while others need the world, or
// within another bound, see DecodeDelta and Delta.ApplyTo.
//
// ApplyDelta is for bytes of strangers: whatever they say is checked before w changes; only the
// values may be any.
//
// An error that wraps ErrDelta says why the delta does not fit: damage, another base, types. An
// error of the reader is wrapped too. If there is no room, the error is a *LimitError. After any
// error w is as before. ApplyDelta is a structural change: it panics inside a loop over rows, and
// invalidates batches. No goroutine may reserve ids meanwhile. Cost: proportional to the delta and
// to the entities of archetypes that differ; where archetypes came or went, a look at each. Rows
// that move are copied through Go memory.
func (w *World) ApplyDelta(r io.Reader) error { return delta.ApplyDelta(w.inner(), r) }

// ApplyTo makes a world what World.ApplyDelta would make it of the delta's bytes. The delta comes
// from DecodeDelta or Diff; it stays as it is, and may be applied to any number of worlds.
func (d *Delta) ApplyTo(w *World) error {
	const op = "Delta.ApplyTo"
	w.inner().CheckNew(op)
	if d == nil || d.core.IDs == nil {
		panic("ecs: Delta.ApplyTo: the delta is nil or the zero value; deltas come from Diff and DecodeDelta")
	}
	return delta.Apply(w.inner(), op, d.inner())
}
