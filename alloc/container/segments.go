package container

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"quarry/alloc"
)

// backFull reports whether the position behind the last element has no segment.
func (s *segments) backFull() bool {
	if len(s.dir) == 1 {
		return s.count == s.room
	}
	return (s.head+s.count)&(s.room-1) == 0
}

// frontFull reports whether the position before the first element has no segment.
func (s *segments) frontFull() bool {
	if len(s.dir) == 1 {
		return s.count == s.room
	}
	return s.head&(s.room-1) == 0
}

// growBack makes room for an element at the back.
func (s *segments) growBack() error {
	if len(s.dir) == 1 {
		return s.growRing(false)
	}
	p, err := s.segment()
	if err != nil {
		return err
	}
	if s.dir[(s.head+s.count)&s.mask>>s.shift] != nil {
		s.setDirectory(2 * len(s.dir))
	}
	s.dir[(s.head+s.count)&s.mask>>s.shift] = p
	return nil
}

// growFront makes room for an element at the front.
func (s *segments) growFront() error {
	if len(s.dir) == 1 {
		return s.growRing(true)
	}
	p, err := s.segment()
	if err != nil {
		return err
	}
	if s.dir[(s.head-1)&s.mask>>s.shift] != nil {
		s.setDirectory(2 * len(s.dir))
	}
	s.dir[(s.head-1)&s.mask>>s.shift] = p
	return nil
}

// growRing doubles a full ring, or turns it into segments: what lies before head, and belongs
// behind the end, moves to the second segment.
func (s *segments) growRing(front bool) error {
	if s.room < s.per {
		old, room, err := s.setRoom(min(max(2*s.room, firstRoom), s.per))
		s.freeBlock(old, room)
		return err
	}
	p, err := s.segment()
	if err != nil {
		return err
	}
	ring := s.dir[0]
	s.makeDirectory(4)
	s.dir[0] = ring
	if front && s.head == 0 {
		s.dir[len(s.dir)-1] = p
		return nil
	}
	s.dir[1] = p
	s.move(p, ring, s.head)
	return nil
}

// makeDirectory makes the directory n entries long, all nil.
func (s *segments) makeDirectory(n int) {
	if cap(s.dir) < n {
		s.dir = make([]unsafe.Pointer, n)
	}
	s.dir = s.dir[:n]
	clear(s.dir)
	s.mask = n<<s.shift - 1
}

// setDirectory makes the directory n entries long, at least as many as there are segments, and puts
// the first segment at its start.
func (s *segments) setDirectory(n int) {
	old, first := s.dir, s.head>>s.shift
	used := s.used()
	s.dir = make([]unsafe.Pointer, n)
	for i := range used {
		s.dir[i] = old[(first+i)&(len(old)-1)]
	}
	s.head &= s.room - 1
	s.mask = n<<s.shift - 1
}

// used returns the number of segments that hold elements.
func (s *segments) used() int {
	return (s.head&(s.room-1) + s.count + s.room - 1) >> s.shift
}

// setRoom gives a ring another room, at least count, and returns the block that it had, which the
// caller frees.
func (s *segments) setRoom(room int) (old unsafe.Pointer, oldRoom int, err error) {
	if s.size > 0 && room > math.MaxInt/2/s.size {
		return nil, 0, fmt.Errorf("%d elements of %d bytes: %w", room, s.size, alloc.ErrTooBig)
	}
	p, err := s.alloc(room*s.size, s.align)
	if err != nil {
		return nil, 0, err
	}
	old, oldRoom = s.dir[0], s.room
	if s.count > 0 {
		first := min(s.count, s.room-s.head)
		s.move(p, s.at(0), first)
		// Safe because the block has room for count elements.
		s.move(unsafe.Add(p, first*s.size), old, s.count-first)
	}
	s.dir[0], s.head, s.room, s.shift, s.mask = p, 0, room, bits.Len(uint(room))-1, room-1
	return old, oldRoom, nil
}

// move copies n elements.
func (s *segments) move(to, from unsafe.Pointer, n int) {
	if bytes := n * s.size; bytes > 0 {
		// Safe because the callers have n elements at both.
		copy(unsafe.Slice((*byte)(to), bytes), unsafe.Slice((*byte)(from), bytes))
	}
}

// segment returns a segment that is spare or new.
func (s *segments) segment() (unsafe.Pointer, error) {
	if n := len(s.spare); n > 0 {
		p := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return p, nil
	}
	return s.alloc(s.room*s.size, s.align)
}

// freeBlock frees a block of room elements, or nil.
func (s *segments) freeBlock(p unsafe.Pointer, room int) {
	if p != nil {
		s.source.free(p, room*s.size, s.align)
	}
}

// release takes the segment of a position out of the directory.
func (s *segments) release(pos int) {
	p := s.dir[pos>>s.shift]
	s.dir[pos>>s.shift] = nil
	if len(s.spare) < s.keep {
		s.spare = append(s.spare, p)
		return
	}
	s.freeBlock(p, s.room)
}

// part returns the number of elements from element i on that lie one behind the other.
func (s *segments) part(i int) int {
	pos := (s.head + i) & s.mask
	return min(s.room-pos&(s.room-1), s.count-i)
}

// dropFront removes n elements of the first segment.
func (s *segments) dropFront(n int) {
	pos := s.head
	s.head = (s.head + n) & s.mask
	s.count -= n
	if len(s.dir) == 1 {
		return
	}
	if s.count == 0 {
		s.settle(pos)
	} else if s.head&(s.room-1) == 0 {
		s.release(pos)
	}
}

