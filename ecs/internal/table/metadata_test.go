package table_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/table"
	"quarry/internal/long"
)

const room = 200 // rows of a chunk

// slowChunk is the right metadata of a chunk.
type slowChunk struct {
	at       table.Location
	rows     int
	changed  []uint32
	ordered  uint32
	on       map[uint16][]bool   // by slot of a type that can be disabled, a bool a row
	versions map[uint16][]uint32 // by slot of a type that tracks rows, a version a row
}

// slowMetadata is metadata beside a list of chunks.
type slowMetadata struct {
	t        *testing.T
	b        table.Metadata
	types    int
	toggling []uint16
	chunks   []*slowChunk
	next     table.Location // of the chunk that came last
	tracked  []uint16       // slots of types with versions of rows
}

func newSlow(t *testing.T, types int, spares *table.Spares, toggling ...uint16) *slowMetadata {
	s := &slowMetadata{t: t, b: table.NewMetadata(types, toggling, spares), types: types, toggling: toggling}
	for slot := 1; slot < types; slot += 2 { // the others have no versions of rows
		s.b.KeepVersions(uint16(slot))
		s.tracked = append(s.tracked, uint16(slot))
	}
	return s
}

// add begins a chunk with some rows, marked at a version.
func (s *slowMetadata) add(rows int, version uint32) {
	s.next += 2048
	s.b.Add(room, s.next)
	c := &slowChunk{
		at: s.next, rows: rows, changed: make([]uint32, s.types), on: map[uint16][]bool{}, versions: s.blank(),
	}
	for _, slot := range s.toggling {
		c.on[slot] = make([]bool, room)
	}
	s.chunks = append(s.chunks, c)
	pos := len(s.chunks) - 1
	s.b.EnableRows(pos, 0, rows)
	for _, slot := range s.toggling {
		for row := range rows {
			c.on[slot][row] = true
		}
	}
	s.mark(pos, version)
}

// blank returns no version for each row of a chunk, by slot.
func (s *slowMetadata) blank() map[uint16][]uint32 {
	list := map[uint16][]uint32{}
	for _, slot := range s.tracked {
		list[slot] = make([]uint32, room)
	}
	return list
}

func (s *slowMetadata) mark(pos int, version uint32) {
	c := s.chunks[pos]
	if pos == len(s.chunks)-1 && c.rows == 1 {
		s.b.MarkLast(0, version)
	} else {
		s.b.Mark(pos, 0, c.rows, version)
	}
	for _, list := range c.versions {
		for row := range c.rows {
			list[row] = version
		}
	}
	for slot := range c.changed {
		c.changed[slot] = version
	}
	c.ordered = version
}

// check compares the metadata with the list.
func (s *slowMetadata) check() {
	s.t.Helper()
	require.NoError(s.t, s.b.Verify(len(s.chunks), func(pos int) int { return s.chunks[pos].rows }))
	require.Equal(s.t, len(s.chunks), s.b.Len())
	for pos, c := range s.chunks {
		require.Equal(s.t, c.changed, s.b.Versions(pos), "chunk %d", pos)
		require.Equal(s.t, c.ordered, s.b.Ordered(pos), "chunk %d", pos)
		require.Equal(s.t, c.at, s.b.At(pos), "chunk %d", pos)
		for slot := range uint16(s.types) {
			list := s.b.RowVersions(slot, pos)
			require.Equal(s.t, c.versions[slot] != nil, list != nil)
			if list != nil {
				require.Equal(s.t, c.versions[slot][:c.rows], list[:c.rows], "chunk %d slot %d", pos, slot)
			}
		}
		for slot, on := range c.on {
			count := 0
			for row := range c.rows {
				require.Equal(s.t, on[row], s.b.Bits(slot, pos).Has(row), "chunk %d row %d", pos, row)
				if on[row] {
					count++
				}
			}
			require.Equal(s.t, count, s.b.Bits(slot, pos).On())
		}
	}
}

