package ecs

import (
	"time"

	"quarry/ecs/internal/value"
	"quarry/internal/clock"
)

// shrinking is where the next step of Shrink goes on. It goes from the last archetype to the first:
// when some are given up meanwhile, none is passed by.
type shrinking struct {
	begun bool       // a pass is under way
	left  int        // of the archetypes the first are yet to come
	at    *Archetype // the last of those, when it has begun
	row   int        // of its rows those before it have buffers that are done
}

// What a step does with buffers at most.
const (
	shrinkRows  = 4096    // rows that it looks at
	shrinkBytes = 1 << 20 // bytes of elements that it moves, and those of one row more
)

// Shrink gives memory of rows that are gone back to the world's universe; from there it goes to the
// system after a while, see alloc.Universe.Maintain, or at once by World.Universe and
// alloc.Universe.Trim. It gives back what Trim does; the last chunk of an
// archetype, part full, that is larger than its rows need, for which a smaller one comes; blocks of
// spilled buffers of which half or more is room; and archetypes without rows that nobody has from
// NewArchetype, see World.Stats. Entities, values, enable bits, the order of rows and the versions
// stay. Where the system has no memory for what is smaller, it stays as it is.
//
// It does this in steps and returns when the budget is used up, false, or when all is done, true;
// the next call goes on where the last one ended. A budget of 0 or less is no limit, and begins
// anew. A call does one step at least, and only its last may exceed the budget: a step is the rows
// of a chunk, 512 KiB at most, and about 1 MiB of elements of buffers; the last of all is a Trim,
// and a look at each archetype.
//
// It is a structural change: it panics during iteration, and batches and views of before are void.
func (w *World) Shrink(budget time.Duration) (done bool) {
	w.checkUnlocked("World.Shrink")
	return w.shrink(budget, clock.Now)
}

// shrink is Shrink by a clock that tests can have count steps.
func (w *World) shrink(budget time.Duration, now func() time.Duration) (done bool) {
	w.rows.Epoch++
	if budget <= 0 {
		w.shrinking = shrinking{}
	}
	start := now()
	for w.shrinkStep() {
		if budget > 0 && now()-start >= budget {
			return false
		}
	}
	return true
}

// shrinkStep does a step and reports whether there are more.
func (w *World) shrinkStep() bool {
	s := &w.shrinking
	if !s.begun {
		*s = shrinking{begun: true, left: len(w.archetypes.list)}
	}
	s.left = min(s.left, len(w.archetypes.list))
	if s.left == 0 {
		w.retire(func(a *Archetype) bool { return a.table.Store.Len() == 0 && !a.pinned })
		w.Trim()
		*s = shrinking{}
		return false
	}
	a := w.archetypes.list[s.left-1]
	if s.at != a {
		s.at, s.row = a, 0
		w.rows.Refit(&a.table.Table)
	}
	if len(a.table.Buffers()) > 0 && s.row < a.table.Store.Len() {
		s.row = a.trimBuffers(s.row)
	}
	if len(a.table.Buffers()) == 0 || s.row >= a.table.Store.Len() {
		s.left--
	}
	return true
}

// trimBuffers trims the spilled buffers with much room of some rows of one chunk, from row first of
// all rows on, and returns the row that comes next.
func (a *Archetype) trimBuffers(first int) (next int) {
	pos, row := a.table.Store.Find(first)
	at, moved := a.table.Store.Row(pos, row), 0
	end := first + min(a.table.Store.RowsOf(pos)-row, shrinkRows)
	for ; first < end && moved < shrinkBytes; first++ {
		for _, c := range a.table.Buffers() {
			h, t := value.HeaderOf(at, c), a.w.types.list[c.Key]
			if h.Roomy(&t.shape) {
				moved += h.Len() * t.shape.Element
				t.spill.Trim(h, &t.shape)
			}
		}
		at.Row++
	}
	return first
}

// Trim gives the archetypes' reserves and what the spilled buffers left behind back to the
// universe, for others that take chunks from it, and returns how many chunks that were; what ended
// managed values left behind it gives back to Go. It moves no rows, so loops may call it. It does
// nothing to a closed world.
func (w *World) Trim() (chunks int) {
	if w.closed {
		return 0
	}
	w.endBorrows("World.Trim")
	smallChunks := w.tables.SmallChunks().Chunks()
	for _, a := range w.archetypes.list {
		chunks += a.table.Store.Trim(0)
	}
	chunks += smallChunks - w.tables.SmallChunks().Chunks()
	w.tables.Trim()
	if !w.isShared() { // others may read the tables of pages
		w.trimManaged()
	}
	return chunks + w.buffers.Trim()
}