// dropBack removes the last element.
func (s *segments) dropBack() {
	s.count--
	if len(s.dir) == 1 {
		return
	}
	pos := (s.head + s.count) & s.mask
	if s.count == 0 {
		s.settle(pos)
	} else if pos&(s.room-1) == 0 {
		s.release(pos)
	}
}

// settle makes a ring of the last segment, that of the given position.
func (s *segments) settle(pos int) {
	p := s.dir[pos>>s.shift]
	s.makeDirectory(1)
	s.dir[0] = p
	s.head &= s.room - 1
}

// reserve makes the next n pushes at the back succeed. It returns a block that the caller frees
// when it no longer reads there.
func (s *segments) reserve(n int) (old unsafe.Pointer, oldRoom int, err error) {
	if n > math.MaxInt/4-s.count || n > math.MaxInt/4/max(s.size, 1) {
		return nil, 0, fmt.Errorf("%d bytes each: %w", s.size, alloc.ErrTooBig)
	}
	if n <= s.free() {
		return nil, 0, nil
	}
	if len(s.dir) == 1 && s.room < s.per {
		room := min(s.per, 1<<bits.Len(uint(max(s.count+n, firstRoom)-1)))
		if old, oldRoom, err = s.setRoom(room); err != nil {
			return nil, 0, err
		}
	}
	had := len(s.spare)
	for s.free() < n {
		p, err := s.alloc(s.room*s.size, s.align)
		if err != nil {
			s.cut(had)
			s.freeBlock(old, oldRoom)
			return nil, 0, err
		}
		s.spare = append(s.spare, p)
	}
	return old, oldRoom, nil
}

// free returns the number of elements that fit at the back without a call of the allocator.
func (s *segments) free() int {
	if len(s.dir) > 1 {
		return -(s.head+s.count)&(s.room-1) + len(s.spare)*s.room
	}
	if len(s.spare) == 0 {
		return s.room - s.count
	}
	return (1+len(s.spare))*s.room - s.head - s.count // once it is no longer a ring
}

// cut frees the spare segments from the n-th on.
func (s *segments) cut(n int) {
	for len(s.spare) > n {
		last := len(s.spare) - 1
		p := s.spare[last]
		s.spare = s.spare[:last]
		s.freeBlock(p, s.room)
	}
}

func (s *segments) clear() {
	for s.count > 0 {
		s.dropFront(s.part(0))
	}
	s.head = 0
}

func (s *segments) trim() {
	s.cut(0)
	s.spare, s.keep = nil, 1
	if len(s.dir) > 1 && s.used() > 1 {
		if n := max(4, 1<<bits.Len(uint(s.used()-1))); n < len(s.dir) {
			s.setDirectory(n)
		}
		return
	}
	if len(s.dir) > 1 {
		s.settle(s.head)
	}
	if cap(s.dir) > 1 {
		s.dir = []unsafe.Pointer{s.dir[0]}
	}
	if s.count == 0 {
		p, room := s.dir[0], s.room
		s.dir[0], s.head, s.room, s.shift, s.mask = nil, 0, 0, 0, -1
		s.freeBlock(p, room)
		return
	}
	if room := max(firstRoom, 1<<bits.Len(uint(s.count-1))); room < s.room {
		if old, oldRoom, err := s.setRoom(room); err == nil {
			s.freeBlock(old, oldRoom)
		}
	}
}

func (s *segments) close() {
	if s.from == nil || s.closed {
		return
	}
	if !s.hold.Lost() {
		s.cut(0)
		for i, p := range s.dir {
			s.dir[i] = nil
			s.freeBlock(p, s.room)
		}
	}
	s.closed, s.dir, s.spare, s.count = true, nil, nil, 0
}

// verify checks Q1 to Q5.
func (s *segments) verify() error {
	n := len(s.dir)
	switch {
	case s.room&(s.room-1) != 0 || s.room < 0 || s.room > s.per || n > 1 && s.room != s.per:
		return fmt.Errorf("container: Q1: room %d of at most %d, %d segments", s.room, s.per, n)
	case n < 1 || n&(n-1) != 0 || s.mask != n*s.room-1 || s.room > 0 && s.room != 1<<s.shift ||
		s.head&^max(s.mask, 0) != 0:
		return fmt.Errorf("container: Q2: directory of %d, room %d = 1 << %d, last position %d, head %d",
			n, s.room, s.shift, s.mask, s.head)
	case n == 1 && ((s.dir[0] != nil) != (s.room > 0) || s.count < 0 || s.count > s.room):
		return fmt.Errorf("container: Q3: %d elements in a ring of %d, block %p", s.count, s.room, s.dir[0])
	}
	var err error
	if n > 1 {
		err = s.verifyDirectory()
	}
	for i, p := range s.spare {
		if p == nil || slices.Contains(s.spare[:i], p) || slices.Contains(s.dir, p) {
			err = errors.Join(err, fmt.Errorf("container: Q5: spare segment %d at %p is in use or there twice", i, p))
		}
	}
	return err
}

// verifyDirectory checks Q4.
func (s *segments) verifyDirectory() error {
	if s.count < 1 || s.used() > len(s.dir) {
		return fmt.Errorf("container: Q4: %d elements from position %d on in %d segments of %d",
			s.count, s.head, len(s.dir), s.room)
	}
	seen := map[unsafe.Pointer]bool{}
	for i := range s.dir {
		at := (s.head>>s.shift + i) & (len(s.dir) - 1)
		p := s.dir[at]
		if (p != nil) != (i < s.used()) || p != nil && seen[p] {
			return fmt.Errorf("container: Q4: segment %d is %p; %d segments hold elements, from %d on",
				at, p, s.used(), s.head>>s.shift)
		}
		seen[p] = true
	}
	return nil
}
