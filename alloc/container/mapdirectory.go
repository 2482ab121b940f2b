package container

import "unsafe"

// The directory doubles step by step. One of 2^d words is full when a table of depth d is to be
// split. Long before that, the next one is begun, and each table that grows copies some words:
//
//	directory   | a | b | c | d |
//	            | copied|
//	next        | a | a | b | b |   |   |   |   |     8 B a word
//
// Until it takes the directory's place, a table that is replaced is noted in both. So a Set copies
// stepWords words, not a directory of any size, unless the hashes are spread so unevenly that one
// table is full before the others have grown: then that Set copies what is left.

// point makes the words of the table of h, which has d bits of its own, that of another table.
func (t *tables) point(h uint64, d uint8, tab unsafe.Pointer, class int) {
	span := uint64(1) << (t.depth() - d)
	first := h >> 1 >> t.shift &^ (span - 1)
	w := word(uintptr(tab) + uintptr(class))
	fill(t.directory, first, span, w)
	if t.next != nil { // words that are not copied yet are written again then
		fill(t.next, 2*first, 2*span, w)
	}
}

// fill writes a word n times from word first of a directory on.
func fill(directory unsafe.Pointer, first, n uint64, w word) {
	for i := first; i < first+n; i++ {
		// Safe because callers name words that the directory has.
		*(*word)(unsafe.Add(directory, i*wordBytes)) = w
	}
}

// widen builds the next directory ahead of need, by a step. It begins one when a table that needs
// all bits of this one grows to the largest class or is full: then most others have yet to grow,
// and each does a step. A refusal is ignored here; double tries again.
func (t *tables) widen(depth uint8, class int) {
	d := t.depth()
	if t.next == nil {
		if depth < d || t.grown(class) < t.largest || d == maxDepth || 1<<d <= t.step {
			return
		}
		next, err := t.alloc(wordBytes<<(d+1), tableAlign)
		if err != nil {
			return
		}
		t.next, t.copied = next, 0
	}
	t.copy(t.copied + t.step)
}

// copy goes on with the next directory up to the end-th word of this one.
func (t *tables) copy(end uint64) {
	end = min(end, 1<<t.depth())
	for i := t.copied; i < end; i++ {
		// Safe because this directory has end words at least and the next one twice as many.
		w := *(*word)(unsafe.Add(t.directory, i*wordBytes))
		*(*[2]word)(unsafe.Add(t.next, 2*i*wordBytes)) = [2]word{w, w}
	}
	t.copied = max(t.copied, end)
}

// double doubles the directory: the next one takes its place, after what widen has left to copy.
func (t *tables) double() error {
	d := t.depth()
	if t.next == nil {
		next, err := t.alloc(wordBytes<<(d+1), tableAlign)
		if err != nil {
			return err
		}
		t.next, t.copied = next, 0
	}
	t.copy(1 << d)
	next := t.next
	t.next = nil
	t.adopt(next, d+1)
	return nil
}

// adopt replaces the directory by another, of depth d.
func (t *tables) adopt(directory unsafe.Pointer, d uint8) {
	old, was := t.directory, t.depth()
	t.directory, t.shift = directory, 63-d
	if was > 0 {
		t.source.free(old, wordBytes<<was, tableAlign)
	}
}

// forgo gives up the next directory, if there is one.
func (t *tables) forgo() {
	if next := t.next; next != nil {
		t.next = nil
		t.source.free(next, wordBytes<<(t.depth()+1), tableAlign)
	}
}

// narrow gives up the next directory, and halves this one as often as no table needs all its bits.
func (t *tables) narrow() error {
	t.forgo()
	d, deepest := t.depth(), uint8(0)
	for i := uint64(0); i < 1<<d; {
		tab, n := t.table(i << 1 << t.shift)
		depth := t.meta(tab, n).depth
		deepest = max(deepest, depth)
		i += 1 << (d - depth)
	}
	if deepest == d {
		return nil
	}
	if deepest == 0 {
		t.root = *(*word)(t.directory) // Safe because the directory has a word at least.
		t.adopt(unsafe.Pointer(&t.root), 0)
		return nil
	}
	fresh, err := t.alloc(wordBytes<<deepest, tableAlign)
	if err != nil {
		return err
	}
	for i := range uint64(1) << deepest {
		// Safe because the new directory has 2^deepest words, and the old one 2^d.
		*(*word)(unsafe.Add(fresh, i*wordBytes)) = *(*word)(unsafe.Add(t.directory, i<<(d-deepest)*wordBytes))
	}
	t.adopt(fresh, deepest)
	return nil
}
