package ecs

import (
	"time"

	"quarry/ecs/internal/value"
	"quarry/internal/clock"
)

// shrinking is where the next step of Shrink resumes. Shrink goes from the last archetype to the
// first, so it skips none if some are retired meanwhile.
type shrinking struct {
	begun bool       // a pass is in progress
	left  int        // the first left archetypes of the list are still to do
	at    *Archetype // the last of those, once it has been started
	row   int        // the buffers of its rows before row are done
}

// Upper limits of one step over buffers.
const (
	shrinkRows  = 4096    // rows visited
	shrinkBytes = 1 << 20 // bytes of elements moved, plus those of one row
)

// Shrink gives memory left behind by rows that are gone back to the world's universe. The universe
// gives it to the system after a while, see alloc.Universe.Maintain, or at once by its Trim. Shrink
// does what Trim does and, in addition, replaces the partly full last chunk of an archetype by a
// smaller chunk if the rows fit; shrinks blocks of spilled buffers that are at most half full; and
// retires archetypes without rows that NewArchetype has not returned, see World.Stats. Entities,
// values, enable bits, the order of rows and versions stay. If the system has no memory for a
// smaller replacement, the larger one stays.
//
// Shrink works in steps. It returns true when everything is done, and false when the budget is used
// up; the next call then resumes. A budget of 0 or less means no limit, and starts over. A call
// performs at least one step, and only its last step may exceed the budget. A step covers the rows
// of one chunk, at most 512 KiB, and about 1 MiB of buffer elements; the last step is a Trim and a
// visit to each archetype.
//
// Shrink is a structural change: it panics inside a loop over rows, and invalidates earlier batches
// and views.
func (w *World) Shrink(budget time.Duration) (done bool) {
	w.checkUnlocked("World.Shrink")
	return w.shrink(budget, clock.Now)
}

// shrink is Shrink with a clock, which tests replace by a counter of steps.
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

// shrinkStep performs one step and reports whether there are more.
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

// trimBuffers trims the roomy spilled buffers in rows of one chunk, starting at row first of the
// archetype. It returns the row at which to resume.
func (a *Archetype) trimBuffers(first int) (next int) {
	pos, row := a.table.Store.Find(first)
	at, moved := a.table.Store.Row(pos, row), 0
	end := first + min(a.table.Store.RowsOf(pos)-row, shrinkRows)
	for ; first < end && moved < shrinkBytes; first++ {
		for _, c := range a.table.Buffers() {
			h, t := value.HeaderOf(at, c), a.w.types.list[c.Key]
			if h.Roomy(&t.shape) {
				a.table.KeepCell(at, c)
				moved += h.Len() * t.shape.Element
				t.spill.Trim(h, &t.shape)
			}
		}
		at.Row++
	}
	return first
}

// Trim returns the archetypes' reserves and the memory left behind by spilled buffers to the
// universe, for other users of the universe. It returns the number of chunks freed. It also returns
// the memory of ended managed values to Go and, outside of loops, what sparse sets have too much,
// both uncounted. Trim moves no rows, so loops may call it; outside of loops it moves values of
// sparse types. It does nothing for a closed world.
func (w *World) Trim() (chunks int) {
	chunks = w.trim()
	if w.loops.open == 0 { // else loops, or goroutines of a share, may have addresses of values
		for _, t := range w.types.sparse {
			t.sparse.Trim()
		}
	}
	return chunks
}

// trim is Trim without the sparse sets, for calls whose callers may have addresses of their values.
func (w *World) trim() (chunks int) {
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
	if !w.Shared() { // others may read the tables of pages
		w.trimManaged()
	}
	return chunks + w.buffers.Trim()
}
