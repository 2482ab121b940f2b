package world

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/asm"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/value"
	"quarry/internal/store"
)

// Sums over rows, the part of a hash that reads the columns. Sums of parts of the rows add up to
// those of all, so that two goroutines share the rows of a large world.

// hashRowsAtOnce is how many rows a goroutine takes at a time, and hashBytesAlone how many bytes of
// rows one goroutine hashes alone: they take some 50 us, starting another one a few.
const (
	hashRowsAtOnce = 1 << 14
	hashBytesAlone = 1 << 20
)

// rowSums are sums over rows of an archetype.
type rowSums struct {
	ids   uint64
	types []typeSums // by slot
}

// typeSums are sums over the rows of one type.
type typeSums struct{ values, disabled uint64 }

// archetype returns the hash of an archetype from the sums over all its rows.
func (h *Hashing) archetype(a *Archetype, s *rowSums) uint64 {
	types := uint64(0)
	for slot, id := range a.Table.Types {
		shared := uint64(0)
		if v := a.ValueOf(id); v != nil {
			shared = h.Shared(v)
		}
		types += HashWords(h.Types[id], s.types[slot].values, s.types[slot].disabled, shared)
	}
	return HashWords(uint64(a.Table.Store.Len()), s.ids, types)
}

// eachRun calls visit with the rows [lo, hi) of an archetype, chunk by chunk: the index of the
// first, their number, the chunk's position and their place.
func eachRun(a *Archetype, lo, hi int, visit func(at, n, pos int, first store.Row)) {
	if lo >= hi {
		return
	}
	pos, row := a.Table.Store.Find(lo)
	for ; lo < hi; pos, row = pos+1, 0 {
		n := min(hi-lo, a.Table.Store.RowsOf(pos)-row)
		visit(lo, n, pos, a.Table.Store.Row(pos, row))
		lo += n
	}
}

// ids returns the sum of the entities of the rows [lo, hi).
func (h *Hashing) ids(a *Archetype, lo, hi int) (sum uint64) {
	eachRun(a, lo, hi, func(at, n, _ int, first store.Row) {
		ids := Entities(first.Base, first.Row+n)[first.Row:]
		// Safe because an ID is 8 bytes without padding.
		b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(ids))), n*8)
		sum += asm.HashWords(b, at, entity.Untagged)
	})
	return sum
}

// column returns the sums of the rows [lo, hi) of one type. Both are multiples of 8, where values
// of any size begin a word, or hi is the number of rows.
func (h *Hashing) column(a *Archetype, slot, lo, hi int) (s typeSums) {
	t := h.W.Types.List[a.Table.Types[slot]]
	words := wordStream{place: lo * t.Size / 8}
	eachRun(a, lo, hi, func(at, n, pos int, first store.Row) {
		switch {
		case t.Kind == KindBuffer:
			s.values += h.buffers(a, t, first, at, n)
		case t.Kind == KindComponent && t.Size > 0:
			c := a.Table.Column(t.ID)
			h.stream(&words, first.Element(c.Offset, c.Size), t, n)
		}
		if t.Enableable {
			s.disabled += disabledRows(a, uint16(slot), pos, first.Row, at, n)
		}
	})
	s.values += words.end()
	return s
}

// disabledRows returns the sum of those of n rows in which a type is disabled.
func disabledRows(a *Archetype, slot uint16, pos, row, at, n int) (sum uint64) {
	words := a.Table.Metadata.Bits(slot, pos).Words()
	for i := row &^ 63; i < row+n; i += 64 {
		clear := ^words[i/64]
		if i < row {
			clear &^= 1<<(row-i) - 1
		}
		if rest := row + n - i; rest < 64 {
			clear &= 1<<rest - 1
		}
		for ; clear != 0; clear &= clear - 1 {
			sum += HashEnd(HashAt(at + i + bits.TrailingZeros64(clear) - row + 1))
		}
	}
	return sum
}

// buffers returns the sum of the buffers of n rows.
func (h *Hashing) buffers(a *Archetype, t *Type, first store.Row, at, n int) (sum uint64) {
	c := a.Table.Column(t.ID)
	for row := range n {
		// Safe because n headers of the column lie there, and Len elements of a buffer.
		b := value.HeaderAt(first.Element(c.Offset, c.Size), row, c.Size)
		words := h.words(t.Spill.Elements(b), t, t.Shape.Element, b.Len())
		sum += HashEnd(HashWord(HashWord(HashAt(at+row+1), uint64(b.Len())), words))
	}
	return sum
}

// add adds the sums of the rows [lo, hi).
func (s *rowSums) add(h *Hashing, a *Archetype, lo, hi int) {
	s.ids += h.ids(a, lo, hi)
	for slot := range a.Table.Types {
		part := h.column(a, slot, lo, hi)
		s.types[slot].values += part.values
		s.types[slot].disabled += part.disabled
	}
}

// newRowSums returns sums of no rows, for each archetype.
func newRowSums(list []*Archetype) []rowSums {
	types := 0
	for _, a := range list {
		types += len(a.Table.Types)
	}
	all, room := make([]rowSums, len(list)), make([]typeSums, types)
	for i, a := range list {
		all[i].types, room = room[:len(a.Table.Types)], room[len(a.Table.Types):]
	}
	return all
}

// rows returns the sums over the rows of all archetypes.
func (h *Hashing) rows() []rowSums {
	list, bytes := h.W.Archetypes.List, 0
	for _, a := range list {
		row := 8 // an ID
		for _, c := range a.Table.Store.Columns() {
			row += int(c.Size)
		}
		bytes += a.Table.Store.Len() * row
	}
	sums := newRowSums(list)
	var next atomic.Int64 // the rows that nobody has taken yet
	if bytes <= hashBytesAlone || runtime.GOMAXPROCS(0) < 2 {
		h.share(list, sums, &next)
		return sums
	}
	other := newRowSums(list)
	var wait sync.WaitGroup
	wait.Go(func() { (&Hashing{W: h.W, Types: h.Types}).share(list, other, &next) })
	h.share(list, sums, &next)
	wait.Wait()
	for i := range sums {
		sums[i].ids += other[i].ids
		for k := range sums[i].types {
			sums[i].types[k].values += other[i].types[k].values
			sums[i].types[k].disabled += other[i].types[k].disabled
		}
	}
	return sums
}

// share adds the sums of rows that no other goroutine takes.
func (h *Hashing) share(list []*Archetype, sums []rowSums, next *atomic.Int64) {
	begin := int64(0) // of the archetype, in parts
	taken := next.Add(1) - 1
	for i, a := range list {
		n := a.Table.Store.Len()
		end := begin + int64((n+hashRowsAtOnce-1)/hashRowsAtOnce)
		for ; taken < end; taken = next.Add(1) - 1 {
			lo := int(taken-begin) * hashRowsAtOnce
			sums[i].add(h, a, lo, min(lo+hashRowsAtOnce, n))
		}
		begin = end
	}
}

// sparse returns the hash of the entries of a sparse type. Their order does not count: it follows
// that in which rows move and end, and so how rows are cut into chunks.
func (h *Hashing) sparse(t *Type) (sum uint64) {
	for i, e := range t.Sparse.IDs() {
		at, off := sparse.Entry(i+1), uint64(0)
		if !t.Sparse.Enabled(at) {
			off = 1
		}
		sum += HashWords(e.Bits()&entity.Untagged, off, h.words(t.Sparse.Value(at), t, t.Size, 1))
	}
	return HashWords(h.Types[t.ID], uint64(t.Sparse.Len()), sum)
}
