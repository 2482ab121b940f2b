package container

import "unsafe"

// grow makes room in the table of a hash: it gets a table, its dead slots are cleared away, or it
// is replaced by a larger one or by two.
func (m *Map[K, V]) grow(h uint64) error {
	class := m.class(h)
	if class == 0 {
		return m.replace(h, 1)
	}
	tab, n := m.table(h)
	switch md := m.meta(tab, n); {
	case md.dead >= md.live/8+1:
		return m.replace(h, class)
	case class < m.largest:
		return m.replace(h, class+1)
	case md.depth < maxDepth:
		if done, err := m.split(h); done || err != nil {
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
	to := m.groups[class]
	m.eachLive(old, n, func(_ int, s *slot[K, V]) {
		// Safe because put returns a slot of a new table.
		*(*slot[K, V])(m.put(fresh, to, m.hash(s.key))) = *s
	})
	m.meta(fresh, to).live = md.live
	m.point(h, md.depth, fresh, class)
	if was != 0 {
		m.freeTable(old, was)
	}
	return nil
}

// split replaces the table of a hash by two, unless nearly all its keys would be in one of them.
func (m *Map[K, V]) split(h uint64) (done bool, err error) {
	was := m.class(h)
	old, n := m.table(h)
	md := *m.meta(old, n)
	// Where a key goes is noted: a NaN has another hash the next time.
	side := make([]bool, 0, maxSlots)
	var live [2]uint32
	m.eachLive(old, n, func(_ int, s *slot[K, V]) {
		one := m.hash(s.key)>>(63-md.depth)&1 == 1
		side = append(side, one)
		live[bit(one)]++
	})
	if min(live[0], live[1]) < md.live/8 {
		return false, nil
	}
	var class [2]int
	var fresh [2]unsafe.Pointer
	for i := range fresh {
		class[i] = m.fit(live[i])
		if fresh[i], err = m.newTable(class[i], md.depth+1); err != nil {
			break
		}
	}
	if err == nil && md.depth == m.depth() {
		err = m.double()
	}
	if err != nil {
		for i := range fresh {
			if fresh[i] != nil {
				m.freeTable(fresh[i], class[i])
			}
		}
		return false, err
	}
	to := [2]uint32{m.groups[class[0]], m.groups[class[1]]}
	m.eachLive(old, n, func(i int, s *slot[K, V]) {
		b := bit(side[i])
		// Safe because put returns a slot of a new table.
		*(*slot[K, V])(m.put(fresh[b], to[b], m.hash(s.key))) = *s
	})
	for i := range fresh {
		m.meta(fresh[i], to[i]).live = live[i]
		low := uint64(1) << (63 - md.depth)
		m.point(h&^low|uint64(i)*low, md.depth+1, fresh[i], class[i])
	}
	m.freeTable(old, was)
	return true, nil
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// eachLive calls f with each live slot of a table, by number.
func (m *Map[K, V]) eachLive(tab unsafe.Pointer, n uint32, f func(i int, s *slot[K, V])) {
	i := 0
	for g := range uintptr(n) {
		// Safe because the table has n groups, and the lanes are of slots.
		group := unsafe.Add(tab, g*m.stride)
		for live := ^*(*uint64)(group) & m.lanes; live != 0; live &= live - 1 {
			f(i, (*slot[K, V])(unsafe.Add(group, wordBytes+uintptr(lane(live))*unsafe.Sizeof(slot[K, V]{}))))
			i++
		}
	}
}
