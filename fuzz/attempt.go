package fuzz

import (
	"errors"
	"fmt"

	"quarry/alloc"
	"quarry/ecs"
)

// Calls that may meet a limit.

// need is the most that a call takes from the universe, as the model sees it.
type need struct {
	run     int  // longest run of chunks
	chunks  int  // in all
	spares  bool // the call leaves the archetypes' reserves alone
	entries bool // it may make room in sets of sparse types, which they keep when it fails
	blocks  bool // it takes several heap blocks; when it fails, the heap keeps some of them
}

// met reports whether u can certainly serve the call: enough chunks are free, and a long enough
// run.
func (n need) met(s alloc.Stats) bool {
	free := s.Reserved/alloc.ChunkSize - s.LiveChunks
	return s.LongestRun >= n.run && free >= n.chunks
}

// tried makes a call that may meet a limit, and returns what the call reports and the limit.
func tried(call func() bool) (done bool, err error) {
	err = ecs.Try(func() { done = call() })
	return done, err
}

// attempt makes a call that may meet a limit; done is true if the call succeeded. After a call that
// failed, the world must be as before, except that all reserves must have gone back; the universe
// must be as before except for the reserves and the memory that the heap kept, and too full for the
// call.
func (d *world) attempt(n need, call func() error) (done bool, err error) {
	if err := d.tend(); err != nil {
		return false, err
	}
	var hash uint64
	if d.tight {
		hash = d.w.Hash()
	}
	if n.blocks && d.tight {
		d.w.Trim()
	}
	stats, room := d.w.Stats(), d.u.Stats()
	err = call()
	if err != nil && n.blocks {
		d.w.Trim()
	}
	if err == nil {
		return true, nil
	}
	var l *ecs.LimitError
	switch {
	case !errors.Is(err, ecs.ErrLimit) || !errors.As(err, &l) || l.Op == "":
		return false, fmt.Errorf("got %w, want a *LimitError that names the call", err)
	case !errors.Is(err, alloc.ErrFull):
		return false, fmt.Errorf("got %w, want one that wraps alloc.ErrFull", err)
	}
	d.result.Refused++
	after, left := d.w.Stats(), d.u.Stats()
	if !n.spares {
		if after.Small > stats.Small || after.Shared > stats.Shared {
			return false, fmt.Errorf("a call that failed made small chunks: got %+v want %+v; it said: %w",
				after, stats, err)
		}
		room = withoutReserve(room, left, stats.Reserve+stats.Shared-after.Shared)
		stats.Reserve, stats.Small, stats.Shared = 0, after.Small, after.Shared // empty ones are gone
		if after.Archetypes < stats.Archetypes {
			stats.Archetypes = d.m.archetypes(after.Archetypes) // some that have shared values and no rows are gone
		}
	}
	if d.m.set.known && n.entries && left.LiveChunks > room.LiveChunks {
		room.LiveChunks, room.Live, room.LongestRun, room.FreeRuns = left.LiveChunks, left.Live,
			left.LongestRun, left.FreeRuns
	}
	if len(d.snapshotModels) > 0 {
		room = left // it has old bytes, and what was freed may have to stay
		stats.Spilled = after.Spilled
	}
	switch {
	case n.met(left):
		return false, fmt.Errorf("got %w, but the universe is not full: %+v for %+v", err, left, n)
	case after != stats:
		return false, fmt.Errorf("a call that failed changed Stats: got %+v want %+v; it said: %w", after, stats, err)
	case left != withCommitted(room, left.Committed):
		return false, fmt.Errorf("a call that failed changed the universe: got %+v want %+v; it said: %w",
			left, room, err)
	case d.tight && d.w.Hash() != hash:
		return false, fmt.Errorf("a call that failed changed the world's hash; it said: %w", err)
	}
	if bad := d.w.Verify(); bad != nil {
		return false, fmt.Errorf("after a call that failed: %w; it said: %w", bad, err)
	}
	return false, nil
}