// give gives the first n chunks to others, at a position.
func (s *slowMetadata) give(n int, to *slowMetadata, at int, shared []table.Slots, version uint32) {
	s.b.MoveChunks(n, &to.b, at, shared, nil, func(int) int { return room })
	given := s.chunks[:n:n]
	s.chunks = s.chunks[n:]
	to.chunks = slices.Insert(to.chunks, at, given...)
	for pos := at; pos < at+n; pos++ {
		c := to.chunks[pos]
		on := map[uint16][]bool{}
		for _, slot := range to.toggling {
			i := slices.IndexFunc(shared, func(m table.Slots) bool { return m.To == slot })
			if i >= 0 {
				on[slot] = c.on[shared[i].From]
				continue
			}
			on[slot] = slices.Repeat([]bool{true}, room)
			to.b.Bits(slot, pos).SetRange(0, c.rows)
		}
		c.on, c.changed, c.versions = on, make([]uint32, to.types), to.blank()
		to.mark(pos, version)
	}
	to.b.OrderFrom(at+n, version)
	for _, c := range to.chunks[at+n:] {
		c.ordered = version
	}
}

// TestMetadataAgainstModel does all that metadata does at random, beside a slow list.
func TestMetadataAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var spares table.Spares
	for range long.N(5, 20) { // pairs, with 200 steps each
		one, two := newSlow(t, 3, &spares, 0, 2), newSlow(t, 4, &spares, 1, 2)
		toTwo := []table.Slots{{From: 2, To: 1}}
		toOne := []table.Slots{{From: 1, To: 2}}
		for version := uint32(1); version < 200; version++ {
			s, other, shared := one, two, toTwo
			if r.IntN(2) == 0 {
				s, other, shared = two, one, toOne
			}
			n := len(s.chunks)
			switch op := r.IntN(9); {
			case n == 0 || op == 0:
				s.add(1+r.IntN(room), version)
			case op == 1:
				s.give(1+r.IntN(n), other, r.IntN(len(other.chunks)+1), shared, version)
			case op == 2:
				keep := r.IntN(n + 1)
				s.b.Cut(keep)
				s.chunks = s.chunks[:keep]
			case op == 3: // the last chunk is outgrown, and a larger one comes behind it
				s.next += 2048
				s.b.Add(4*room, s.next)
				s.b.Promote(n - 1)
				s.chunks[n-1].at = s.next
			case op == 4:
				pos, slot := r.IntN(n), s.toggling[r.IntN(2)]
				c := s.chunks[pos]
				row, on := r.IntN(c.rows), r.IntN(2) == 0
				if r.IntN(2) == 0 {
					s.b.Bits(slot, pos).Set(row, on)
				} else {
					s.b.Bits(slot, pos).Toggle(row, on)
				}
				c.on[slot][row] = on
				s.b.Touch(slot, pos, row, 1, version)
				c.changed[slot] = version
				if list := c.versions[slot]; list != nil {
					list[row] = version
				}
				require.Equal(t, version, s.b.Changed(slot, pos))
			case op == 5:
				s.mask(r, r.IntN(n), s.toggling[r.IntN(2)])
			case op == 6:
				s.fillGap(r, version)
			case op == 7:
				pos := r.IntN(n)
				s.b.Order(pos, version)
				s.chunks[pos].ordered = version
			default:
				s.closeLast(r, version)
			}
			one.check()
			two.check()
		}
	}
	require.Positive(t, spares.Count())
}

// mask sets a type in the rows of a mask.
func (s *slowMetadata) mask(r *rand.Rand, pos int, slot uint16) {
	c, on := s.chunks[pos], r.IntN(2) == 0
	mask := make([]uint64, (c.rows+63)/64)
	some := false
	for row := range c.rows {
		if r.IntN(3) == 0 && r.IntN(2) == 0 {
			mask[row/64] |= 1 << (row % 64)
			c.on[slot][row] = on
			some = true
		}
	}
	require.Equal(s.t, some, s.b.Bits(slot, pos).SetMask(mask, on))
}

