package alloc

import (
	"errors"

	"quarry/mmap"
)

// WithPages makes a universe on pages of the test's.
func WithPages(p pages) Option { return func(c *config) { c.pages, c.size = p, p.Size() } }

// FailingPages refuses the k-th call of Commit or Decommit, counted from 1.
type FailingPages struct {
	*mmap.Region
	Calls, FailAt int
	Discards      int   // of Discard, among Calls
	NoDiscard     error // every Discard fails with it
	Err           error
	all           bool // refuses every call
}

func (f *FailingPages) fails() bool {
	f.Calls++
	return f.all || f.Calls == f.FailAt
}

func (f *FailingPages) Commit(offset, n int) error {
	if f.fails() {
		return f.Err
	}
	return f.Region.Commit(offset, n)
}

func (f *FailingPages) Decommit(offset, n int) error {
	if f.fails() {
		if errors.Is(f.Err, mmap.ErrAccess) { // refused half way: reserved all the same
			return errors.Join(f.Err, f.Region.Decommit(offset, n))
		}
		return f.Err
	}
	return f.Region.Decommit(offset, n)
}

func (f *FailingPages) Discard(offset, n int) error {
	f.Discards++
	if f.NoDiscard != nil {
		return f.NoDiscard
	}
	if f.fails() {
		return f.Err
	}
	return f.Region.Discard(offset, n)
}

// Corrupt breaks one invariant of a universe whose last granule is not ready,
// and returns what puts it right.
func (u *Universe) Corrupt(invariant string) (restore func()) {
	last := u.index.Words() - 1
	switch invariant {
	case "I1":
		u.index.TryAllocAt(last*ChunksPerMegachunk+5, 1)
		return func() { u.index.TryFree(last*ChunksPerMegachunk+5, 1) }
	case "I2":
		// Claimed and freed without a note: the index knows it as a whole free word only.
		w := u.index.Word(last - 2)
		before, _, _ := w.TryAllocAt(1, 1)
		u.dirty[last-2].Or(2)
		u.ready[(last-2)/2].Store(1)
		return func() {
			w.TryFree(1, 1)
			u.index.Note(last-2, ^uint64(0), before)
			u.dirty[last-2].And(^uint64(2))
			u.ready[(last-2)/2].Store(0)
		}
	case "I3":
		u.nReady++
		return func() { u.nReady-- }
	case "I4":
		u.dirty[last].Store(1)
		return func() { u.dirty[last].Store(0) }
	case "I5":
		u.nEmpty.Add(1)
		return func() { u.nEmpty.Add(-1) }
	case "I7":
		u.gone[last].Store(1)
		return func() { u.gone[last].Store(0) }
	case "I8":
		u.since[last/2].Store(1)
		return func() { u.since[last/2].Store(0) }
	case "I9":
		granule, kept := u.fine.granule.Swap(0), u.fine.kept.Swap(true)
		return func() { u.fine.granule.Store(granule); u.fine.kept.Store(kept) }
	case "I8 noted":
		u.emptied[last/128].SetBit(last / 2 % 64)
		u.nEmpty.Add(1)
		return func() { u.emptied[last/128].ClearBit(last / 2 % 64); u.nEmpty.Add(-1) }
	case "I6":
		u.leases.lines[0].Store(3)
		return func() { u.leases.lines[0].Store(1) }
	}
	return nil
}

// AllocAs is AllocExact(1) for a goroutine of the given shard.
func (u *Universe) AllocAs(shard int) (ChunkIndex, error) {
	u.leases.shards.entry().Store(uint32(shard))
	u.leases.shards.several.Store(true)
	return u.AllocExact(1)
}
