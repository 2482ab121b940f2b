package alloc

import (
	"math/bits"
)

// slab describes a run of chunks that the heap holds: either one chunk cut into
// slots of one class, or a run that is a single block. It lies in Go memory, so
// a block that is overrun damages its neighbours but not the books.
type slab struct {
	next, prev *slab             // list of slabs of the class with a free slot; nil at the ends
	mask       [slotWords]uint64 // bit set: slot in use; bits beyond the class's slots are set
	first      ChunkIndex        // first chunk
	chunks     uint16            // chunks of the run; 1 for slots
	used       uint16            // slots in use; 1 for a run
	low        uint16            // no word of mask below this one has a clear bit
	class      uint8             // class, or runClass
	listed     bool              // in the list of its class
}

const runClass = 255

// reset makes s an empty slab of a class.
func (s *slab) reset(first ChunkIndex, class int) {
	*s = slab{first: first, chunks: 1, class: uint8(class)}
	slots := int(classSlots[class])
	for i := range s.mask {
		switch {
		case (i+1)*64 <= slots:
		case i*64 >= slots:
			s.mask[i] = ^uint64(0)
		default:
			s.mask[i] = ^uint64(0) << (slots % 64)
		}
	}
}

// take marks the lowest free slot in use and returns it. There must be one.
func (s *slab) take() uint32 {
	i := int(s.low)
	for s.mask[i] == ^uint64(0) {
		i++
	}
	s.low = uint16(i)
	bit := bits.TrailingZeros64(^s.mask[i])
	s.mask[i] |= 1 << bit
	s.used++
	return uint32(i*64 + bit)
}

// give marks a slot free and returns false when it was free already.
func (s *slab) give(slot uint32) bool {
	i, m := slot/64, uint64(1)<<(slot%64)
	if s.mask[i]&m == 0 {
		return false
	}
	s.mask[i] &^= m
	s.used--
	s.low = min(s.low, uint16(i))
	return true
}

func (s *slab) isFull() bool { return s.used == classSlots[s.class] }

// slabTable finds the slab of a chunk: one page of 64 entries per megachunk,
// made when the heap first holds a chunk of it.
type slabTable struct {
	pages []*[ChunksPerMegachunk]*slab
}

func (t *slabTable) at(c ChunkIndex) *slab {
	if page := t.pages[c/ChunksPerMegachunk]; page != nil {
		return page[c%ChunksPerMegachunk]
	}
	return nil
}

// set enters s for the n chunks from first on; nil takes them out.
func (t *slabTable) set(first ChunkIndex, n int, s *slab) {
	page := t.pages[first/ChunksPerMegachunk]
	if page == nil {
		page = new([ChunksPerMegachunk]*slab)
		t.pages[first/ChunksPerMegachunk] = page
	}
	for i := range n {
		page[int(first)%ChunksPerMegachunk+i] = s
	}
}

// slabList is a list of slabs, newest first.
type slabList struct{ head *slab }

func (l *slabList) push(s *slab) {
	s.next, s.prev, s.listed = l.head, nil, true
	if l.head != nil {
		l.head.prev = s
	}
	l.head = s
}

func (l *slabList) remove(s *slab) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.head = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.next, s.prev, s.listed = nil, nil, false
}
