package churn

import (
	"math/rand/v2"

	"quarry/alloc"
)

// The stream of requests.
//
// There is a seat for each record that may live. A seat has a use, which goes up by one whenever a
// record takes the seat. A record's id is a bijection of seat and use, so that ids look random and
// no id is given twice.
//
//	C1 an id that is put is not live, one that is removed is
//	C2 away seats are empty, give or take one; all others have a record
//	C3 the stream depends on the number of seats and on nothing else

// kind is the kind of a request.
type kind uint8

const (
	find kind = iota
	put
	remove
)

// request is one request of the stream.
type request struct {
	id   uint64
	kind kind
}

const (
	batchSize  = 16 // requests that are timed together
	awayAtMost = 1024
)

// stream draws requests.
type stream struct {
	rng    *rand.Rand
	uses   []uint32 // by seat
	gone   []bool   // by seat: it is empty
	away   []uint32 // ring of the empty seats, the oldest at next; while vacant, the oldest is behind the ring
	next   int
	vacant bool // the last change was a remove, so the next is a put
	misses int  // finds so far that must find nothing
	pages  *alloc.Pages
}

// newStream makes a stream over n seats, all of them taken except the first few.
func newStream(n int) (*stream, error) {
	s := &stream{rng: rand.New(rand.NewPCG(4, uint64(n))), pages: alloc.NewPages()}
	var err error
	if s.uses, err = alloc.MakeSlice[uint32](s.pages, n, n); err != nil {
		return nil, err
	}
	if s.gone, err = alloc.MakeSlice[bool](s.pages, n, n); err != nil {
		alloc.FreeSlice(s.pages, s.uses)
		return nil, err
	}
	clear(s.uses)
	clear(s.gone)
	for seat := range min(awayAtMost, n/8) {
		s.away = append(s.away, uint32(seat))
		s.gone[seat] = true
	}
	return s, nil
}

func (s *stream) close() {
	alloc.FreeSlice(s.pages, s.uses)
	alloc.FreeSlice(s.pages, s.gone)
}

// live is the number of records.
func (s *stream) live() int { return len(s.uses) - len(s.away) }

// idOf mixes seat and use as SplitMix64 does. An id is odd, because 0 is an empty entry.
func idOf(seat, use uint32) uint64 {
	z := (uint64(use)<<32 | uint64(seat)) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31 | 1
}

// fill returns the requests that put the initial records from a seat on, and the next seat.
func (s *stream) fill(batch []request, seat int) ([]request, int) {
	batch = batch[:0]
	for ; seat < len(s.uses) && len(batch) < cap(batch); seat++ {
		if !s.gone[seat] {
			batch = append(batch, request{idOf(uint32(seat), 0), put})
		}
	}
	return batch, seat
}

// draw replaces the batch by the next requests.
func (s *stream) draw(batch []request) {
	for i := range batch {
		r := s.rng.Uint64()
		seat := uint32((r >> 32) * uint64(len(s.uses)) >> 32)
		switch change := r%5 < 2; {
		case !change:
			if s.gone[seat] {
				s.misses++
			}
			batch[i] = request{idOf(seat, s.uses[seat]), find}
		case s.vacant:
			batch[i] = s.come()
		default:
			batch[i] = s.leave(seat)
		}
	}
}

// leave removes the record in a seat, or in the next one that is taken.
func (s *stream) leave(seat uint32) request {
	for s.gone[seat] {
		seat = (seat + 1) % uint32(len(s.uses))
	}
	s.gone[seat] = true
	id := idOf(seat, s.uses[seat])
	s.away[s.next], seat = seat, s.away[s.next]
	s.away = append(s.away, seat)
	s.vacant = true
	return request{id, remove}
}

// come puts a record in the seat that has been empty longest.
func (s *stream) come() request {
	last := len(s.away) - 1
	seat := s.away[last]
	s.away = s.away[:last]
	s.next = (s.next + 1) % last
	s.vacant = false
	s.gone[seat] = false
	s.uses[seat]++
	return request{idOf(seat, s.uses[seat]), put}
}
