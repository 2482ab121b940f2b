package name

import "fmt"

// Verify checks N1 to N4.
func (n *Names) Verify() error {
	entries, lists, listed := 0, 0, 0
	if err := n.entries.root.verify(n.entries.now, 0, 0, func(e *entry) error {
		entries++
		if found, _ := n.entry(e.id.Index()); found != e {
			return fmt.Errorf("name: N2: index %d has an entry of %v, named %q, and another",
				e.id.Index(), e.id, e.text)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := n.lists.root.verify(n.lists.now, 0, 0, func(l *list) error {
		lists++
		if found, _ := n.list(l.hash, l.text); found != l || l.hash != hashOf(l.text) {
			return fmt.Errorf("name: N3: the list of %q has the hash %#x, the text %#x, or it has two lists",
				l.text, l.hash, hashOf(l.text))
		}
		return n.verifyList(l, &listed)
	}); err != nil {
		return err
	}
	if listed != entries || entries != n.n {
		return fmt.Errorf("name: N4: %d entities are in %d lists, %d have names, %d are counted",
			listed, lists, entries, n.n)
	}
	return nil
}

// verifyList checks N4 of a list, and counts its entries.
func (n *Names) verifyList(l *list, listed *int) error {
	prev, index := uint32(0), l.front.Index()
	for first := true; first || index != 0; first = false {
		e, _ := n.entry(index)
		switch {
		case e == nil || e.text != l.text || e.prev != prev:
			return fmt.Errorf("name: N4: index %d follows %d in the list of %q; its name is %q",
				index, prev, l.text, n.Of(index))
		case first && e.id != l.front:
			return fmt.Errorf("name: N4: %v is in front of the list of %q, the entry is that of %v",
				l.front, l.text, e.id)
		}
		*listed++
		prev, index = index, e.next
	}
	return nil
}

// verify checks N1 below a slot, to which keys lead that begin with a prefix, and has each value
// checked.
func (s *slot[V]) verify(now uint64, level int, prefix uint32, check func(*V) error) error {
	n := len(s.values)
	if s.born > now || s.branch != nil && (n > 0 || level >= levels) || n > full && level < levels {
		return fmt.Errorf(
			"name: N1: on level %d, %d values are in a slot that was born at %d; now is %d; it leads to a branch: %v",
			level, n, s.born, now, s.branch != nil)
	}
	if s.branch != nil {
		for i := range s.branch {
			// On the last level, less than 3 bits are left. Zeros were shifted in, which go again.
			if err := s.branch[i].verify(now, level+1, prefix|uint32(i)<<(32-bits)>>(bits*level), check); err != nil {
				return err
			}
		}
	}
	for i := range s.values {
		v := &s.values[i]
		if used := ^(^uint32(0) >> (bits * level)); (*v).key()&used != prefix {
			return fmt.Errorf("name: N1: the key %#x is in the leaf of those that begin with %#x, %d bits",
				(*v).key(), prefix, bits*level)
		}
		if err := check(v); err != nil {
			return err
		}
	}
	return nil
}
