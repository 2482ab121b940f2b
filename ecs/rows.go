package ecs

import (
	"iter"
	"math/bits"

	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Rows is a span of rows of one chunk, as queries and batches yield it. It is three words, passed
// by value, and valid until the loop advances. After that, every method except Len panics.
type Rows struct{ core query.Rows }

// Len returns the number of rows, matching or not.
func (r Rows) Len() int { return r.core.Len() }

// Entities returns the entities of the rows, for reading. The slice is valid as long as one from
// Component.Slice.
func (r Rows) Entities() []Entity { return entitiesOf(r.core.Entities()) }

// Chunk returns the position of the rows' chunk in its archetype, as Archetype.Chunk takes it.
// Structural changes may move chunks; Ordered detects that.
func (r Rows) Chunk() int { return r.core.Check("Rows.Chunk").Pos }

// Archetype returns the archetype of the rows.
func (r Rows) Archetype() *Archetype {
	return archetypeFrom(r.core.Check("Rows.Archetype").Binding.Archetype)
}

// Ordered reports whether rows entered or left the rows' chunk, or were reordered in it, since the
// given version. It returns true for version 0.
func (r Rows) Ordered(since uint32) bool {
	s := r.core.Check("Rows.Ordered")
	return world.Newer(s.Binding.Archetype.Table.Metadata.Ordered(s.Pos), since)
}

// Matching rows. Where the query names no Enableable or sparse type and has no Masked term all rows
// match, and Dense returns true. The mask is a snapshot taken when the loop reached the chunk:
// toggling a row does not change it.

// Dense reports whether every row matches. If so, a plain loop over the slices visits exactly the
// matching rows.
func (r Rows) Dense() bool { return r.core.Check("Rows.Dense").Dense }

// Mask returns one bit per row, in words of 64 bits. A bit is set if its row matches; bits beyond
// the last row are 0. The mask is valid until the loop advances and must not be written.
func (r Rows) Mask() []uint64 { return r.core.Mask() }

// Count returns the number of rows that match.
func (r Rows) Count() int { return r.core.Count() }

// Each yields the index of every row that matches, in ascending order, for use with the slices of
// the same rows. It inlines into the loop, but for a loop in a closure that the compiler copies,
// see docs/semantics.md. If the rows are Dense, a range over a slice visits the same rows. Rows of
// a batch are always dense, and so are rows of a query that names no Enableable or sparse type and
// has no Masked term.
func (r Rows) Each() iter.Seq[int] { return eachBit(r.core.Mask()) }

// eachBit yields the numbers of the bits that are set. It is as large as inlining allows.
func eachBit(mask []uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range mask {
			for ; word != 0; word &= word - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// Runs yields every maximal run [lo, hi) of matching rows, in ascending order, as vectorized
// kernels take them.
func (r Rows) Runs() iter.Seq2[int, int] { return r.core.Runs() }
