package entity

import (
	"errors"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/asm"
	"quarry/ecs/internal/past"
	"quarry/internal/universe"
)

// The store. Indices are made in blocks of 8,192, which are numbered upwards in the order in which
// they are made. A block belongs to the owner or, as long as the store is open, to reservations for
// other goroutines (reserve.go). All live entities have their records in one array, at their
// indices:
//
//	block      0            1            2            3
//	made by    owner        a goroutine  owner        a goroutine
//	records    0..8,191     8,192..      16,384..     none yet: Reach makes the array longer
//	free bits  set or not   all clear    set or not
//
// Each index with a record also has one bit in Go memory, which is set while the index is free for
// the owner; in blocks of reservations it is never set. The owner takes a word of 64 free bits at a
// time and takes its indices from the lowest on. This needs no atomics, and the same operations
// give the same ids. The lowest word with a free bit is taken next, so the records in use stay
// together.
//
// Some indices are excluded and never name an entity. Index 0 is excluded for the zero ID. The
// index of the last record is excluded until there are more records: look-ups read it for an ID
// whose index has no record (lookuptable.go). A block of reservations can be the last one at any
// time, so its last index is never handed out.
//
// Versions: even = dead, odd = alive. Each change adds one, so versions wrap from 2^32-1 (alive) to
// 0 (dead), in blocks of both kinds. Version 0 is never alive.
//
// Invariants, checked by Verify; R4 to R7 are in reserve.go:
//
//	R1  An index of the owner with an even version has its bit set either in free or in the
//	    word at hand; with an odd version it has neither. Excluded indices and those of blocks of
//	    reservations have neither.
//	R2  nFree is the number of bits set in free and in the word at hand.
//	R3  A bit of summary is set exactly where the word of free is not zero, and no word
//	    of summary below hint has a set bit.
//	R8  total is the number of blocks, at most 16,384: own of the owner, which all have
//	    records, and the blocks of reservations, each in the metadata at its number.
//	R9  The view covers whole blocks of records, no more blocks than there are, and exactly the
//	    records that the extent holds; so do free and summary.
//	R10 A record that is not alive has the location Nowhere. In a block of reservations, a record is
//	    alive exactly where the block's version is odd, and then the versions are equal.

const (
	blockSize = 8192 // indices of a block: room is made by the block
	maxBlocks = MaxIDs / blockSize
)

// ErrFull is returned if all 2^27 indices are in use. Users see an ecs.LimitError.
var ErrFull = errors.New("entity: all indices are in use")

// Store hands out IDs and keeps their records. It belongs to one goroutine at a time, except that
// any goroutine may call Reserve, Hold, LetGo, TakeBack and Reserved.
type Store struct {
	u       *universe.Universe
	view    RecordsView      // the records (R9)
	records *universe.Extent // their memory
	past    *past.Memory     // of the records, while snapshots are alive; else nil, see past.go

	free     []uint64 // bit set: the index is free for the owner and not in the word at hand
	summary  []uint64 // bit set: the word of free is not zero (R3)
	hint     int      // first word of summary that may not be zero
	word     uint64   // free indices of the word at hand
	wordBase uint32   // index of bit 0 of the word at hand
	nFree    int      // free indices, those of the word at hand included (R2)
	own      int      // blocks of the owner
	start    uint32   // version of new records; 0 but in debug builds, see apart.go

	making       sync.Mutex                   // held to make a block
	most         int                          // most blocks that may be made; see Limit
	total        atomic.Int32                 // number of blocks made (R8); written while making is held
	reservations atomic.Pointer[reservations] // nil until the first block of reservations
	// Number of the snapshot taken last, for blocks of reservations; 0: none is alive.
	moment  atomic.Uint64
	ended   []*indexBlock // blocks of reservations that Restore has ended, and that may come back
	reading sync.RWMutex  // held to read where a block of a moment is copied, see past.go
}

// Open initializes a zero store for a world with a tag, with memory from u. It takes no memory yet.
func (s *Store) Open(u *universe.Universe, tag Tag) {
	s.u, s.view.tag, s.most = u, tag, maxBlocks
	s.records = u.NewExtent(MaxIDs * int(recordSize))
}

