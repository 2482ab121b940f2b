package world

import (
	"fmt"
	"slices"
)

// The parts of a world. Every walk over a whole world follows this list: Verify and Hash here,
// cloning and moving in package edit, taking, opening and restoring in snapshot, comparing,
// checking and applying in delta, saving and loading in worldfile. Each of these walks has a table
// in the file parts.go of its room: for each part what it does, or why it does nothing. A table
// that has fewer entries than there are parts does not compile, so a part that is added here is
// added everywhere. Where a walk needs another order than this one, as for checks before a
// reservation, that order is a list beside its table.

// Part is one of the things that a world consists of.
type Part uint8

// The parts of a world.
const (
	PartTypes      Part = iota // registered types
	PartValues                 // shared values
	PartArchetypes             // which there are, in which order
	PartRows                   // of archetypes: entities and their columns
	PartMetadata               // of chunks: versions, enable bits, values of chunk types
	PartBuffers                // blocks of spilled buffers
	PartManaged                // values of managed types
	PartIDs                    // which are alive, free and reserved, and their records
	PartNames                  // of entities
	PartSparse                 // entries of sparse types
	PartCounters               // entities created and destroyed, the version
	PartCount
)

// verifying is a call of Verify.
type verifying struct {
	w                    *World
	rows, spilled, alive int
}

// verifies has the check of each part by Verify.
var verifies = [...]struct {
	do      func(v *verifying) error
	because string
}{
	{func(v *verifying) error { return v.w.Types.verify(v.w.IDs.View()) }, ""},
	{func(v *verifying) error { return v.w.verifyValues() }, ""},
	{(*verifying).archetypes, ""},
	{func(v *verifying) error { return v.w.Tables.Verify(slices.Collect(v.w.Archetypes.tables)) }, ""},
	{nil, "with the archetypes"},
	{(*verifying).buffers, ""},
	{func(v *verifying) error { return v.w.VerifyManaged(v.w.Types.List) }, ""},
	{(*verifying).ids, ""},
	{func(v *verifying) error { return v.w.VerifyNames() }, ""},
	{func(v *verifying) error { return v.w.VerifySparse() }, ""},
	{func(v *verifying) error { return v.w.VerifyCount(v.rows, v.alive) }, ""},
}

var _ = [1]struct{}{}[len(verifies)-int(PartCount)] // each part has an entry

// verifyOrder has counters before the things that they count.
var verifyOrder = [...]Part{PartArchetypes, PartRows, PartIDs, PartCounters, PartNames, PartValues, PartManaged,
	PartSparse, PartBuffers, PartTypes}

func (v *verifying) archetypes() error {
	for _, a := range v.w.Archetypes.List {
		if err := a.Verify(&v.spilled); err != nil {
			return err
		}
		v.rows += a.Table.Store.Len()
	}
	return nil
}

func (v *verifying) buffers() error {
	if err := v.w.Buffers.Verify(v.spilled); err != nil {
		return fmt.Errorf("ecs: W7: %w", err)
	}
	return nil
}

func (v *verifying) ids() (err error) {
	v.alive, err = v.w.IDs.Verify()
	return err
}

// hashes has the contribution of each part to Hash.
var hashes = [...]struct {
	do      func(h *Hashing) uint64
	because string
}{
	{nil, "their names and kinds are in the terms of archetypes"},
	{nil, "with the archetypes"},
	{(*Hashing).archetypes, ""},
	{nil, "with the archetypes"},
	{nil, "with the archetypes: enable bits; World.Hash leaves values of chunk types out; versions say when, not what"},
	{nil, "with the archetypes"},
	{nil, "World.Hash leaves their values out"},
	{nil, "with the rows: those that are free say how a world came to be, not what it is"},
	{nil, "World.Hash leaves names out"},
	{(*Hashing).sets, ""},
	{nil, "they say how a world came to be, not what it is"},
}

var _ = [1]struct{}{}[len(hashes)-int(PartCount)] // each part has an entry

func (h *Hashing) archetypes() (sum uint64) {
	rows := h.rows()
	for i, a := range h.W.Archetypes.List {
		if a.Table.Store.Len() > 0 {
			sum += h.archetype(a, &rows[i])
		}
	}
	return sum
}

func (h *Hashing) sets() (sum uint64) {
	for _, t := range h.W.Types.Sparse {
		if t.Sparse.Len() > 0 {
			sum += h.sparse(t)
		}
	}
	return sum
}

// Verify is ecs.World.Verify.
func (w *World) Verify() error {
	if w.Closed {
		return nil
	}
	w.EndBorrows("World.Verify")
	if w.History != nil {
		defer w.History.Quiet()()
	}
	w.Reserving.Lock() // a new block of ids takes memory of the universe
	defer w.Reserving.Unlock()
	v := verifying{w: w}
	for _, part := range verifyOrder {
		if err := verifies[part].do(&v); err != nil {
			return err
		}
	}
	if err := w.verifyDerived(); err != nil {
		return err
	}
	if w.Own {
		return w.Universe.Verify()
	}
	return nil
}

// Hash is ecs.World.Hash.
func (w *World) Hash() uint64 {
	w.EndBorrows("World.Hash")
	h, sum := NewHashing(w), uint64(0)
	for i := range hashes {
		if hashes[i].do != nil {
			sum += hashes[i].do(h)
		}
	}
	return HashWords(sum)
}
