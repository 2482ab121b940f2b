package ecs

import (
	"unsafe"

	"quarry/ecs/internal/world"
)

// Hasher returns the hash of a world again and again, as lockstep games and replicas need it each
// frame: it keeps the sums of which World.Hash is made, of each type in blocks of 4,096 rows, and
// reads only what was written since. Two processes that differ find where by their sums. It belongs
// to the world's owner; a world may have several. It takes memory of Go: 16 bytes for each block
// and type, and ends with the world.
type Hasher struct{ core world.Hasher }

// Safe because a Hasher is its core.
func (h *Hasher) inner() *world.Hasher { return (*world.Hasher)(unsafe.Pointer(h)) }

// HashDifference is where two states first differ. A block is 4,096 rows by their place in the
// archetype.
type HashDifference struct {
	Archetype *Archetype // nil: this world has no such archetype with rows, or the type is sparse
	Type      Type       // nil: the entities differ, or their order, or only the other side has the archetype
	First     int        // the block's first row in the archetype
	Rows      int        // the block's rows; all, if one side has no such archetype
}

// ErrSums is wrapped by the errors of sums that no Hasher has written.
var ErrSums = world.ErrSums

// NewHasher returns a Hasher of a world. The first Sum reads all of it.
func NewHasher(w *World) *Hasher {
	w.inner().CheckMade("NewHasher")
	h := new(Hasher)
	h.inner().Open(w.inner())
	return h
}

// Sum returns what World.Hash does. It reads the columns of chunks that were opened to write since
// the Sum before, of chunks in which rows came, went or moved, all, and sets of sparse types if one
// entry changed. It then advances the world's version, as World.Advance, so slices, views and
// pointers are to be taken anew to write: a write through an old one is missed. Debug builds
// compare with Hash and panic with the type and the rows. Sum panics inside a loop over rows, and
// while the world is lent. Cost: a look at the versions of each chunk, and what it reads, at
// memory's speed.
func (h *Hasher) Sum() uint64 {
	h.checkMade("Hasher.Sum")
	return h.inner().Sum()
}

// AppendSums appends the sums of the last Sum for Compare in another process: 8 bytes for each
// block of each column, and some for each archetype.
func (h *Hasher) AppendSums(dst []byte) []byte {
	h.checkMade("Hasher.AppendSums")
	return h.inner().AppendSums(dst)
}

// Compare compares the sums of the last Sum with those of another Hasher, which AppendSums has
// written, and returns where they first differ, in an order that is the same for both, or nil. An
// error wraps ErrSums; the sums may come from anybody.
func (h *Hasher) Compare(sums []byte) (*HashDifference, error) {
	h.checkMade("Hasher.Compare")
	d, err := h.inner().Compare(sums)
	if d == nil {
		return nil, err
	}
	made := &HashDifference{Archetype: archetypeFrom(d.Archetype), First: d.First, Rows: d.Rows}
	if d.Type != nil {
		made.Type = handleOf(d.Type)
	}
	return made, nil
}

func (h *Hasher) checkMade(op string) {
	if h == nil || !h.inner().IsMade() {
		panic("ecs: " + op + ": the Hasher is nil or the zero value; Hashers come from NewHasher")
	}
}