// Close frees all memory. Look-ups then find nothing. The error is from universe.Extent.Release.
func (s *Store) Close() error {
	err := s.records.Release()
	s.closeReservations()
	*s = Store{u: s.u, view: RecordsView{tag: s.view.tag}, records: s.records, most: s.most}
	return err
}

// View returns what look-ups need. MakeRoom, Reach, CopyFrom and Close change it.
func (s *Store) View() RecordsView { return s.view }

// Records returns the number of records.
func (s *Store) Records() int { return int(s.view.n) }

// Tag returns the tag of the store's IDs.
func (s *Store) Tag() Tag { return s.view.tag }

// SetTag changes the tag of a store that has not handed out any ID.
func (s *Store) SetTag(tag Tag) { s.view.tag, s.start = tag, 0 }

// Find returns e's record if e is alive in this store, else nil. It is small enough to be inlined.
func (s *Store) Find(e ID) *Record {
	if r := s.view.Record(e); r != nil && r.Is(e) {
		return r
	}
	return nil
}

// Free returns the number of indices that are free for the owner.
func (s *Store) Free() int { return s.nFree }

// Blocks returns the number of the owner's blocks of 8,192 indices.
func (s *Store) Blocks() int { return s.own }

// MakeRoom makes sure that n indices are free for the owner. New blocks come after all existing
// ones, so MakeRoom also makes records for the blocks of reservations before them. The error is
// ErrFull or from the extent; then nothing has changed.
func (s *Store) MakeRoom(n int) error {
	if n <= s.nFree {
		return nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	first, end, err := s.next(n - s.nFree)
	if err != nil {
		return err
	}
	before := s.view.n
	if err := s.resize(end); err != nil {
		return err
	}
	if s.start != 0 {
		s.startBlocks(first, end)
		s.startShown(before) // blocks of reservations may lie between
	}
	for number := first; number < end; number++ {
		s.addBlock(number)
	}
	s.hideLast()
	s.total.Store(int32(end))
	return nil
}

// next returns the numbers, from first up to end, of the owner's blocks to make if n indices are
// missing. making is held. The error is ErrFull.
func (s *Store) next(n int) (first, end int, err error) {
	first = int(s.total.Load())
	excluded := 1 // the index of the last record
	if first == 0 {
		excluded++
	}
	if s.ownsLast() {
		excluded-- // it will no longer be the last
	}
	end = first + (n+excluded+blockSize-1)/blockSize
	if end > s.most {
		return first, first, ErrFull
	}
	return first, end, nil
}

// Reach makes sure that all indices reserved so far have records, as Revive needs. Only the store's
// owner calls it. After an error, which is from the extent, nothing has changed.
func (s *Store) Reach() error {
	total := int(s.total.Load())
	before := s.view.n
	if total <= int(before)/blockSize {
		return nil
	}
	if err := s.resize(total); err != nil {
		return err
	}
	if s.start != 0 {
		s.startShown(before)
	}
	return nil
}

// resize extends the records to a number of blocks. None of the new indices is free yet. The index
// of the former last record becomes free if it is the owner's.
func (s *Store) resize(blocks int) error {
	if err := s.resizeRecords(blocks * blockSize * int(recordSize)); err != nil {
		return err
	}
	s.showLast()
	s.view.base, s.view.n = s.records.Base(), uint32(blocks*blockSize)
	words := blocks * blockSize / 64
	s.free = append(s.free, make([]uint64, words-len(s.free))...)
	s.summary = append(s.summary, make([]uint64, words/64-len(s.summary))...)
	return nil
}

// resizeRecords resizes the extent, whose bytes may move.
func (s *Store) resizeRecords(size int) (err error) {
	if s.past == nil {
		return s.records.Resize(size)
	}
	s.past.Resize(func() (unsafe.Pointer, int) {
		err = s.records.Resize(size)
		return s.Memory()
	})
	return err
}

// ownsLast reports whether the last record is in a block of the owner.
func (s *Store) ownsLast() bool {
	if s.view.n == 0 {
		return false
	}
	o := s.reservations.Load()
	return o == nil || o.of(s.view.n-1) == nil
}

// hideLast excludes the index of the last record; showLast makes it free again. Reach ends in a
// block of reservations, so it has nothing to hide.
func (s *Store) hideLast() {
	word := (s.view.n - 1) / 64
	s.free[word] &^= 1 << 63
	s.nFree--
}

func (s *Store) showLast() {
	if s.ownsLast() {
		s.release(s.view.n - 1)
	}
}

// Limit lets the store make at most more further blocks of 8,192 indices, of both kinds together.
// It is for tests near the end of the indices. A negative number removes the limit.
func (s *Store) Limit(more int) {
	s.most = maxBlocks
	if more >= 0 {
		s.most = min(s.most, int(s.total.Load())+more)
	}
}

// addBlock makes the indices of a block free for the owner.
func (s *Store) addBlock(number int) {
	first := number * blockSize
	for word := first / 64; word < (first+blockSize)/64; word++ {
		s.free[word] = ^uint64(0)
		s.summary[word/64] |= 1 << (word % 64)
	}
	s.nFree += blockSize
	if first == 0 {
		s.free[0] &^= 1 // index 0 is excluded
		s.nFree--
	}
	s.hint = min(s.hint, first/64/64)
	s.own++
}

// takeWord takes the lowest word that has a free bit. There must be one.
func (s *Store) takeWord() {
	for s.summary[s.hint] == 0 {
		s.hint++
	}
	word := s.hint*64 + bits.TrailingZeros64(s.summary[s.hint])
	s.word, s.wordBase = s.free[word], uint32(word*64)
	s.free[word] = 0
	s.summary[word/64] &^= 1 << (word % 64)
}

// Take makes a free index alive and returns its ID. An index must be free.
func (s *Store) Take(at Location) ID {
	if s.word == 0 {
		s.takeWord()
	}
	index := s.wordBase + uint32(bits.TrailingZeros64(s.word))
	s.word &= s.word - 1
	s.nFree--
	r := s.view.at(index)
	r.version++
	r.Location = at
	return ID{ref: index | uint32(s.view.tag), version: r.version}
}

// TakeRows is Take for len(ids) rows at consecutive locations starting with at. It fills ids.
func (s *Store) TakeRows(at Location, ids []ID) {
	// Kept in registers: the compiler cannot know that writing a record does not change the store.
	view, tag := s.view, uint32(s.view.tag)
	ahead := len(ids) // indices to take before more are prefetched
	if view.n > farRecords {
		ahead = 0
	}
	for len(ids) > 0 {
		if s.word == 0 {
			s.takeWord()
		}
		if ahead <= 0 {
			ahead = s.prefetch(len(ids))
		}
		if s.past != nil {
			s.keepWord()
		}
		word, base, n := s.word, s.wordBase, 0
		if word == ^uint64(0) && len(ids) >= 64 { // usually indices never used before
			// Safe because the word is of 64 indices whose records are the owner's.
			records := unsafe.Slice(view.at(base), 64)
			for n = range records {
				r := &records[n]
				r.version++
				r.Location = at + Location(n)
				ids[n] = ID{ref: (base + uint32(n)) | tag, version: r.version}
			}
			at, n, word = at+64, 64, 0
		}
		for ; word != 0 && n < len(ids); word &= word - 1 {
			index := base + uint32(bits.TrailingZeros64(word))
			r := view.at(index)
			r.version++
			r.Location = at
			ids[n] = ID{ref: index | tag, version: r.version}
			at++
			n++
		}
		s.word = word
		s.nFree -= n
		ahead -= n
		ids = ids[n:]
	}
}

// farRecords is how many records fit in a part of a second-level cache. Below that, prefetching
// costs more than it gains.
const farRecords = 1 << 16

// prefetch prefetches the records of the free indices that are taken next, up to n and while words
// have few of them, and returns how many indices the caller may take before the next call.
func (s *Store) prefetch(n int) (ahead int) {
	var room [64]uintptr
	lines := room[:0]
	word, base, at := s.word, s.wordBase, s.hint
	var summary uint64
	if at < len(s.summary) {
		summary = s.summary[at]
	}
	for {
		if len(lines)+bits.OnesCount64(word) > len(room) || bits.OnesCount64(word) > 8 {
			ahead += bits.OnesCount64(word)
			break
		}
		for ; word != 0; word &= word - 1 {
			// Safe because the address is only a number.
			r := s.view.at(base + uint32(bits.TrailingZeros64(word)))
			lines = append(lines, uintptr(unsafe.Pointer(r)))
		}
		for summary == 0 && at+1 < len(s.summary) {
			at++
			summary = s.summary[at]
		}
		if summary == 0 || len(lines) >= n {
			break
		}
		i := at*64 + bits.TrailingZeros64(summary)
		word, base, summary = s.free[i], uint32(i*64), summary&(summary-1)
	}
	asm.Prefetch(lines)
	return ahead + len(lines)
}

// FreeID ends the live ID e, whose record is r, and frees its index.
func (s *Store) FreeID(e ID, r *Record) {
	*r = Record{version: r.version + 1, Location: Nowhere}
	index := e.Index()
	if o := s.reservations.Load(); o != nil && o.of(index) != nil {
		s.giveReserved([]ID{e})
		return
	}
	s.release(index)
}

// release makes an index of the owner free.
func (s *Store) release(index uint32) {
	word := int(index / 64)
	before := s.free[word]
	s.free[word] = before | 1<<(index%64)
	if before == 0 { // otherwise summary has the word, and hint is not above it (R3)
		s.summary[word/64] |= 1 << (word % 64)
		s.hint = min(s.hint, word/64)
	}
	s.nFree++
}

// FreeIDs is FreeID for the IDs of rows.
func (s *Store) FreeIDs(ids []ID) {
	if s.past != nil {
		s.keepAll(ids)
	}
	o := s.reservations.Load()
	for n := 0; len(ids) > 0; ids = ids[n:] {
		if o != nil && o.of(ids[0].Index()) != nil {
			_, n = o.run(ids)
			for _, e := range ids[:n] {
				r := s.view.Record(e)
				*r = Record{version: r.version + 1, Location: Nowhere}
			}
			s.giveReserved(ids[:n])
		} else {
			n = s.freeWord(ids)
		}
	}
}

// freeWord is FreeIDs for the leading ids whose bits are in one word, and returns their number. It
// is a separate function so that its loop has the registers to itself.
func (s *Store) freeWord(ids []ID) (n int) {
	base := s.view.base
	word, mask := ids[0].Index()/64, uint64(0)
	free := &s.free[word] // before the loop: its bounds check also rejects an invalid index
	for ; n < len(ids) && ids[n].Index()/64 == word; n++ {
		index := ids[n].Index()
		// Safe because an index with a bit in free has a record.
		r := (*Record)(unsafe.Add(base, uintptr(index)*recordSize))
		*r = Record{version: r.version + 1, Location: Nowhere}
		mask |= 1 << (index % 64)
	}
	*free |= mask
	s.summary[word/64] |= 1 << (word % 64)
	s.hint = min(s.hint, int(word/64))
	s.nFree += bits.OnesCount64(mask)
	return n
}

// PutBack puts the bits of the word at hand back into free, so that the lowest free index is taken
// next.
func (s *Store) PutBack() {
	if word := s.wordBase / 64; s.word != 0 {
		s.free[word] |= s.word
		s.summary[word/64] |= 1 << (word % 64)
		s.hint = min(s.hint, int(word/64))
		s.word = 0
	}
}

// Move sets the location of a live ID.
func (s *Store) Move(e ID, at Location) { s.view.Record(e).Location = at }

// Locate returns the location of a live ID.
func (s *Store) Locate(e ID) Location { return s.view.Record(e).Location }

// AddressOf returns the address of the record of an ID of the store, for prefetching.
func (s *Store) AddressOf(e ID) uintptr {
	// Safe because the address is only a number.
	return uintptr(s.view.base) + uintptr(e.Index())*recordSize
}

// MoveRows is Move for the IDs of rows at consecutive locations starting with at.
func (s *Store) MoveRows(ids []ID, at Location) {
	if s.past != nil {
		s.keepAll(ids)
	}
	view := s.view // in registers, as in TakeRows
	for i, e := range ids {
		view.Record(e).Location = at + Location(i)
	}
}
