package container

import (
	"fmt"
	"math"
	"unsafe"

	"quarry/alloc"
)

// grow makes room in the table of a hash: it gets a table, its dead slots are cleared away, or it
// is replaced by a larger one or by two.
func (m *Map[K, V]) grow(h uint64) error {
	class := m.class(h)
	if class == 0 {
		return m.replace(h, 1)
	}
	tab, n := m.table(h)
	md := m.meta(tab, n)
	m.widen(md.depth, class)
	switch {
	case md.dead >= md.live/8+1:
		return m.replace(h, class)
	case class < m.largest:
		return m.replace(h, m.grown(class))
	case md.depth < maxDepth:
		if done, err := m.split(h, max(m.limit(m.largest)/8, 1)); done || err != nil {
			return err
		}
	}
	if class+1 == m.classes {
		return errHashes
	}
	return m.replace(h, class+1)
}

// replace moves the entries of the table of a hash, if it has one, to a new table with room for
// them.
func (m *Map[K, V]) replace(h uint64, class int) error {
	was := m.class(h)
	old, n := m.table(h)
	var md meta
	if was != 0 {
		md = *m.meta(old, n)
	}
	fresh, err := m.newTable(class, md.depth)
	if err != nil {
		return err
	}
	to := part{fresh, m.groups[class]}
	m.move(old, n, [2]part{to, to}, md.depth)
	m.meta(fresh, to.n).live = md.live
	m.point(h, md.depth, fresh, class)
	if was != 0 {
		m.freeTable(old, was)
	}
	return nil
}

// split replaces the table of a hash by two, unless one of them would have less than so many keys.
func (m *Map[K, V]) split(h uint64, least uint32) (done bool, err error) {
	was := m.class(h)
	old, n := m.table(h)
	md := *m.meta(old, n)
	live := m.parts(old, n, md.depth)
	if min(live[0], live[1]) < least {
		return false, nil
	}
	var class [2]int
	var fresh [2]unsafe.Pointer
	defer func() { // also when the allocator panics
		for i := range fresh {
			if !done && fresh[i] != nil {
				m.freeTable(fresh[i], class[i])
			}
		}
	}()
	for i := range fresh {
		class[i] = m.fit(live[i])
		if fresh[i], err = m.newTable(class[i], md.depth+1); err != nil {
			return false, err
		}
	}
	if md.depth == m.depth() {
		if err = m.double(); err != nil {
			return false, err
		}
	}
	to := [2]part{{fresh[0], m.groups[class[0]]}, {fresh[1], m.groups[class[1]]}}
	m.move(old, n, to, md.depth)
	for i := range fresh {
		m.meta(fresh[i], to[i].n).live = live[i]
		low := uint64(1) << (63 - md.depth)
		m.point(h&^low|uint64(i)*low, md.depth+1, fresh[i], class[i])
	}
	done = true
	m.freeTable(old, was)
	return done, nil
}

// merge replaces the table of a hash and its other half by one, if that would be at most three
// quarters full. A table with a NaN stays: a loop could not know which half it was in.
func (m *Map[K, V]) merge(h uint64) (done bool, err error) {
	var was [2]int
	var old [2]unsafe.Pointer
	var n, live [2]uint32
	tab, groups := m.table(h)
	d := m.meta(tab, groups).depth
	low := uint64(1) << (64 - d)
	h &^= low
	nans := false
	for i := range old {
		half := h | uint64(i)*low
		was[i] = m.class(half)
		old[i], n[i] = m.table(half)
		md := m.meta(old[i], n[i])
		live[i] = md.live
		if md.depth != d {
			return false, nil
		}
	}
	sum := live[0] + live[1]
	if sum > m.limit(m.largest)/4*3 {
		return false, nil
	}
	for i := range old {
		m.eachLive(old[i], n[i], func(s *slot[K, V]) { nans = nans || s.key != s.key })
	}
	if nans {
		return false, nil
	}
	class := m.fit(sum)
	fresh, err := m.newTable(class, d-1)
	if err != nil {
		return false, err
	}
	to := part{fresh, m.groups[class]}
	for i := range old {
		m.move(old[i], n[i], [2]part{to, to}, d)
	}
	m.meta(fresh, to.n).live = sum
	m.point(h, d-1, fresh, class)
	for i := range old {
		m.freeTable(old[i], was[i])
	}
	return true, nil
}

// part is a table of n groups that entries move to.
type part struct {
	tab unsafe.Pointer
	n   uint32
}

// side returns which part of a table of depth d an entry goes to. Entries that are not equal to
// themselves take turns: they have another hash each time, and are found in no part.
func (m *Map[K, V]) side(s *slot[K, V], h uint64, d uint8, turn *uint64) uint64 {
	if s.key != s.key {
		*turn ^= 1
		return *turn
	}
	return h >> (63 - d) & 1
}

