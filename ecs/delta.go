package ecs

import (
	"fmt"
	"io"
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
	return len(d.core.Tables) == 0 && len(d.core.IDs.Steps) == 0 && d.core.IDs.From == d.core.IDs.To &&
		len(d.core.IDs.Reserved) == 0 &&
		len(d.core.Sparse) == 0 && len(d.core.Names) == 0 && d.core.Roster == nil &&
		d.core.Created[0] == d.core.Created[1] && d.core.Destroyed[0] == d.core.Destroyed[1]
}

// Born yields the entities that are alive in the newer state only, in order of archetypes and rows.
func (d *Delta) Born() iter.Seq[Entity] { return seqOf(d.inner().Born()) }

// Died yields the entities that are alive in the older state only, in order of archetypes and rows.
func (d *Delta) Died() iter.Seq[Entity] { return seqOf(d.inner().Died()) }

// Moved yields the entities that are alive in both states and have other types or shared values in
// the newer one, with both archetypes; Gained and Lost yield the types that came and went.
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

// Diff returns what changed in a world from an older snapshot to a newer one, exact by bytes: the
// entities that were born and died, types that they gained and lost, values, elements of buffers,
// enable bits, shared values, sparse entries and names. Two snapshots are older and newer by the
// order in which they were taken, also if the world was restored in between; only if the restore
// took back blocks of 8,192 ids that the older one has, Diff refuses.
//
// Any goroutine may call Diff. The delta can be walked until one of the snapshots is closed or
// renewed; to keep it, see EncodeDelta. The error wraps ErrDelta: the snapshots are of different
// worlds or in the wrong order, or values of managed types or shared values cannot be compared; or
// it means that a snapshot is lost, or is a *LimitError.
//
// Cost: units of 16 KiB that were not written in between are not looked at. Of those that were, and
// of all archetypes of which rows came, went or moved, both states are copied and compared; of the
// ids, both records are, 8 bytes each.
func Diff(older, newer *Snapshot) (*Delta, error) {
	const op = "Diff"
	for _, s := range [...]*Snapshot{older, newer} {
		s.inner().Begin(op)
		defer s.core.Reading.Add(-1)
		s.inner().CheckOpen(op)
	}
	if older.core.World != newer.core.World || older.core.Layer.Number() > newer.core.Layer.Number() {
		return nil, fmt.Errorf("ecs: Diff: %w: the snapshots are of different worlds, or in the wrong order", ErrDelta)
	}
	c := delta.Comparing{Older: older.inner(), Newer: newer.inner(), Same: map[*world.Archetype]*world.Archetype{}}
	if err := c.Open(); err != nil {
		return nil, world.WithOp(op, err)
	}
	made, err := delta.Diff(&c.OlderWorld.World, &c.NewerWorld.World, c.Written, &c)
	return deltaFrom(made), err
}

// Changed yields each entity with each type that it has in both states and of which it has other
// bytes, elements or another enable bit than before, once. Types that it did not have before are
// in Gained, whatever their values, and those that it no longer has in Lost. Values of chunk types
// are not among them, nor values that are shared: with another one an entity has moved. The types
// are handles as those of ComponentInfo.Type, of the world that took the snapshots.
func (d *Delta) Changed() iter.Seq2[Entity, Type] {
	d.inner().CheckWalk("Delta.Changed")
	return func(yield func(Entity, Type) bool) { d.inner().EachChanged(byHandle(yield)) }
}

// byHandle returns yield for callers that have types instead of handles. A snapshot's copy of a
// type has the handle of the world's.
func byHandle(yield func(Entity, Type) bool) func(entity.ID, *world.Type) bool {
	return func(e entity.ID, t *world.Type) bool { return yield(Entity(e), handleOf(t)) }
}

// Gained yields each entity that is alive in both states with each type that it has in the newer
// one alone, of every kind; Values returns the value. Types are as those of Changed.
func (d *Delta) Gained() iter.Seq2[Entity, Type] {
	d.inner().CheckWalk("Delta.Gained")
	return func(yield func(Entity, Type) bool) { d.inner().EachGained(byHandle(yield)) }
}

// Lost yields each entity that is alive in both states with each type that it has in the older one
// alone, of every kind; Values returns the value. Types are as those of Changed.
func (d *Delta) Lost() iter.Seq2[Entity, Type] {
	d.inner().CheckWalk("Delta.Lost")
	return func(yield func(Entity, Type) bool) { d.inner().EachLost(byHandle(yield)) }
}

// Values returns copies of e's value of a type in the older and in the newer state, as World.Value
// does: nil in a state in which e is not alive or lacks the type, and of a managed type without
// CopyWith. It panics as walks do, and for an entity or a type of another world. Cost: reflection,
// and allocations.
func (d *Delta) Values(e Entity, t Type) (was, is any) {
	const op = "Delta.Values"
	d.inner().CheckWalk(op)
	info, of := infoOf(op, t), d.core.Newer
	if live := of.Types.List[0].Live; live != nil {
		of = live.World
	}
	of.CheckOwn(op, info)
	return delta.ValueNumbered(d.core.Older, op, entity.ID(e), info.ID),
		delta.ValueNumbered(d.core.Newer, op, entity.ID(e), info.ID)
}

// EncodeDelta writes a delta for World.ApplyDelta, at once or, where a column has more than 64 KiB
// of differences, in pieces. The error is w's. Cost: proportional to the delta.
func EncodeDelta(w io.Writer, d *Delta) error {
	if d == nil || d.core.IDs == nil {
		panic("ecs: EncodeDelta: the delta is nil or the zero value; deltas come from Diff")
	}
	if w == nil {
		panic("ecs: EncodeDelta: the writer is nil")
	}
	if err := d.inner().Encode(w); err != nil {
		return fmt.Errorf("ecs: EncodeDelta: %w", err)
	}
	return nil
}

// DecodeDelta reads one delta of at most so many bytes, as EncodeDelta writes it, and nothing
// behind it, for Delta.ApplyTo and EncodeDelta. It belongs to no world, so a goroutine may read it
// from the network beside frames. The delta cannot be walked. An error wraps ErrDelta, and that of
// the reader if it failed. Memory is taken as bytes arrive; values stay in them, and lists take up
// to some 50 bytes for each byte that an enemy may send. DecodeDelta panics if most is negative.
func DecodeDelta(r io.Reader, most int) (*Delta, error) {
	if r == nil {
		panic("ecs: DecodeDelta: the reader is nil")
	}
	if most < 0 {
		panic(fmt.Sprintf("ecs: DecodeDelta: most=%d is negative", most))
	}
	made, err := delta.ReadDelta("DecodeDelta", r, most)
	return deltaFrom(made), err
}

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
// The delta is read as a whole before the world is looked at. It may have 1 GiB, or as
// many as a reader with a Len method says that it has, such as a bytes.Reader: a stream without end
// is refused by the length that it states. To read from the network while others need the world, or
// within another bound, see DecodeDelta and Delta.ApplyTo.
//
// ApplyDelta is for bytes of strangers: their content is checked before w changes; only the values
// may be any.
//
// An error that wraps ErrDelta has the reason why the delta does not fit: damage, another base,
// types. An error of the reader is wrapped too. If there is no room, the error is a *LimitError.
// After any error w is as before. ApplyDelta is a structural change: it panics inside a loop over
// rows, and invalidates batches. No goroutine may reserve ids meanwhile. Cost: proportional to the
// delta, and to the entities of archetypes that differ and whose rows have moved since the delta
// before; where archetypes came or went, a look at each. Rows that move are copied through Go
// memory.
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
