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

// A snapshot's table has the rows of a table as they were at the moment of a layer. It has a mirror
// of each chunk, of the same size, in the same universe. Units are copied to the mirrors when they
// are first read:
//
//	chunk of the table   | unit 0 | unit 1'| unit 2 |      unit 1 has been written since
//	copies of the layer            | unit 1 |
//	mirror               | unit 0 | unit 1 |  ....  |      2 * 16,384 bytes are loaded, unit 2 is not
//
// Goroutines: any may call Load and LoadAll.

// SnapshotView has, for a snapshot's table, the chunks of the table that it shows and the layer.
type SnapshotView struct {
	layer  *past.Layer
	memory *past.Memory    // of the universe
	origin []store.Chunk   // of the table that is shown
	loaded []atomic.Uint64 // by position, a bit for each unit of the chunk
	mu     sync.Mutex      // held while units are loaded
	t      *Table          // the snapshot's table
	sum    atomic.Uint64   // checksum of the entities, and 1<<32; 0: not known
}

// OpenSnapshotView makes of a zero table the table of a snapshot, among tables s, with the rows of
// a state. s has the types of the table's world, and only tables that were opened this way. The
// error is from the universe; the table then has no chunks. Look-ups by location find rows after
// Place. Free ends the table.
func (t *Table) OpenSnapshotView(s *Tables, index uint32, sig Signature, from *State, memory *past.Memory,
	l *past.Layer) (*SnapshotView, error) {
	if err := t.Init(s, sig, false); err != nil {
		return nil, err
	}
	t.Index, t.usedLayout = index, from.usedLayout
	for id := range t.Places {
		t.Places[id].Offset = from.places[id].Offset
	}
	for i := range t.Owning {
		t.Owning[i] = t.Column(TypeID(t.Owning[i].Key))
	}
	from.store.Save(&t.Store)
	f := &SnapshotView{
		layer: l, memory: memory, origin: from.store.Chunks(), loaded: make([]atomic.Uint64,
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
	from.metadata.save(&t.Metadata)
	t.Metadata.spares = s.spares
	return f, nil
}

// Place lets look-ups find the rows by location. It is called once, after OpenSnapshotView.
func (f *SnapshotView) Place(s *Tables) {
	for pos := range f.origin {
		first, end := f.t.rowBlocksAt(pos)
		s.rowBlocks.claim(first, end-first)
		f.t.place(pos)
	}
	f.t.remark()
}

// Free frees the mirrors.
func (f *SnapshotView) Free() {
	f.free(len(f.origin))
	f.t.Store = store.Store{}
}

func (f *SnapshotView) free(chunks int) {
	for _, c := range f.t.Store.Chunks()[:chunks] {
		f.t.all.FreeChunk(c)
	}
}

// mirrorOf allocates the mirror of a chunk.
func (s *Tables) mirrorOf(c store.Chunk) (store.SmallIndex, error) {
	if c.Small() {
		return s.smallChunks.Alloc()
	}
	first, err := s.u.AllocAligned(c.Units())
	return store.SmallIndex(first) << store.UnitOrder, err
}

// Load loads n bytes of a chunk's mirror, from byte at of the chunk on. It returns an error if the
// layer is lost.
func (f *SnapshotView) Load(pos, at, n int) error {
	if n == 0 {
		return nil
	}
	lo, hi := at/past.UnitSize, (at+n-1)/past.UnitSize
	want := ^uint64(0) >> (63 - (hi - lo)) << lo
	if f.loaded[pos].Load()&want == want {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for missing := want &^ f.loaded[pos].Load(); missing != 0; missing &= missing - 1 {
		if err := f.loadUnit(pos, bits.TrailingZeros64(missing)); err != nil {
			return fmt.Errorf("table: %w", err)
		}
	}
	f.loaded[pos].Or(want)
	return nil
}

// loadUnit copies a unit of a chunk to its mirror.
func (f *SnapshotView) loadUnit(pos, unit int) error {
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

// LoadRows loads n rows of a chunk in the column of the entities.
func (f *SnapshotView) LoadRows(pos, row, n int) error {
	size := int(unsafe.Sizeof(*IDAt(f.t.Store.Row(pos, 0))))
	return f.Load(pos, row*size, n*size)
}

// LoadColumn loads n rows of a chunk in a column.
func (f *SnapshotView) LoadColumn(c Column, pos, row, n int) error {
	begin := int(uintptr(c.Offset) * f.t.Store.Row(pos, 0).Scale)
	return f.Load(pos, begin+row*int(c.Size), n*int(c.Size))
}

// LoadAll loads all rows.
func (f *SnapshotView) LoadAll() error {
	for pos := range f.origin {
		if err := f.LoadChunk(pos); err != nil {
			return err
		}
	}
	return nil
}

// IsLike reports whether a later snapshot's table has the same rows at the same places: no row was
// created, moved or removed since version, at which f was taken.
func (f *SnapshotView) IsLike(later *SnapshotView, version uint32) bool {
	latest := later.t.Metadata.Latest()
	return (latest == 0 || int32(latest-version) <= 0) && f.t.Len() == later.t.Len() &&
		slices.EqualFunc(f.origin, later.origin, func(a, b store.Chunk) bool {
			return a.First == b.First && a.Order == b.Order
		})
}

// WrittenIn returns the units of a chunk that are in a set of units of the universe, one bit each.
func (f *SnapshotView) WrittenIn(set past.Written, pos int) uint64 {
	c := f.origin[pos]
	return set.Units(int(c.First.Chunk()), max(c.Units(), 1))
}

// LoadIDs loads the entities of a chunk.
func (f *SnapshotView) LoadIDs(pos int) error { return f.LoadRows(pos, 0, f.t.Store.RowsOf(pos)) }

// UnitSize is the number of bytes of a unit.
const UnitSize = past.UnitSize

// Address returns where a row of a column lies in the memory of the universe: at which byte.
func (f *SnapshotView) Address(c Column, pos, row int) int {
	return int(f.origin[pos].First)*store.SmallSize +
		int(uintptr(c.Offset)*f.t.Store.Row(pos, 0).Scale) + row*int(c.Size)
}

// Bytes returns n bytes of one unit, from byte at of the memory on: those that a layer has kept, or
// a copy in buffer. They are valid until the layer is closed. It returns an error if the layer is
// lost.
func (f *SnapshotView) Bytes(at, n int, buffer *[UnitSize]byte) ([]byte, error) {
	b, err := f.layer.Bytes(f.memory, at, n, buffer)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	return b, nil
}

// ReadBytes is Bytes of any number, copied to dst.
func (f *SnapshotView) ReadBytes(at int, dst []byte) error {
	if err := f.layer.ReadBytes(f.memory, at, dst); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return nil
}

// MetadataDiffers reports whether the enable bits or the chunk values of a chunk differ from those
// in a later snapshot's table that has the same rows.
func (f *SnapshotView) MetadataDiffers(later *SnapshotView, pos int) bool {
	return f.t.Metadata.differs(&later.t.Metadata, pos)
}

// IDSum returns the checksum of the entities that NoteIDSum noted, if it was called. Any goroutine
// may call both.
func (f *SnapshotView) IDSum() (sum uint32, known bool) {
	v := f.sum.Load()
	return uint32(v), v != 0
}

// NoteIDSum notes the checksum of the entities.
func (f *SnapshotView) NoteIDSum(sum uint32) { f.sum.Store(1<<32 | uint64(sum)) }

// LoadChunk loads all rows of a chunk.
func (f *SnapshotView) LoadChunk(pos int) error {
	n := f.t.Store.RowsOf(pos)
	if err := f.LoadRows(pos, 0, n); err != nil {
		return err
	}
	for _, c := range f.t.Store.Columns() {
		if err := f.LoadColumn(c, pos, 0, n); err != nil {
			return err
		}
	}
	return nil
}
