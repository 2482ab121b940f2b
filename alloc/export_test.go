package alloc

import "quarry/alloc/internal/universe"

// FailingPages refuses the k-th call of Commit or Decommit, counted from 1.
type FailingPages = universe.FailingPages

// ScavengeTick is the time between two looks of the scavenger.
const ScavengeTick = universe.ScavengeTick

// These are the probes of the room below.
var (
	LookNow      = universe.LookNow
	AnyReady     = universe.AnyMemory
	ScavengerDue = universe.ScavengerDue
	VerifyBooks  = universe.VerifyBooks
)

// WithPages makes a universe on pages of the test's.
func WithPages(p universe.Pages) Option { return universe.WithPages(p) }

// Refuse makes the pages of u refuse every call from now on, or none.
func (u *Universe) Refuse(p *FailingPages, all bool) { u.core.RefuseAll(p, all) }

// Corrupt breaks one invariant of a universe whose last granule is not ready, and returns what puts
// it right.
func (u *Universe) Corrupt(invariant string) (restore func()) { return u.core.Corrupt(invariant) }

// AllocAs is AllocExact(1) for a goroutine of the given shard.
func (u *Universe) AllocAs(shard int) (ChunkIndex, error) { return u.core.AllocAs(shard) }

// AllocZeroed1 is AllocZeroed of one chunk.
func (u *Universe) AllocZeroed1() (ChunkIndex, error) {
	c, _, err := u.AllocZeroed(1)
	return c, err
}

// CommittedBytes is what the layer below has committed.
func (u *Universe) CommittedBytes() int64 { return u.core.CommittedBytes() }

// EmptyBytes is what Trim would give back.
func (u *Universe) EmptyBytes() int64 { return u.core.EmptyBytes() }

// SpanChunks is how many chunks spans hold.
func (u *Universe) SpanChunks() int { return u.core.SpanChunks() }
