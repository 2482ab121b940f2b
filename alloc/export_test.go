package alloc

import (
	"os"
	"unsafe"

	"quarry/internal/heap"
	"quarry/internal/universe"
	"quarry/internal/universe/mapping"
)

// FailingPages refuses the k-th call of Commit or Decommit, counted from 1.
type FailingPages = universe.FailingPages

// ScavengeTick is the time between two looks of the scavenger.
const ScavengeTick = universe.ScavengeTick

// These are the probes of the room below.
var (
	LookNow        = universe.LookNow
	AnyReady       = universe.AnyMemory
	ScavengerDue   = universe.ScavengerDue
	VerifyMetadata = universe.VerifyMetadata
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

// AllocGranules allocates granules of the universe below.
func (u *Universe) AllocGranules(n int) (ChunkIndex, error) { return u.core.AllocGranules(n) }

// MapFile allocates granules of the universe below that show a file.
func (u *Universe) MapFile(n int, f *os.File, at int64) (ChunkIndex, error) {
	return u.core.MapFile(n, f, at)
}

// SlotSize is the size of the slot of a small block.
func SlotSize(size int) int { return heap.SlotSize(size) }

// NewExtent returns an extent of the universe below.
func (u *Universe) NewExtent(most int) *universe.Extent { return u.core.NewExtent(most) }

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

// Script makes calls of mappings fail.
type Script = mapping.Script

// CommittedBytes is what the layer below has committed for the heap's mappings.
func (h *Heap) CommittedBytes() int64 { return h.core.CommittedBytes() }

// FailMappings makes the calls for the heap's mappings follow a script.
func (h *Heap) FailMappings(s *Script) { h.core.FailMappings(s) }

// Corrupt breaks one invariant of a heap that has a shared slab, one of l, a run and a mapping, and
// returns what puts it right.
func (h *Heap) Corrupt(l *Local, invariant string) (restore func()) {
	if l == nil {
		return h.core.Corrupt(nil, invariant)
	}
	return h.core.Corrupt(&l.core, invariant)
}

// CorruptSpan breaks the invariant of the span at p and returns what puts it right.
func (h *Heap) CorruptSpan(p unsafe.Pointer, what string) (restore func()) {
	return h.core.CorruptSpan(p, what)
}

// These are the probes of a heap.
func (h *Heap) OverflowOf(size int)  { h.core.OverflowOf(size) }
func (h *Heap) OverflowSize() int    { return h.core.OverflowSize() }
func (h *Heap) Overflows() int       { return h.core.Overflows() }
func (h *Heap) OverflowBytes() int64 { return h.core.OverflowBytes() }
func (h *Heap) Spans() int           { return h.core.Spans() }
func (h *Heap) Shards() int          { return h.core.Shards() }

// ClassSizes, SlotAt and ClassFor let tests check the size classes.
var (
	ClassSizes = heap.ClassSizes
	SlotAt     = heap.SlotAt
	ClassFor   = heap.ClassFor
)

// FailMappings makes all calls for the blocks follow a script.
func (p *Pages) FailMappings(s *Script) { p.mappings.Follow(s) }

// FineMost is how many chunks of a fine granule small requests have.
const FineMost = universe.FineMost

// Fine returns the fine granule, -1 where there is none, and whether its pages are kept small.
func (u *Universe) Fine() (granule int, kept bool) { return u.core.Fine() }

// FineFrom sets how many universes have huge pages at once, and returns the number before.
func FineFrom(n int) (before int) { return universe.FineFrom(n) }
