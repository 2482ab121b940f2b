package table

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/ecs/internal/past"
	"quarry/internal/store"
)

// A frozen table shows the rows of a table as they were at the moment of a layer. It has a mirror
// of each chunk, of the same size, in the same universe. Units come to the mirrors when they are
// first shown:
//
//	chunk of the table   | unit 0 | unit 1'| unit 2 |      unit 1 has been written since
//	copies of the layer            | unit 1 |
//	mirror               | unit 0 | unit 1 |  ....  |      2 * 16,384 bytes shown, the others are not
//
// Goroutines: any may call Show and ShowAll.

// Frozen connects a frozen table with the table and the layer.
type Frozen struct {
	layer  *past.Layer
	memory *past.Memory // of the universe
	origin []store.Chunk
	shown  []atomic.Uint64 // by position, a bit for each unit of the chunk
	mu     sync.Mutex      // held while units come
	t      *Table          // the frozen table
	sum    atomic.Uint64   // of the entities, and 1<<32; 0: not known
}

// Freeze makes a zero table of tables s that shows a state. s has the types of the table's world,
// and no other tables that the caller did not freeze. The error is from the universe; the table has
// no chunks then. Look-ups by location find no rows before Place. End ends the table.
func (t *Table) Freeze(s *Tables, index uint32, sig Signature, from *State, memory *past.Memory,
	l *past.Layer) (*Frozen, error) {
	if err := t.Init(s, sig, false); err != nil {
		return nil, err
	}
	t.Index, t.adopted = index, from.adopted
	for id := range t.Places {
		t.Places[id].Offset = from.places[id].Offset
	}
	for i := range t.Owning {
		t.Owning[i] = t.Column(TypeID(t.Owning[i].Key))
	}
	from.store.Save(&t.Store)
	f := &Frozen{
		layer: l, memory: memory, origin: from.store.Chunks(), shown: make([]atomic.Uint64,
			len(from.store.Chunks())), t: t,
	}
	for pos, c := range f.origin {
		first, err := s.mirrorOf(c)
		if err != nil {
			f.free(pos)
			t.Store = store.Store{}
			return nil, err
		}
		t.Store.Relocate(pos, first)
	}
	from.books.save(&t.Books)
	t.Books.spares = s.spares
	return f, nil
}

// Place has the rows found by their locations. It is called once, after Freeze.
func (f *Frozen) Place(s *Tables) {
	for pos := range f.origin {
		first, end := f.t.stretchesAt(pos)
		s.stretches.claim(first, end-first)
		f.t.place(pos)
	}
	f.t.remark()
}

// Free frees the mirrors.
func (f *Frozen) Free() {
	f.free(len(f.origin))
	f.t.Store = store.Store{}
}

func (f *Frozen) free(chunks int) {
	for _, c := range f.t.Store.Chunks()[:chunks] {
		f.t.all.FreeChunk(c)
	}
}

// mirrorOf takes a chunk for the mirror of one.
func (s *Tables) mirrorOf(c store.Chunk) (store.SmallIndex, error) {
	if c.Small() {
		return s.smallChunks.Alloc()
	}
	first, err := s.u.AllocAligned(c.Units())
	return store.SmallIndex(first) << store.UnitOrder, err
}