// fillGap moves rows of the last chunk over others of as many.
func (s *slowMetadata) fillGap(r *rand.Rand, version uint32) {
	last := len(s.chunks) - 1
	pos := r.IntN(last + 1)
	c, from := s.chunks[pos], s.chunks[last]
	n := 1 + r.IntN(min(c.rows, from.rows))
	row, fromRow := r.IntN(c.rows-n+1), from.rows-n
	if pos == last && row+n > fromRow {
		return
	}
	s.b.CopyRows(pos, row, table.MetadataRange{Metadata: &s.b, Pos: last, Row: fromRow, All: from.rows}, n)
	s.b.Carry(pos, last, version)
	for _, list := range s.tracked {
		copy(c.versions[list][row:row+n], from.versions[list][fromRow:])
	}
	for _, slot := range s.toggling {
		copy(c.on[slot][row:row+n], from.on[slot][fromRow:])
	}
	c.ordered = version
	if pos != last {
		for slot := range c.changed {
			c.changed[slot] = max(c.changed[slot], from.changed[slot])
		}
	}
}

// closeLast ends a row: the last one takes its place.
func (s *slowMetadata) closeLast(r *rand.Rand, version uint32) {
	last := len(s.chunks) - 1
	pos := r.IntN(last + 1)
	c, from := s.chunks[pos], s.chunks[last]
	row := r.IntN(c.rows)
	s.b.Close(pos, row, last, from.rows-1)
	s.b.OrderLast(version)
	from.rows--
	for _, slot := range s.toggling {
		c.on[slot][row] = from.on[slot][from.rows]
		from.on[slot][from.rows] = false
	}
	for _, list := range s.tracked {
		c.versions[list][row] = from.versions[list][from.rows]
	}
	from.ordered = version
	if from.rows == 0 {
		s.b.Cut(last)
		s.chunks = s.chunks[:last]
	}
}

// TestCarryComparesByDistance: a version that wrapped is after one that did not.
func TestCarryComparesByDistance(t *testing.T) {
	s := newSlow(t, 2, new(table.Spares))
	s.add(5, 1<<32-1)
	s.add(5, 1)
	s.b.Carry(0, 1, 2)
	require.Equal(t, []uint32{1, 1}, s.b.Versions(0))
	require.Equal(t, uint32(2), s.b.Ordered(0))
	s.b.Mark(0, 0, 5, 3)
	s.b.Carry(0, 1, 3)
	require.Equal(t, []uint32{3, 3}, s.b.Versions(0), "all are marked already")
}

// TestSparesServe: chunks that come take the bits of those that went, cleared, of any size.
func TestSparesServe(t *testing.T) {
	var spares table.Spares
	b := table.NewMetadata(1, []uint16{0}, &spares)
	for _, rows := range []int{1, 64, 65, 408, 1 << 17} {
		b.Add(rows, 0)
		b.Bits(0, 0).SetRange(0, rows)
		b.Cut(0)
		require.Equal(t, 1, spares.Count())
		b.Add(rows, 0)
		require.Zero(t, spares.Count())
		require.Zero(t, b.Bits(0, 0).On())
		require.False(t, b.Bits(0, 0).Has(rows-1))
		require.Len(t, b.Bits(0, 0).Words(), (rows+63)/64)
		b.Cut(0)
		spares = table.Spares{}
	}
}

// TestVerifyNamesTheInvariant corrupts each numbered invariant in turn.
func TestVerifyNamesTheInvariant(t *testing.T) {
	s := newSlow(t, 3, new(table.Spares), 0, 2)
	s.add(20, 1)
	s.add(10, 2)
	s.check()
	for _, name := range []string{"B1", "B1 versions", "B2", "B2 count", "B2 chunks", "B2 first", "B5", "B5 chunks"} {
		restore := s.b.Corrupt(name)
		require.ErrorContains(t, s.b.Verify(2, func(pos int) int { return 20 - 10*pos }), "table: "+name[:2]+":", name)
		restore()
		s.check()
	}
}