// parts counts the entries of each part of a table of n groups and depth d.
func (m *Map[K, V]) parts(tab unsafe.Pointer, n uint32, d uint8) (live [2]uint32) {
	turn := uint64(0)
	for g := range uintptr(n) {
		// Safe because the table has n groups, and the lanes are of slots.
		group := unsafe.Add(tab, g*m.stride)
		for w := ^*(*uint64)(group) & m.lanes; w != 0; w &= w - 1 {
			s := (*slot[K, V])(unsafe.Add(group, wordBytes+uintptr(lane(w))*unsafe.Sizeof(slot[K, V]{})))
			live[m.side(s, m.hash(s.key), d, &turn)&1]++
		}
	}
	return live
}

// move copies the entries of a table of n groups and depth d to its parts, which have room for
// them. The parts' counts are the caller's.
func (m *Map[K, V]) move(tab unsafe.Pointer, n uint32, to [2]part, d uint8) {
	turn := uint64(0)
	for g := range uintptr(n) {
		// Safe because the table has n groups, and the lanes are of slots.
		group := unsafe.Add(tab, g*m.strideOf())
		for w := ^*(*uint64)(group) & m.lanesOf(); w != 0; w &= w - 1 {
			s := m.slot(group, lane(w))
			var h uint64
			if m.integer {
				h = m.hashInteger(bitsOf(&s.key))
			} else {
				h = m.hashAny(s.key)
			}
			p := &to[m.side(s, h, d, &turn)&1]
			first := unsafe.Add(p.tab, uintptr(firstGroup(h, p.n))*m.strideOf())
			if v := *(*uint64)(first) & m.lanesOf(); v != 0 {
				i := lane(v)
				setByte((*uint64)(first), i, h&tagBits)
				*m.slot(first, i) = *s
				continue
			}
			// Safe because put returns a slot of the part.
			*(*slot[K, V])(m.put(p.tab, p.n, h)) = *s
		}
	}
}

// eachLive calls f with each live slot of a table.
func (m *Map[K, V]) eachLive(tab unsafe.Pointer, n uint32, f func(s *slot[K, V])) {
	for g := range uintptr(n) {
		// Safe because the table has n groups, and the lanes are of slots.
		group := unsafe.Add(tab, g*m.stride)
		for live := ^*(*uint64)(group) & m.lanes; live != 0; live &= live - 1 {
			f((*slot[K, V])(unsafe.Add(group, wordBytes+uintptr(lane(live))*unsafe.Sizeof(slot[K, V]{}))))
		}
	}
}

// Reserve makes room, so that the map can grow to n entries without allocating, unless their hashes
// are spread very unevenly. On an error of the allocator the map keeps what it got; Trim gives it
// back.
func (m *Map[K, V]) Reserve(n int) error {
	m.check("Map.Reserve")
	m.changes++
	if n > mostReserved/int(max(m.size, 1)) { // else the allocator would be empty when it refuses
		return fmt.Errorf("container: Map.Reserve: %d entries of %d bytes: %w", n, m.size, alloc.ErrTooBig)
	}
	for h := uint64(0); n > m.count; {
		class := m.class(h)
		var md meta
		if class != 0 {
			md = *m.meta(m.table(h))
		}
		depth := md.depth
		share := float64(n) / float64(uint64(1)<<depth)
		if depth > 0 {
			share += reserveSpread * math.Sqrt(share)
		}
		want := 1
		for want < m.largest && float64(m.limit(want)) < share {
			want++
		}
		switch {
		case class == 0:
			if err := m.replace(h, want); err != nil {
				return err
			}
			continue
		case share > float64(m.limit(m.largest)) && depth < maxDepth:
			done, err := m.split(h, 0)
			if err != nil {
				return err
			}
			if done {
				continue
			}
		case want > class || md.dead > 0: // dead slots are no room
			if err := m.replace(h, max(want, class)); err != nil {
				return err
			}
		}
		if h += 1 << (64 - depth); h == 0 || depth == 0 {
			break
		}
	}
	return nil
}

const (
	// Tables have a random share of the entries: one in 30,000 has 4 standard deviations more.
	reserveSpread = 4

	mostReserved = 1 << 46 // bytes of entries: no address space has more
)

// Trim returns memory to the allocator after removals: tables that are nearly empty are merged or
// made smaller, and a map without entries has no block. It returns the allocator's error if that
// refuses a smaller block; the map has its entries in any case. Cost: 10 ns an entry.
func (m *Map[K, V]) Trim() error {
	m.check("Map.Trim")
	m.changes++
	if m.count == 0 {
		m.drop()
		return nil
	}
	for h := uint64(0); ; {
		class := m.class(h)
		tab, n := m.table(h)
		md := *m.meta(tab, n)
		if md.depth > 0 {
			merged, err := m.merge(h)
			if err != nil {
				return err
			}
			if merged {
				h &^= 1 << (64 - md.depth) // the merged table's first
				continue
			}
		}
		if fit := m.fit(md.live); fit < class {
			if err := m.replace(h, fit); err != nil {
				return err
			}
		}
		if h += 1 << (64 - md.depth); h == 0 || md.depth == 0 {
			break
		}
	}
	return m.narrow()
}
