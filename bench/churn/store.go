package churn

import (
	"errors"
	"fmt"

	"quarry/alloc"
)

// store is a way to keep records. It is called once per batch, never once per request.
type store interface {
	serve(batch []request, a *answer) error
	live() int
	offHeap() int64 // bytes
	close() error
}

// objects keeps each record as a Go object.
type objects struct{ index[*object] }

func newObjects(n int) (store, error) {
	return &objects{newIndex(make([]entry[*object], entriesFor(n)))}, nil
}

func (s *objects) serve(batch []request, a *answer) error {
	for i := range batch {
		switch id := batch[i].id; batch[i].kind {
		case find:
			at := s.find(id)
			if at == nil {
				a.Missed++
				continue
			}
			o := *at
			o.hits++
			a.note(o.id, o.cents, o.hits, o.name)
		case put:
			s.put(id, newObject(id))
		case remove:
			if _, ok := s.take(id); !ok {
				a.Broken++
			}
		}
	}
	return nil
}

func (s *objects) live() int      { return s.used }
func (s *objects) offHeap() int64 { return 0 }
func (s *objects) close() error   { return nil }

// slots keeps all records in one slice.
type slots struct {
	index[uint32]
	records []record
	free    []uint32 // free indexes into records
}

func newSlots(n int) (store, error) {
	return &slots{index: newIndex(make([]entry[uint32], entriesFor(n))), records: make([]record, 0, n)}, nil
}

func (s *slots) serve(batch []request, a *answer) error {
	for i := range batch {
		switch id := batch[i].id; batch[i].kind {
		case find:
			at := s.find(id)
			if at == nil {
				a.Missed++
				continue
			}
			r := &s.records[*at]
			r.hits++
			a.note(r.id, r.cents, r.hits, r.name[:r.length])
		case put:
			at := uint32(len(s.records))
			if last := len(s.free) - 1; last >= 0 {
				at, s.free = s.free[last], s.free[:last]
			} else {
				s.records = append(s.records, record{})
			}
			s.records[at].set(id)
			s.put(id, at)
		case remove:
			at, ok := s.take(id)
			if !ok {
				a.Broken++
				continue
			}
			s.free = append(s.free, at)
		}
	}
	return nil
}

func (s *slots) live() int      { return s.used }
func (s *slots) offHeap() int64 { return 0 }
func (s *slots) close() error   { return nil }

// pool keeps records and index off the heap.
type pool struct {
	index[alloc.Ref[record]]
	universe *alloc.Universe
	heap     *alloc.Heap
	pages    *alloc.Pages
	records  *alloc.Pool[record]
}

func newPool(n int) (store, error) {
	u, err := alloc.NewUniverse()
	if err != nil {
		return nil, err
	}
	s := &pool{universe: u, pages: alloc.NewPages()}
	if s.heap, err = alloc.NewHeap(u); err != nil {
		return nil, errors.Join(err, u.Close())
	}
	if s.records, err = alloc.NewPool[record](s.heap); err != nil {
		return nil, errors.Join(err, s.heap.Close(), u.Close())
	}
	entries, err := alloc.MakeSlice[entry[alloc.Ref[record]]](s.pages, entriesFor(n), entriesFor(n))
	if err != nil {
		return nil, errors.Join(err, s.heap.Close(), u.Close())
	}
	clear(entries)
	s.index = newIndex(entries)
	return s, nil
}

func (s *pool) serve(batch []request, a *answer) error {
	for i := range batch {
		switch id := batch[i].id; batch[i].kind {
		case find:
			at := s.find(id)
			if at == nil {
				a.Missed++
				continue
			}
			r := s.records.Get(*at)
			if r == nil {
				return fmt.Errorf("churn: the record of %#x is gone", id)
			}
			r.hits++
			a.note(r.id, r.cents, r.hits, r.name[:r.length])
		case put:
			r, err := s.records.New()
			if err != nil {
				return err
			}
			r.set(id)
			s.put(id, s.records.Ref(r))
		case remove:
			at, ok := s.take(id)
			if !ok {
				a.Broken++
				continue
			}
			s.records.Free(s.records.Get(at))
		}
	}
	return nil
}

func (s *pool) live() int { return s.records.Len() }

func (s *pool) offHeap() int64 {
	return int64(s.universe.Stats().Committed) + int64(len(s.entries))*16
}

// close frees the live records first, because closing a pool with records in use is an error.
func (s *pool) close() error {
	for _, r := range s.records.All() {
		s.records.Free(r)
	}
	alloc.FreeSlice(s.pages, s.entries)
	return errors.Join(s.records.Close(), s.heap.Close(), s.universe.Close())
}
