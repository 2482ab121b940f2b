package world

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"quarry/internal/debug"
)

// Hasher keeps the sums of which World.Hash is made, block by block, and makes anew those of blocks
// whose chunks have changed since.
//
//	archetype    rows 0..4,095      4,096..8,191       8,192..9,999
//	entities     sum                sum                sum
//	Position     sum                sum                sum           a chunk with rows 5,000..9,999 was
//	                                ^^^ made anew      ^^^           opened to write Position
//
// A block is the rows of an archetype at 4,096 places, whatever chunks they are in, so processes
// whose chunks differ have the same blocks.
//
// Invariant: after Sum, the sums are those of the rows as they are. A chunk whose rows begin at
// another place, are another number or have a later order version is read in all columns; others in
// those columns that have a later version than the Sum before, which has advanced the version.
// Debug builds compare.
type Hasher struct {
	w          *World
	seen       uint32 // the version up to which writes are in the sums; 0 before the first Sum
	h          *Hashing
	archetypes []*hashedArchetype // in the world's order
	sets       []uint64           // hashes of the sparse types with entries, by their order in the world
	stale      []bool             // of the blocks of a column
	came       []bool             // of the chunks of an archetype
}

// hashedArchetype is the sums of an archetype.
type hashedArchetype struct {
	a      *Archetype
	rows   int
	chunks []hashedChunk
	ids    []uint64     // by block
	types  [][]typeSums // by slot and block; nil where nothing counts
}

// hashedChunk is the rows of a chunk when they were read.
type hashedChunk struct{ start, n int }

// Open readies a zero Hasher.
func (x *Hasher) Open(w *World) {
	w.CheckNew("NewHasher")
	*x = Hasher{w: w}
}

// Sum is ecs.Hasher.Sum.
func (x *Hasher) Sum() uint64 {
	const op = "Hasher.Sum"
	w := x.w
	w.CheckNew(op)
	w.CheckIdle(op)
	w.EndBorrows(op)
	if x.h == nil || len(x.h.Types) != len(w.Types.List) {
		x.h = NewHashing(w)
	}
	x.match()
	for _, s := range x.archetypes {
		x.update(s)
	}
	x.updateSets()
	x.seen = w.Tables.Version
	w.Advance()
	sum := x.total()
	if debug.On {
		x.check(sum)
	}
	return sum
}

// match gives each archetype of the world its sums, which are empty for a new one.
func (x *Hasher) match() {
	list := x.w.Archetypes.List
	same := len(list) == len(x.archetypes)
	for i := 0; same && i < len(list); i++ {
		same = x.archetypes[i].a == list[i]
	}
	if same {
		return
	}
	known := make(map[*Archetype]*hashedArchetype, len(x.archetypes))
	for _, s := range x.archetypes {
		known[s.a] = s
	}
	x.archetypes = x.archetypes[:0]
	for _, a := range list {
		s := known[a]
		if s == nil {
			s = &hashedArchetype{a: a, types: make([][]typeSums, len(a.Table.Types))}
		}
		x.archetypes = append(x.archetypes, s)
	}
}

// counts reports whether rows of a type have sums.
func (t *Type) counts() bool {
	return t.Enableable || t.Kind == KindBuffer || t.Kind == KindComponent && t.Size > 0
}

// update makes the stale sums of an archetype anew.
func (x *Hasher) update(s *hashedArchetype) {
	a := s.a
	rows, chunks := a.Table.Store.Len(), a.Table.Store.Chunks()
	came := false
	x.came = resize(x.came, len(chunks))
	for pos, c := range chunks {
		n := a.Table.Store.RowsOf(pos)
		x.came[pos] = pos >= len(s.chunks) || s.chunks[pos] != hashedChunk{c.Start, n} ||
			Newer(a.Table.Metadata.Ordered(pos), x.seen)
		came = came || x.came[pos]
	}
	shrunk := rows < s.rows
	if came || shrunk {
		s.ids = resize(s.ids, blocksOf(rows))
		x.mark(a, -1, shrunk)
		x.each(rows, func(block, lo, hi int) { s.ids[block] = x.h.ids(a, lo, hi) })
	}
	for slot, id := range a.Table.Types {
		if !x.w.Types.List[id].counts() {
			continue
		}
		s.types[slot] = resize(s.types[slot], blocksOf(rows))
		if x.mark(a, slot, shrunk) {
			x.each(rows, func(block, lo, hi int) { s.types[slot][block] = x.h.column(a, slot, lo, hi) })
		}
	}
	s.rows = rows
	s.chunks = s.chunks[:0]
	for pos, c := range chunks {
		s.chunks = append(s.chunks, hashedChunk{c.Start, a.Table.Store.RowsOf(pos)})
	}
}

