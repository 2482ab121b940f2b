package universe

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"time"
	"unsafe"

	"quarry/internal/universe/mapping"
	"quarry/mmap"
)

// Probes, by which the tests of package alloc inspect and break a universe. Programs contain none
// of it.

// WithPages makes a universe on pages of the test's.
func WithPages(p Pages) Option { return func(c *Config) { c.pages, c.size = p, p.Size() } }

// FailingPages is pages that refuse the k-th call of Commit, Decommit or Prefault, counted from 1.
type FailingPages struct {
	*mmap.Region
	Calls, FailAt int
	Discards      int   // of Discard, among Calls
	NoDiscard     error // every Discard fails with it
	Err           error
	All           bool // refuses every call
}

func (f *FailingPages) fails() bool {
	f.Calls++
	return f.All || f.Calls == f.FailAt
}

// Commit is of the region, unless they are refused.
func (f *FailingPages) Commit(offset, n int) error {
	if f.fails() {
		return f.Err
	}
	return f.Region.Commit(offset, n)
}

// Prefault is of the region, unless it is refused.
func (f *FailingPages) Prefault(offset, n int) error {
	if f.fails() {
		return f.Err
	}
	return f.Region.Prefault(offset, n)
}

// MapFile is of the region, unless it is refused.
func (f *FailingPages) MapFile(offset, n int, file *os.File, at int64) error {
	if f.fails() {
		return f.Err
	}
	return f.Region.MapFile(offset, n, file, at)
}

// Decommit is of the region, unless it is refused.
func (f *FailingPages) Decommit(offset, n int) error {
	if f.fails() {
		if errors.Is(f.Err, mmap.ErrAccess) { // refused half way: reserved all the same
			return errors.Join(f.Err, f.Region.Decommit(offset, n))
		}
		return f.Err
	}
	return f.Region.Decommit(offset, n)
}

// Discard is of the region, unless it is refused.
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

// RefuseAll makes p, the pages of u, refuse every call from now on, or none.
func (u *Universe) RefuseAll(p *FailingPages, all bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	p.All = all
}

// Corrupt breaks one invariant of a universe whose last granule is not ready,
// and returns what puts it right.
func (u *Universe) Corrupt(invariant string) (restore func()) {
	last := u.Index.Words() - 1
	switch invariant {
	case "I1":
		u.Index.TryAllocAt(last*ChunksPerMegachunk+5, 1)
		return func() { u.Index.TryFree(last*ChunksPerMegachunk+5, 1) }
	case "I2":
		// Claimed and freed without a note: the index knows it as a whole free word only.
		w := u.Index.Word(last - 2)
		before, _, _ := w.TryAllocAt(1, 1)
		u.dirty[last-2].Or(2)
		u.ready[(last-2)/2].Store(1)
		return func() {
			w.TryFree(1, 1)
			u.Index.Note(last-2, ^uint64(0), before)
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
	u.leases.shards.table().entry().Store(uint32(shard))
	return u.AllocExact(1)
}

// CommittedBytes returns the bytes that the layer below has committed.
func (u *Universe) CommittedBytes() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := int64(u.pages.Committed())
	for g := range u.ready {
		n -= int64(u.goneBytes(g))
	}
	return n
}

// EmptyBytes is what Trim would give back, of a universe and of mappings.
func (u *Universe) EmptyBytes() (n int64) {
	for g := range u.ready {
		if u.ready[g].Load() == 0 || u.whole && !u.isEmpty(g) {
			continue
		}
		for m := 2 * g; m < 2*g+2; m++ {
			n += ChunkSize * int64(bits.OnesCount64(^u.Index.Word(m).Load()&^u.gone[m].Load()))
		}
	}
	return n
}

// SpanChunks is how many chunks spans hold.
func (u *Universe) SpanChunks() int { return int(u.Spans.Held.Load()) }

// ScavengeTick is the time between two looks of the scavenger.
const ScavengeTick = scavengeTick

// LookNow is a look of the scavenger out of turn, unless it is off or looking.
func LookNow() {
	s := &TheScavenger
	if s.setting().Percent < 0 || !s.working.TryLock() {
		return
	}
	defer s.working.Unlock()
	s.pace.begin(time.Now())
	s.lookAt(universes.All())
}

// AnyMemory reports whether a universe has memory.
func AnyMemory() bool { return anyReady(universes.All()) }

// ScavengerDue reports whether the scavenger will look again.
func ScavengerDue() bool { return TheScavenger.on.Load() }

// VerifyMetadata checks B1 and B2 of the metadata blocks of the process.
func VerifyMetadata() error { return metadata.verify() }

// verify checks B1 and B2. No other call may be under way.
func (l *metadataBlocks) verify() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var free []metadataBlock
	for class := range l.warm {
		for _, s := range slices.Concat(l.warm[class], l.cold[class]) {
			if s.size != 1<<class || s.left != s.size || s.offset%s.size != 0 ||
				s.offset+s.size > s.region.Committed() {
				return fmt.Errorf("alloc: B2: a free metadata block of %d bytes at %d of %d, class %d",
					s.size, s.offset, s.region.Committed(), class)
			}
			for i, b := range s.memory() {
				if b != 0 {
					return fmt.Errorf("alloc: B1: byte %d of a free metadata block of %d is %#x", i, s.size, b)
				}
			}
			free = append(free, s)
		}
	}
	at := map[uintptr]bool{}
	for _, s := range free {
		for page := range s.size >> 12 {
			p := uintptr(s.base) + uintptr(page)<<12
			if at[p] {
				return fmt.Errorf("alloc: B2: two free metadata blocks have the page at %#x", p)
			}
			at[p] = true
		}
	}
	if l.ready%mmap.Granule != 0 || l.cut > l.ready {
		return fmt.Errorf("alloc: B2: %d bytes of the region are handed out, %d are ready", l.cut, l.ready)
	}
	return nil
}

// FineMost is how many chunks of a fine granule small requests have.
const FineMost = fineMost

// Fine returns the fine granule, -1 where there is none, and whether its pages are kept small.
func (u *Universe) Fine() (granule int, kept bool) {
	return int(u.fine.granule.Load()) - 1, u.fine.kept.Load()
}

// FineFrom sets how many universes have huge pages at once, and returns the number before.
func FineFrom(n int) (before int) { return int(fineFrom.Swap(int32(n))) }

// FailMappings makes the calls for the extent's reservations follow a script.
func (x *Extent) FailMappings(s *mapping.Script) { x.reserve = s.Reserve }

// ReserveLeast makes the extent reserve no more than it needs, as under a limit of addresses.
func (x *Extent) ReserveLeast() {
	reserve := x.reserve
	x.reserve = func(_, least int) (mapping.Region, error) { return reserve(least, least) }
}

// Mapped reports whether the extent lies in a reservation of its own.
func (x *Extent) Mapped() bool { return x.mapping != nil }

// Corrupt breaks an invariant of an extent that lies in chunks, and returns what puts it right.
func (x *Extent) Corrupt(invariant string) (restore func()) {
	switch invariant {
	case "X1":
		x.run += 64
		return func() { x.run -= 64 }
	case "X1 none":
		size := x.size
		x.size = 0
		return func() { x.size = size }
	case "X2":
		// Safe because the extent has room bytes.
		last := (*byte)(unsafe.Add(x.base, x.room()-1))
		*last = 1
		return func() { *last = 0 }
	}
	return nil
}
