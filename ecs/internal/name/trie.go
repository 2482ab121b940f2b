package name

import (
	"slices"
	"unsafe"
)

// trie has values by keys of 32 bits. Several values may have one key.
type trie[V keyed] struct {
	root slot[V]
	now  uint64 // what was born earlier others may have too: it is copied before it changes
}

type keyed interface{ key() uint32 }

// slot leads to a branch, or is a leaf and has values.
type slot[V keyed] struct {
	branch *branch[V] // nil: a leaf
	values []V
	born   uint64 // of the branch or the values
}

type branch[V keyed] [ways]slot[V]

const (
	bits   = 3         // of a key, which choose a slot
	ways   = 1 << bits // slots of a branch
	levels = (32 + bits - 1) / bits
	full   = 16 // values of a leaf, but on the last level, where all keys are the same
	first  = 2  // room of a leaf for its first value
)

// next returns the slot that a key leads to; bits that were used are shifted out.
func (b *branch[V]) next(key uint32) *slot[V] { return &b[key>>(32-bits)] }

// same reports whether two slots have the same branch, or the same values.
func (s *slot[V]) same(as *slot[V]) bool {
	return s.branch == as.branch && s.born == as.born && len(s.values) == len(as.values) &&
		unsafe.SliceData(s.values) == unsafe.SliceData(as.values)
}

// find returns the leaf of a key, to read.
func (t *trie[V]) find(key uint32) *slot[V] {
	s := &t.root
	for s.branch != nil {
		s = s.branch.next(key)
		key <<= bits
	}
	return s
}

// own returns the leaf of a key, to write, and its level, after what was born earlier was copied on
// the way. The values are in the order in which find has them.
func (t *trie[V]) own(key uint32) (s *slot[V], level int) {
	s = &t.root
	for ; s.branch != nil; level++ {
		if s.born != t.now {
			b := *s.branch
			s.branch, s.born = &b, t.now
		}
		s = s.branch.next(key)
		key <<= bits
	}
	if s.born != t.now {
		s.values, s.born = slices.Clone(s.values), t.now
	}
	return s, level
}

// change returns the value at a position of a key's leaf, to write until the next add or remove.
func (t *trie[V]) change(key uint32, at int) *V {
	s, _ := t.own(key)
	return &s.values[at]
}

// add adds a value under its key.
func (t *trie[V]) add(key uint32, value V) {
	s, level := t.own(key)
	for len(s.values) >= full && level < levels {
		s.split(t.now, level)
		s = s.branch.next(key << (bits * level))
		level++
	}
	s.add(t.now, value)
}

func (s *slot[V]) add(now uint64, value V) {
	if s.values == nil {
		s.values, s.born = make([]V, 0, first), now
	}
	s.values = append(s.values, value)
}

// split makes a branch of a leaf.
func (s *slot[V]) split(now uint64, level int) {
	b := new(branch[V])
	for _, v := range s.values {
		b.next(v.key()<<(bits*level)).add(now, v)
	}
	*s = slot[V]{branch: b, born: now}
}

// remove removes the value at a position of a key's leaf. The last one takes its place.
func (t *trie[V]) remove(key uint32, at int) {
	s, _ := t.own(key)
	last := len(s.values) - 1
	s.values[at] = s.values[last]
	clear(s.values[last:]) // lets the text go
	if s.values = s.values[:last]; last == 0 {
		s.values = nil
	}
}

// all yields all values, until yield returns false; then it returns false.
func (s *slot[V]) all(yield func(*V) bool) bool {
	if s.branch != nil {
		for i := range s.branch {
			if !s.branch[i].all(yield) {
				return false
			}
		}
	}
	for i := range s.values {
		if !yield(&s.values[i]) {
			return false
		}
	}
	return true
}
