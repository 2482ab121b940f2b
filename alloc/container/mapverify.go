package container

import (
	"fmt"
	"unsafe"
)

// Verify checks the map's invariants, and returns an error that names the first that is broken. It
// is for tests. Cost: about 50 ns an entry.
func (m *Map[K, V]) Verify() error {
	m.check("Map.Verify")
	d := m.depth()
	count := 0
	for i := uint64(0); i < 1<<d; {
		h := i << 1 << m.shift
		class := m.class(h)
		if class == 0 {
			if d != 0 || m.count != 0 {
				return broken(1, "word %d of %d has no table, the map has %d entries", i, 1<<d, m.count)
			}
			return nil
		}
		if class >= m.classes {
			return broken(1, "word %d says class %d of %d", i, class, m.classes)
		}
		tab, n := m.table(h)
		md := *m.meta(tab, n)
		if md.depth > d || i&(1<<(d-min(md.depth, d))-1) != 0 {
			return broken(1, "a table of depth %d at word %d of %d", md.depth, i, 1<<d)
		}
		end := i + 1<<(d-md.depth)
		for j := i; j < end; j++ {
			if *m.wordOf(j << 1 << m.shift) != *m.wordOf(h) {
				return broken(1, "words %d and %d differ, the table has depth %d of %d", i, j, md.depth, d)
			}
		}
		if err := m.verifyTable(tab, n, class, i, end); err != nil {
			return err
		}
		count += int(md.live)
		i = end
	}
	if count != m.count {
		return broken(2, "the map counts %d entries, its tables %d", m.count, count)
	}
	return m.verifyNext()
}

// verifyNext checks the words that the next directory has.
func (m *Map[K, V]) verifyNext() error {
	if m.next == nil {
		return nil
	}
	if words := uint64(1) << m.depth(); m.copied > words {
		return broken(6, "%d of %d words are copied", m.copied, words)
	}
	for i := range m.copied {
		// Safe because the directory has more words than were copied, and the next one twice as
		// many.
		w := *(*word)(unsafe.Add(m.directory, i*wordBytes))
		if twice := *(*[2]word)(unsafe.Add(m.next, 2*i*wordBytes)); twice[0] != w || twice[1] != w {
			return broken(6, "word %d is %#x, in the next directory %#x", i, w, twice)
		}
	}
	return nil
}

// verifyTable checks the table of the directory's words from first to end.
func (m *Map[K, V]) verifyTable(tab unsafe.Pointer, n uint32, class int, first, end uint64) error {
	for g := range uintptr(n) {
		// Safe because the table has n groups.
		w := *(*uint64)(unsafe.Add(tab, g*m.stride))
		if unused := ^m.lanes & 0x0080808080808080; w&unused != unused {
			return broken(5, "group %d of the table of word %d has the control word %#x", g, first, w)
		}
	}
	var err error
	live := uint32(0)
	m.eachLive(tab, n, func(s *slot[K, V]) {
		live++
		if err != nil || s.key != s.key {
			return
		}
		h := m.hash(s.key)
		word := h >> 1 >> m.shift
		switch found := m.find(s.key, h); {
		case word < first || word >= end:
			err = broken(3, "key %v of word %d lies in the table of word %d", s.key, word, first)
		case found == nil:
			err = broken(3, "key %v in the table of word %d is not found: its tag, or a group that is not marked",
				s.key, first)
		case found != s && unsafe.Sizeof(*s) > 0:
			err = broken(4, "key %v lies twice in the table of word %d", s.key, first)
		}
	})
	if md := m.meta(tab, n); err == nil && (md.live != live || live > m.limit(class)) {
		return broken(2, "the table of word %d counts %d live slots and has %d, the limit is %d",
			first, md.live, live, m.limit(class))
	}
	return err
}

func broken(invariant int, format string, args ...any) error {
	return fmt.Errorf("container: Map.Verify: invariant %d: "+format, append([]any{invariant}, args...)...)
}
