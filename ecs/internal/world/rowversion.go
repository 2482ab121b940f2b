package world

import (
	"math/bits"

	"quarry/asm"
	"quarry/ecs/internal/table"
)

// Versions of rows. A type registered with TrackRows has, beside its version in each chunk, one for
// each row (ecs/internal/table/rowversions.go). Writers must name the rows. The fast paths of Slice
// and of look-ups only know chunks, so tracked types never take them: the places of such a type
// have the access BarrierRead and BarrierWrite in place of MayRead and MayWrite, so Slice comes to
// Rows.Missing, and its LookupTable disables writes, so look-ups come to mutElse and switchElse.
//
// These mark rows:
//
//	Touch        n rows of a chunk: slices, views, one row by look-up or by its number
//	TouchMask    rows of a mask: bits and values by query
//	Metadata.Touch  for callers that are always the owner
//	Metadata.Mark   rows that come to a table, or trade places; rows that fill a gap keep their version

// Touch marks the type in a slot written in n rows of a chunk: by a goroutine of the borrow b, or
// by the owner if b is nil. Of one row several goroutines may switch the bit at the same time.
func (a *Archetype) Touch(b *Lease, slot uint16, pos, row, n int) {
	metadata := &a.Table.Metadata
	if b == nil {
		metadata.Touch(slot, pos, row, n, a.World.Tables.Version)
		return
	}
	b.Mark(metadata.Version(slot, pos))
	switch list := metadata.RowVersions(slot, pos); {
	case list == nil:
	case n == 1:
		b.Mark(&list[row])
	default:
		asm.Fill(list[row:row+n], b.Version)
	}
}

// TouchMask marks the type in a slot written in the rows of a mask, at a version.
func TouchMask(metadata *table.Metadata, slot uint16, pos int, mask []uint64, now uint32) {
	*metadata.Version(slot, pos) = now
	if list := metadata.RowVersions(slot, pos); list != nil {
		WalkRuns(mask, min(len(list), 64*len(mask)), func(lo, hi int) bool {
			metadata.Touch(slot, pos, lo, hi-lo, now)
			return true
		})
	}
}

// touchAt marks the Lookup's type written in the row at a location.
func (f *Lookup) touchAt(at Location) {
	t := f.Type
	switch {
	case t.NeedsBarrier():
		o := t.World.Tables.OwnerOf(at)
		t.World.ArchetypeAt(o).Open(f.Lease, t, o.Pos(), o.Row(at), 1)
	case f.Lease != nil:
		f.Lease.Mark(f.ColumnAt(at).Mark())
	default:
		*f.ColumnAt(at).Mark() = t.World.Tables.Version
	}
}

// WalkRuns yields the runs [lo, hi) of set bits among the first n bits of a mask.
func WalkRuns(mask []uint64, n int, yield func(int, int) bool) {
	for lo := nextBit(mask, 0, n, 0); lo < n; {
		hi := nextBit(mask, lo, n, ^uint64(0))
		if !yield(lo, hi) {
			return
		}
		lo = nextBit(mask, hi, n, 0)
	}
}

// nextBit returns the first i in [from, n) whose bit differs from the bits of same, or n if there
// is none.
func nextBit(mask []uint64, from, n int, same uint64) int {
	for from < n {
		word := (mask[from/64] ^ same) >> (from % 64)
		if word != 0 {
			return min(n, from+bits.TrailingZeros64(word))
		}
		from = from&^63 + 64
	}
	return n
}