// Show loads n bytes of a chunk's mirror, from byte at of the chunk on. The error says that the
// layer is lost.
func (f *Frozen) Show(pos, at, n int) error {
	if n == 0 {
		return nil
	}
	lo, hi := at/past.UnitSize, (at+n-1)/past.UnitSize
	want := ^uint64(0) >> (63 - (hi - lo)) << lo
	if f.shown[pos].Load()&want == want {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for missing := want &^ f.shown[pos].Load(); missing != 0; missing &= missing - 1 {
		if err := f.bring(pos, bits.TrailingZeros64(missing)); err != nil {
			return fmt.Errorf("table: %w", err)
		}
	}
	f.shown[pos].Or(want)
	return nil
}

// bring copies a unit of a chunk to its mirror.
func (f *Frozen) bring(pos, unit int) error {
	c := f.origin[pos]
	to := f.t.Store.Row(pos, 0).Base
	if c.Small() {
		var all [past.UnitSize]byte
		if err := f.layer.Read(f.memory, int(c.First.Chunk()), all[:]); err != nil {
			return err
		}
		at := int(c.First) * store.SmallSize % past.UnitSize
		copy(unsafe.Slice((*byte)(to), store.SmallSize), all[at:]) // Safe because the mirror is a chunk of a unit.
		return nil
	}
	// Safe because the mirror has as many units as the chunk.
	dst := unsafe.Slice((*byte)(unsafe.Add(to, unit*past.UnitSize)), past.UnitSize)
	return f.layer.Read(f.memory, int(c.First.Chunk())+unit, dst)
}

// ShowRows brings n rows of a chunk in the column of the entities.
func (f *Frozen) ShowRows(pos, row, n int) error {
	size := int(unsafe.Sizeof(*IDAt(f.t.Store.Row(pos, 0))))
	return f.Show(pos, row*size, n*size)
}

// ShowColumn brings n rows of a chunk in a column.
func (f *Frozen) ShowColumn(c Column, pos, row, n int) error {
	begin := int(uintptr(c.Offset) * f.t.Store.Row(pos, 0).Scale)
	return f.Show(pos, begin+row*int(c.Size), n*int(c.Size))
}

// ShowAll brings all rows.
func (f *Frozen) ShowAll() error {
	for pos := range f.origin {
		if err := f.ShowChunk(pos); err != nil {
			return err
		}
	}
	return nil
}

// IsLike reports whether a later frozen table has the same rows at the same places: none has come,
// gone or moved since the version at which f was noted.
func (f *Frozen) IsLike(later *Frozen, version uint32) bool {
	latest := later.t.Books.Latest()
	return (latest == 0 || int32(latest-version) <= 0) && f.t.Len() == later.t.Len() &&
		slices.EqualFunc(f.origin, later.origin, func(a, b store.Chunk) bool {
			return a.First == b.First && a.Order == b.Order
		})
}

// WrittenIn returns the units of a chunk that are in a set of units of the universe, a bit each.
func (f *Frozen) WrittenIn(set past.Written, pos int) uint64 {
	c := f.origin[pos]
	return set.Units(int(c.First.Chunk()), max(c.Units(), 1))
}

// ShowIDs brings the entities of a chunk.
func (f *Frozen) ShowIDs(pos int) error { return f.ShowRows(pos, 0, f.t.Store.RowsOf(pos)) }

// UnitSize is the number of bytes of a unit.
const UnitSize = past.UnitSize

// Unit returns the bytes of a unit of a chunk, or of a small chunk: those that a layer has kept, or
// a copy in buffer. They are valid until the layer is closed. The error says that the layer is
// lost.
func (f *Frozen) Unit(pos, unit int, buffer *[UnitSize]byte) (b []byte, err error) {
	c := f.origin[pos]
	at := int(c.First.Chunk()) + unit
	if b, err = f.layer.Kept(f.memory, at); b == nil && err == nil {
		b, err = buffer[:], f.layer.Read(f.memory, at, buffer[:])
	}
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	if c.Small() {
		at := int(c.First) * store.SmallSize % UnitSize
		b = b[at : at+store.SmallSize]
	}
	return b, nil
}

// BooksDiffer reports whether a chunk may have other bits or values in a later frozen table that
// has the same rows.
func (f *Frozen) BooksDiffer(later *Frozen, pos int) bool {
	return f.t.Books.differs(&later.t.Books, pos)
}

// IDSum returns the checksum of the entities that was noted by NoteIDSum, if it was. Any goroutine
// may call both.
func (f *Frozen) IDSum() (sum uint32, known bool) {
	v := f.sum.Load()
	return uint32(v), v != 0
}

// NoteIDSum notes the checksum of the entities.
func (f *Frozen) NoteIDSum(sum uint32) { f.sum.Store(1<<32 | uint64(sum)) }

// ShowChunk brings all rows of a chunk.
func (f *Frozen) ShowChunk(pos int) error {
	n := f.t.Store.RowsOf(pos)
	if err := f.ShowRows(pos, 0, n); err != nil {
		return err
	}
	for _, c := range f.t.Store.Columns() {
		if err := f.ShowColumn(c, pos, 0, n); err != nil {
			return err
		}
	}
	return nil
}
