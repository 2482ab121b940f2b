package world

import (
	"time"

	"quarry/ecs/internal/value"
)

// Upper limits of one step over buffers.
const (
	shrinkRows  = 4096    // rows visited
	shrinkBytes = 1 << 20 // bytes of elements moved, plus those of one row
)

// Shrink is ecs.World.Shrink with a clock, which tests replace by a counter of steps.
func (w *World) Shrink(budget time.Duration, now func() time.Duration) (done bool) {
	w.Writer.Epoch++
	if budget <= 0 {
		w.Shrinking = Shrinking{}
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
	s := &w.Shrinking
	if !s.begun {
		*s = Shrinking{begun: true, left: len(w.Archetypes.List)}
	}
	s.left = min(s.left, len(w.Archetypes.List))
	if s.left == 0 {
		w.Retire(func(a *Archetype) bool { return a.Table.Store.Len() == 0 && !a.Pinned })
		w.Trim()
		*s = Shrinking{}
		return false
	}
	a := w.Archetypes.List[s.left-1]
	if s.at != a {
		s.at, s.row = a, 0
		w.Writer.Refit(&a.Table.Table)
	}
	if len(a.Table.Buffers()) > 0 && s.row < a.Table.Store.Len() {
		s.row = a.trimBuffers(s.row)
	}
	if len(a.Table.Buffers()) == 0 || s.row >= a.Table.Store.Len() {
		s.left--
	}
	return true
}

// trimBuffers trims the roomy spilled buffers in rows of one chunk, starting at row first of the
// archetype. It returns the row at which to resume.
func (a *Archetype) trimBuffers(first int) (next int) {
	pos, row := a.Table.Store.Find(first)
	at, moved := a.Table.Store.Row(pos, row), 0
	end := first + min(a.Table.Store.RowsOf(pos)-row, shrinkRows)
	for ; first < end && moved < shrinkBytes; first++ {
		for _, c := range a.Table.Buffers() {
			h, t := value.HeaderOf(at, c), a.World.Types.List[c.Key]
			if h.Roomy(&t.Shape) {
				a.Table.KeepValue(at, c)
				moved += h.Len() * t.Shape.Element
				t.Spill.Trim(h, &t.Shape)
			}
		}
		at.Row++
	}
	return first
}

// Trim is ecs.World.Trim.
func (w *World) Trim() (chunks int) {
	chunks = w.trim()
	if w.Loops.Open == 0 { // else loops, or goroutines of a share, may have addresses of values
		for _, t := range w.Types.Sparse {
			t.Sparse.Trim()
		}
	}
	return chunks
}

// trim is Trim without the sparse sets, for calls whose callers may have addresses of their values.
func (w *World) trim() (chunks int) {
	if w.Closed {
		return 0
	}
	w.EndBorrows("World.Trim")
	smallChunks := w.Tables.SmallChunks().Chunks()
	for _, a := range w.Archetypes.List {
		chunks += a.Table.Store.Trim(0)
	}
	chunks += smallChunks - w.Tables.SmallChunks().Chunks()
	w.Tables.Trim()
	if !w.Lent() { // others may read the tables of pages
		w.trimManaged()
	}
	return chunks + w.Buffers.Trim()
}
