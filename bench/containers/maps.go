package main

import (
	"errors"
	"runtime"

	"quarry/alloc"
	"quarry/alloc/container"
)

// goMap measures Go's map.
func goMap(n int) (f figures) {
	inUse := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return s.HeapInuse
	}
	m, before := map[uint64]uint64{}, inUse()
	f.insert = each(n, func() {
		for i := range uint64(n) {
			m[mix(i)] = i
		}
	})
	f.bytes = float64(inUse()-before) / float64(n)
	f.hit = each(lookups, func() {
		for i := range lookups {
			f.sum += m[mix(picked(i, n))]
		}
	})
	f.many = f.hit // it has no such call
	f.miss = each(lookups, func() {
		for i := range lookups {
			f.sum += m[mix(picked(i, n)+uint64(n))]
		}
	})
	f.iterate = each(n, func() {
		for k, v := range m {
			f.sum += k ^ v
		}
	})
	f.collect = collection()
	f.remove = each(n, func() {
		for i := range uint64(n) {
			delete(m, mix(i))
		}
	})
	runtime.KeepAlive(m)
	return f
}

// quarryMap measures container.Map on a heap.
func quarryMap(n int, small bool) (f figures, err error) {
	x, err := newHeapMap(small)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, x.close()) }()
	m := x.m
	set := func(i uint64) {
		if failed := m.Set(mix(i), i); failed != nil {
			err = failed
		}
	}
	runtime.GC()
	f.insert = each(n, func() {
		for i := range uint64(n) {
			set(i)
		}
	})
	f.bytes = float64(x.h.Stats().Chunks*alloc.ChunkSize) / float64(n)
	f.lookUp(m, n)
	f.iterate = each(n, func() {
		for k, v := range m.All() {
			f.sum += k ^ v
		}
	})
	f.collect = collection()
	f.remove = each(n, func() {
		for i := range uint64(n) {
			m.Delete(mix(i))
		}
	})
	return f, err
}

// lookUp measures look-ups one by one and many at a time.
func (f *figures) lookUp(m *container.Map[uint64, uint64], n int) {
	f.hit = each(lookups, func() {
		for i := range lookups {
			v, _ := m.Get(mix(picked(i, n)))
			f.sum += v
		}
	})
	sum := f.sum
	const batch = 1024
	keys, values, found := make([]uint64, batch), make([]uint64, batch), make([]bool, batch)
	f.many = each(lookups, func() {
		for first := 0; first < lookups; first += batch {
			for i := range keys {
				keys[i] = mix(picked(first+i, n))
			}
			m.GetMany(keys, values, found)
			for _, v := range values {
				sum -= v
			}
		}
	})
	f.sum += sum // nothing, if GetMany has found what Get did
	f.miss = each(lookups, func() {
		for i := range lookups {
			v, _ := m.Get(mix(picked(i, n) + uint64(n)))
			f.sum += v
		}
	})
}
