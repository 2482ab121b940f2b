package main

import (
	"errors"
	"time"

	"quarry/alloc"
	"quarry/alloc/container"
)

// heapMap is a map with a heap and a universe of its own.
type heapMap struct {
	u *alloc.Universe
	h *alloc.Heap
	m *container.Map[uint64, uint64]
}

// newHeapMap returns an empty one.
func newHeapMap(small bool, options ...alloc.Option) (*heapMap, error) {
	if small {
		options = append(options, alloc.SmallPages())
	}
	u, err := alloc.NewUniverse(options...)
	if err != nil {
		return nil, err
	}
	h, err := alloc.NewHeap(u)
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	m, err := container.NewMap[uint64, uint64](h)
	if err != nil {
		return nil, errors.Join(err, h.Close(), u.Close())
	}
	return &heapMap{u, h, m}, nil
}

// fill adds len(times) entries.
func (x *heapMap) fill(times []time.Duration) (err error) {
	timed(times, func(i uint64) {
		if failed := x.m.Set(mix(i), i); failed != nil {
			err = failed
		}
	})
	return err
}

// clear empties the map and gives all memory back to the system.
func (x *heapMap) clear() error {
	x.m.Clear()
	err := x.h.Trim()
	_, trimmed := x.u.Trim(0)
	return errors.Join(err, trimmed)
}

func (x *heapMap) close() error {
	x.m.Close()
	return errors.Join(x.h.Close(), x.u.Close())
}