// withoutReserve returns s after n chunks of the archetypes' reserves went back, and whatever the
// heap of spilled buffers kept for reuse: before a call fails, it gives all of both back. That can
// only make free runs longer.
func withoutReserve(s, after alloc.Stats, n int) alloc.Stats {
	s.LiveChunks -= n
	s.Live -= n * alloc.ChunkSize
	if after.LiveChunks < s.LiveChunks {
		n += s.LiveChunks - after.LiveChunks
		s.LiveChunks, s.Live = after.LiveChunks, after.Live
	}
	if n > 0 {
		s.LongestRun = max(s.LongestRun, after.LongestRun)
		s.FreeRuns = after.FreeRuns
	}
	return s
}

// withCommitted returns s with a different figure for committed memory, which a failed call may
// have changed.
func withCommitted(s alloc.Stats, bytes int) alloc.Stats {
	s.Committed = bytes
	return s
}

// fewestRows is fewer than the rows of a unit in any archetype of the world under test, with a
// quarter of the rows as holes.
const fewestRows = 12

// isSmall reports whether the rows of a group are in a small chunk.
func (d *world) isSmall(g *group) bool {
	if len(g.rows) == 0 {
		return false
	}
	_, bytes, _ := g.a.Chunk(0)
	return bytes == alloc.ChunkSize/smallChunks
}

// rowsNeed is the need of n new rows of a group, with as many new entities if fresh is set.
func (d *world) rowsNeed(g *group, n int, fresh bool) need {
	var want need
	if g.a == nil {
		want.chunks = (n + fewestRows - 1) / fewestRows
	} else {
		per := g.a.Plan().Rows
		want.chunks = (len(g.rows) + n + per - 1) / per
		if len(g.rows) > 0 && !d.isSmall(g) {
			want.chunks -= (len(g.rows) + per - 1) / per
		}
		if d.isSmall(g) && len(g.rows)+n <= d.smallRows(g) {
			want.chunks = 0
		}
	}
	want.run = min(want.chunks, 1)
	if fresh {
		ids := d.idsNeed(n)
		want.run, want.chunks = max(want.run, ids.run), want.chunks+ids.chunks
	}
	return want
}

// idsNeed is the need of n new entities, without their rows.
func (d *world) idsNeed(n int) need {
	blocks := 0
	for max(0, d.m.indices+blocks*recordBlock-1)-len(d.m.entities)+d.m.lent < n {
		blocks++
	}
	return need{run: blocks * recordChunks, chunks: blocks * recordChunks}
}

// spareUnits returns the units that a group's rows leave unused in their last chunk, which may be
// large: new rows need that many chunks fewer.
func (d *world) spareUnits(g *group) int {
	if g.a == nil || g.a.Chunks() == 0 {
		return 0
	}
	_, bytes, rows := g.a.Chunk(g.a.Chunks() - 1)
	return max(0, bytes/alloc.ChunkSize-rows/g.a.Plan().Rows)
}

// squeeze takes chunks until few are left, or gives some back. It does nothing in a universe that
// is not tight.
func (d *world) squeeze(r record) error {
	if !d.tight {
		return nil
	}
	if r.kind%3 == 0 { // release some, from anywhere: holes
		for range min(len(d.hog), int(r.n%100)) {
			i := int(r.who) % len(d.hog)
			d.u.Free(d.hog[i], 1)
			d.hog[i] = d.hog[len(d.hog)-1]
			d.hog = d.hog[:len(d.hog)-1]
		}
		return nil
	}
	total := d.u.Size() / alloc.ChunkSize
	for free := total - d.u.Stats().LiveChunks; free > int(r.n%7); {
		first, got, err := d.u.Alloc(min(alloc.ChunksPerMegachunk, free-int(r.n%7)))
		if err != nil {
			return fmt.Errorf("%d chunks are free: %w", free, err)
		}
		for i := range got {
			d.hog = append(d.hog, first+alloc.ChunkIndex(i))
		}
		free -= got
	}
	return nil
}