// resize returns a slice of n elements, of which those that there were are the same.
func resize[T any](s []T, n int) []T {
	for len(s) < n {
		s = append(s, *new(T))
	}
	return s[:n]
}

// mark notes the stale blocks of a column, of the entities if slot is -1, and reports whether there
// are any. Where rows are fewer now, the last block is stale too: those of its rows that went may
// have been in a chunk that went.
func (x *Hasher) mark(a *Archetype, slot int, shrunk bool) (any bool) {
	blocks := blocksOf(a.Table.Store.Len())
	x.stale = resize(x.stale, blocks)
	clear(x.stale)
	if shrunk && blocks > 0 {
		x.stale[blocks-1], any = true, true
	}
	for pos, c := range a.Table.Store.Chunks() {
		if !x.came[pos] && (slot < 0 || !Newer(a.Table.Metadata.Changed(uint16(slot), pos), x.seen)) {
			continue
		}
		if n := a.Table.Store.RowsOf(pos); n > 0 {
			any = true
			for block := c.Start / HashBlock; block <= (c.Start+n-1)/HashBlock; block++ {
				x.stale[block] = true
			}
		}
	}
	return any
}

// each calls visit with the stale blocks.
func (x *Hasher) each(rows int, visit func(block, lo, hi int)) {
	for block, stale := range x.stale {
		if stale {
			visit(block, block*HashBlock, min((block+1)*HashBlock, rows))
		}
	}
}

// updateSets makes the hashes of sparse types anew whose sets have changed.
func (x *Hasher) updateSets() {
	known := len(x.sets)
	x.sets = resize(x.sets, len(x.w.Types.Sparse))
	for i, t := range x.w.Types.Sparse {
		switch {
		case t.Sparse.Len() == 0:
			x.sets[i] = 0
		case i >= known || Newer(t.Sparse.Latest(), x.seen):
			x.sets[i] = x.h.sparse(t)
		}
	}
}

// total returns the hash of the world.
func (x *Hasher) total() (sum uint64) {
	for _, s := range x.archetypes {
		if s.rows == 0 {
			continue
		}
		all := rowSums{types: make([]typeSums, len(s.types))}
		for _, v := range s.ids {
			all.ids += v
		}
		for slot, blocks := range s.types {
			for _, v := range blocks {
				all.types[slot].values += v.values
				all.types[slot].disabled += v.disabled
			}
		}
		sum += x.h.archetype(s.a, &all)
	}
	for _, v := range x.sets {
		sum += v
	}
	return HashWords(sum)
}

// sums returns the sums of an archetype.
func (x *Hasher) sums(s *hashedArchetype) *summed {
	c := &summed{key: x.key(s.a) &^ setKey, a: s.a, rows: s.rows}
	c.columns = append(c.columns, summedColumn{sums: s.ids})
	for slot, id := range s.a.Table.Types {
		t := x.w.Types.List[id]
		if !t.counts() {
			continue
		}
		k := summedColumn{hash: x.h.Types[id], t: t}
		for _, v := range s.types[slot] {
			k.sums = append(k.sums, HashWords(v.values, v.disabled))
		}
		c.columns = append(c.columns, k)
	}
	slices.SortFunc(c.columns[1:], func(a, b summedColumn) int { return cmp.Compare(a.hash, b.hash) })
	return c
}

// check panics unless the sums are those of the rows.
func (x *Hasher) check(sum uint64) {
	if x.w.Hash() == sum {
		return
	}
	fresh := &Hasher{w: x.w, h: x.h}
	fresh.match()
	for i, s := range fresh.archetypes {
		fresh.update(s)
		if d := difference(x.sums(x.archetypes[i]), fresh.sums(s)); d != nil {
			panic(fmt.Sprintf(
				"ecs: Hasher.Sum: %s of rows %d to %d of %v was written through a slice or pointer from before the last Sum",
				d.name(x.w), d.First, d.First+d.Rows-1, s.a))
		}
	}
	panic("ecs: Hasher.Sum: a sparse type was written through a pointer from before the last Sum")
}

// key returns a hash of the types and shared values of an archetype.
func (x *Hasher) key(a *Archetype) (key uint64) {
	for _, id := range a.Table.Types {
		shared := uint64(0)
		if v := a.ValueOf(id); v != nil {
			shared = x.h.Shared(v)
		}
		key += HashWords(x.h.Types[id], shared)
	}
	return key
}

// appendWords appends words, 8 bytes each.
func appendWords(dst []byte, words ...uint64) []byte {
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// IsMade reports whether the Hasher is one of a world.
func (x *Hasher) IsMade() bool { return x.w != nil }
