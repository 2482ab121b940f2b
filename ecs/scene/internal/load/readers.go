package load

import (
	"sync/atomic"

	"quarry/alloc"
)

// readers keeps a universe open while loaders use it. A world that is closed gives its universe
// back, which a loader in another goroutine may be about to make a section's world in: a chunk that
// is in use makes World.Close refuse that. The owner's goroutine takes the chunk and gives it back;
// loaders only count themselves off, as the last thing that they do.
type readers struct {
	running atomic.Int32     // loaders under way
	u       *alloc.Universe  // that the chunk is of; nil while there is none
	chunk   alloc.ChunkIndex // of u
}

// begin counts a loader that is about to start. It takes the chunk if no other loader is under way.
func (r *readers) begin(u *alloc.Universe) error {
	if r.u == nil && u != nil {
		chunk, err := u.AllocExact(1)
		if err != nil {
			return err
		}
		r.u, r.chunk = u, chunk
	}
	r.running.Add(1)
	return nil
}

// rest gives the chunk back if no loader is under way.
func (r *readers) rest() {
	if r.u != nil && r.running.Load() == 0 {
		r.u.Free(r.chunk, 1)
		r.u = nil
	}
}
