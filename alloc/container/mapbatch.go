package container

import (
	"fmt"
	"unsafe"

	"quarry/asm"
)

// batch is how many keys GetMany hashes ahead. Each costs two lines of the CPU's first cache.
const batch = 32

// GetMany looks up keys: values[i] and found[i] are as Get returns them for keys[i]. It prefetches
// the memory of many keys at once, so in a map that is larger than the CPU's caches a key costs a
// fraction of a Get. It panics unless the slices have one length.
func (m *Map[K, V]) GetMany(keys []K, values []V, found []bool) {
	m.check("Map.GetMany")
	if len(values) != len(keys) || len(found) != len(keys) {
		panic(fmt.Sprintf("container: Map.GetMany: %d keys, %d values, %d found", len(keys), len(values), len(found)))
	}
	if m.changes == 0 {
		clear(values)
		clear(found)
		return
	}
	var hashes [batch]uint64
	var lines [2 * batch]uintptr
	for len(keys) > 0 {
		n := min(len(keys), batch)
		for i, key := range keys[:n] {
			h := m.hash(key)
			t, groups := m.table(h)
			// Safe because it is a group of the table; the line after it is only prefetched.
			at := uintptr(unsafe.Add(t, uintptr(firstGroup(h, groups))*m.stride))
			hashes[i], lines[2*i], lines[2*i+1] = h, at, at+64
		}
		asm.Prefetch(lines[:2*n])
		for i, key := range keys[:n] {
			s := m.find(key, hashes[i])
			found[i] = s != nil
			if s != nil {
				values[i] = s.value
			} else {
				clear(values[i : i+1])
			}
		}
		keys, values, found = keys[n:], values[n:], found[n:]
	}
}
