package delta

import (
	"bytes"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/world"
)

// Sparse types in a delta. Entries are compared by their place in the set. A removal changes two
// places, since the last entry fills the gap.

// sparseLike returns the set in w of a type of another world with the same numbering, or nil.
func sparseLike(w *world.World, t *world.Type) *sparse.Set {
	if int(t.ID) >= len(w.Types.List) {
		return nil
	}
	return &w.Types.List[t.ID].Sparse.Set
}

// entryBytes views the values of n entries from an index on as bytes; entry 1 has index 0.
func entryBytes(s *sparse.Set, size, index, n int) []byte {
	if n == 0 || size == 0 {
		return nil
	}
	// Safe because so many entries follow one another.
	return unsafe.Slice((*byte)(s.Value(sparse.Entry(index+1))), n*size)
}

// sparseType compares the sets of a sparse type.
func (x *differ) sparseType(t *world.Type) {
	now, older := &t.Sparse.Set, sparseLike(x.Older, t)
	if older == nil {
		older = new(sparse.Set)
	}
	s := deltaSparse{older: older.Len(), newer: now.Len()}
	both := min(s.older, s.newer)
	ids, values := writerOf(idSize, s.newer, nil), writerOf(t.Size, s.newer, nil)
	newIDs, oldIDs := idBytes(now.IDs()), idBytes(older.IDs())
	ids.compare(0, oldIDs[:both*idSize], newIDs[:both*idSize])
	ids.compare(both*idSize, nil, newIDs[both*idSize:])
	values.compare(0, entryBytes(older, t.Size, 0, both), entryBytes(now, t.Size, 0, both))
	values.compare(both*t.Size, nil, entryBytes(now, t.Size, both, s.newer-both))
	var flips flipsWriter
	if t.Enableable {
		for at := range s.newer {
			flips.bit(at, at >= both || older.Enabled(sparse.Entry(at+1)), now.Enabled(sparse.Entry(at+1)))
		}
		flips.flush()
	}
	if s.older == s.newer && len(ids.runs)+len(values.runs)+len(flips.runs) == 0 {
		return
	}
	s.of, s.ids, s.values, s.flips = x.number(t.ID), ids.done(), values.done(), flips.deltaFlips
	x.Sparse = append(x.Sparse, s)
}

const idSize = int(unsafe.Sizeof(entity.ID{}))

// sparseChange is the planned change of a set.
type sparseChange struct {
	*deltaSparse
	t   *world.Type
	ids []entity.ID // of all entries
}

// planSparse checks the delta of a sparse type and computes the entities of its entries.
func (p *deltaPlan) planSparse(s *deltaSparse) error {
	t := p.types[s.of]
	if t.Place() != world.PerEntity {
		return p.refuse("%s is not sparse", t.Name)
	}
	set := &t.Sparse.Set
	if set.Len() != s.older {
		return p.refuse("%s has %d entries, in its base %d", t.Name, set.Len(), s.older)
	}
	if s.newer > p.alive {
		return p.refuse("%s has %d entries of %d entities", t.Name, s.newer, p.alive)
	}
	c := sparseChange{s, t, make([]entity.ID, s.newer)}
	both := copy(c.ids, set.IDs())
	clear(c.ids[both:])
	if !s.ids.replaces(idBytes(c.ids), func(at int, b []byte) { copy(idBytes(c.ids)[at:], b) }) {
		return p.refuse("the entities of %s are not those of its base", t.Name)
	}
	old := entryBytes(set, t.Size, 0, both)
	if len(old) < s.newer*t.Size {
		old = append(bytes.Clone(old), make([]byte, s.newer*t.Size-len(old))...)
	}
	if !s.values.replaces(old, nil) {
		return p.refuse("the values of %s are not those of its base", t.Name)
	}
	flips := true
	if !s.flips.each(s.newer, func(at, n int, on bool) {
		for i := at; i < at+n && flips; i++ {
			older := i >= both || set.Enabled(sparse.Entry(i+1))
			flips = t.Enableable && older != on
		}
	}) || !flips {
		return p.refuse("the enable bits of %s are not those of its base", t.Name)
	}
	if err := p.checkEntries(t, c.ids); err != nil {
		return err
	}
	p.sets = append(p.sets, c)
	return nil
}

// checkEntries returns an error unless each entity will be alive, is not kept by Cleanup types
// alone, and has one entry.
func (p *deltaPlan) checkEntries(t *world.Type, ids []entity.ID) error {
	seen := make([]uint64, p.Delta.IDs.To.Records*(8192/64))
	for _, e := range ids {
		if !p.living(e) || seen[e.Index()/64]>>(e.Index()%64)&1 != 0 || p.isCleanupOnly(e) {
			return p.refuse("%v has an entry of %s twice, or is not alive", e, t.Name)
		}
		seen[e.Index()/64] |= 1 << (e.Index() % 64)
	}
	return nil
}

// commit applies the change to the set. Room was reserved.
func (c *sparseChange) commit(version uint32) {
	set, t := &c.t.Sparse.Set, c.t
	set.SetIDs(c.ids, version)
	if t.Size > 0 {
		c.values.each(c.newer*t.Size, func(at int, b []byte) {
			copy(entryBytes(set, t.Size, 0, c.newer)[at:], b)
			for entry := at / t.Size; entry <= (at+len(b)-1)/t.Size; entry++ {
				set.Mark(sparse.Entry(entry+1), version)
			}
		})
	}
	c.flips.each(c.newer, func(at, n int, on bool) {
		for entry := at; entry < at+n; entry++ {
			set.Switch(sparse.Entry(entry+1), on)
			set.Mark(sparse.Entry(entry+1), version)
		}
	})
}
