//go:build bitmask_sched

package bitmask

import (
	"iter"
	"slices"
)

// The sequential model: plain words, one bit at a time. A history is right when
// its calls can be put in one order, each between its first access and its end,
// in which the model gives every result and ends with the words that stand in
// memory. Brute force: every order is tried.
//
// A refused TryAlloc of a Hierarchy claims no single instant for all words (see
// its contract), so in the order it is one claim a word: "this word had no such
// run at an instant during the call".

// item is one thing to be put in order: a call, or the state of a word by a refusal.
type item struct {
	of   *outcome
	word int // for a refusal
	done bool
}

// model is the state of the search for an order.
type model struct {
	words   []uint64
	final   []uint64
	items   []item
	open    []int // items of each outcome that are not yet in order
	precise bool  // results carry the mask before the call (Word)
}

// linearizable searches for an order of the history.
func linearizable(history []*outcome, initial, final []uint64, sys system) bool {
	_, precise := sys.(*oneWord)
	m := &model{words: slices.Clone(initial), final: final, open: make([]int, len(history)), precise: precise}
	for _, o := range history {
		claims := 1
		if o.kind == alloc && !o.ok {
			claims = len(initial)
		}
		for w := range claims {
			m.items = append(m.items, item{of: o, word: w})
		}
		m.open[o.id] = claims
	}
	return m.search()
}

// search puts what is left in order, if that can be done.
func (m *model) search() bool {
	// What changes nothing and is true now may go first: it holds nobody up.
	var gone []int
	for again := true; again; {
		again = false
		for i := range m.items {
			if m.quiet(i) && m.may(i) && m.holds(i) {
				m.take(i)
				gone = append(gone, i)
				again = true
			}
		}
	}
	left := false
	for i := range m.items {
		if m.items[i].done {
			continue
		}
		left = true
		if m.quiet(i) || !m.may(i) || !m.holds(i) {
			continue
		}
		o := m.items[i].of
		at := o.at
		if o.kind == alloc {
			at = o.got
		}
		mask := MaskRef(at%WordBits, o.n)
		m.words[at/WordBits] ^= mask
		m.take(i)
		if m.search() {
			return true
		}
		m.untake(i)
		m.words[at/WordBits] ^= mask
	}
	if !left && slices.Equal(m.words, m.final) {
		return true
	}
	for _, i := range gone {
		m.untake(i)
	}
	return false
}

func (m *model) take(i int) {
	m.items[i].done = true
	m.open[m.items[i].of.id]--
}

func (m *model) untake(i int) {
	m.items[i].done = false
	m.open[m.items[i].of.id]++
}

// quiet reports whether item i changes nothing.
func (m *model) quiet(i int) bool { return m.items[i].of.kind == look || !m.items[i].of.ok }

// may reports whether item i is left and all calls that were over before its own
// began are in order.
func (m *model) may(i int) bool {
	if m.items[i].done {
		return false
	}
	for id, open := range m.open {
		if open > 0 && m.items[i].of.over>>uint(id)&1 != 0 {
			return false
		}
	}
	return true
}

// holds reports whether the model, as it stands, gives the result of item i.
func (m *model) holds(i int) bool {
	o := m.items[i].of
	at := o.at
	switch {
	case o.kind == alloc && o.ok:
		at = o.got
	case o.kind == alloc:
		at = m.items[i].word * WordBits
	}
	w := m.words[at/WordBits]
	if m.precise && w != o.saw {
		return false
	}
	switch o.kind {
	case look:
		return w == o.saw
	case alloc:
		first, ok := FindRunRef(w, o.n)
		return ok == o.ok && (!ok || first == at%WordBits)
	}
	used := 0
	for u := at % WordBits; u < at%WordBits+o.n; u++ {
		used += int(w >> uint(u) & 1)
	}
	if o.kind == allocAt {
		return o.ok == (used == 0)
	}
	return o.ok == (used == o.n)
}

// oneWord is a Word as a system.
type oneWord struct{ w Word }

func (s *oneWord) do(c call, o *outcome) {
	switch c.kind {
	case alloc:
		o.got, o.saw, _, o.ok = s.w.TryAlloc(c.n)
	case allocAt:
		o.saw, _, o.ok = s.w.TryAllocAt(c.at, c.n)
	case free:
		o.saw, _, o.ok = s.w.TryFree(c.at, c.n)
	case look:
		o.saw, o.ok = s.w.Load(), true
	}
}

func (s *oneWord) cells() iter.Seq[*atomicWord] {
	return func(yield func(*atomicWord) bool) { yield(&s.w.v) }
}

func (s *oneWord) truth() int    { return 1 }
func (s *oneWord) verify() error { return nil }

// tower is a Hierarchy as a system.
type tower struct{ *Hierarchy }

func (s tower) do(c call, o *outcome) {
	switch c.kind {
	case alloc:
		o.got, o.ok = s.TryAlloc(c.n)
	case allocAt:
		o.ok = s.TryAllocAt(c.at, c.n)
	case free:
		o.ok = s.TryFree(c.at, c.n)
	case look:
		o.saw, o.ok = s.words[c.at/WordBits].Load(), true
	}
}

func (s tower) cells() iter.Seq[*atomicWord] {
	return func(yield func(*atomicWord) bool) {
		for i := range s.words {
			if !yield(&s.words[i].v) {
				return
			}
		}
		for class := range s.summaries {
			for _, level := range s.summaries[class].levels {
				for i := range level {
					if !yield(&level[i].v) {
						return
					}
				}
			}
		}
	}
}

func (s tower) truth() int    { return len(s.words) }
func (s tower) verify() error { return s.Verify() }
