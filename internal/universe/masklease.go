package universe

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/bitmask"
	"quarry/internal/debug"
	"quarry/internal/universe/mutant"
	"quarry/internal/universe/sentinel"
)

// Leases. A shard of goroutines (shard.go) has a home: the megachunk that its single chunks come
// from. The shard leases the home's line, the eight masks of one cache line. Other shards avoid a
// leased line while another megachunk has room, so that two cores do not write to one line.
//
// The index does not track homes: claims and frees in a home are not noted. A megachunk is noted
// once, when it ceases to be a home. Both sides check twice, as in the handshake of universe.go. A
// claim or free changes the mask and then reads which megachunk is the home; the end of a lease
// stores the new home and then reads the mask. So either the note at the end of the lease sees the
// change, or the change sees that the lease has ended and is noted itself.

const lineWords = 64 / 8 // masks in a cache line

// leases holds the homes of all shards.
type leases struct {
	shards Shards
	of     [MaxShards]maskLease
	lines  []atomic.Uint32 // per line: 1 + the shard that leases it; 0: none
}

// maskLease is the home of one shard, on its own cache lines.
type maskLease struct {
	home atomic.Int32 // megachunk; -1: none; written under mu
	mu   sync.Mutex   // held while a new home is searched for
	_    [128 - unsafe.Sizeof(atomic.Int32{}) - unsafe.Sizeof(sync.Mutex{})]byte
}

// linesOf returns the number of lines of so many megachunks.
func linesOf(megachunks int) int { return (megachunks + lineWords - 1) / lineWords }

// reset ends all leases of a universe with these lines, which are clear. No other call may be under
// way.
func (l *leases) reset(lines []atomic.Uint32) {
	l.lines = lines
	for i := range l.of {
		l.of[i].home.Store(-1)
	}
}

// isHome reports whether megachunk m is a shard's home.
func (l *leases) isHome(m int) bool {
	shard := l.lines[m/lineWords].Load()
	return shard != 0 && int(l.of[shard-1].home.Load()) == m
}

// isOthers reports whether megachunk m lies in a line that another shard leases.
func (l *leases) isOthers(m, shard int) bool {
	owner := l.lines[m/lineWords].Load()
	return owner != 0 && int(owner) != shard+1
}

// takeAtHome claims a chunk in the home of the goroutine's shard. This is the common case and makes
// no call when the chunk is committed and was allocated before. It also returns the shard, which
// findOne needs when ok is false.
func (u *Universe) takeAtHome() (c ChunkIndex, shard int, ok bool) {
	shard = u.leases.shards.Index()
	l := &u.leases.of[shard]
	home := l.home.Load()
	if home < 0 {
		return 0, shard, false
	}
	at, before, lost, ok := u.Index.Word(int(home)).ClaimOne()
	if !ok {
		return 0, shard, false
	}
	c = ChunkIndex(int(home)*ChunksPerMegachunk + at)
	if lost > 0 || l.home.Load() != home || u.ready[home/2].Load() == 0 ||
		u.dirty[home].Load()>>uint(at)&1 == 0 || debug.On {
		return c, shard, u.settleAtHome(shard, int(home), at, before, lost)
	}
	return c, shard, true
}

// findOne completes AllocExact(1) when the home had no chunk.
func (u *Universe) findOne(shard int, name string) (ChunkIndex, error) {
	if err := u.Refuse(name); err != nil {
		return 0, err
	}
	c, err := u.findHome(shard, AnyRun, name)
	if err == sentinel.ErrFull {
		err = u.errFull(name, 1)
	}
	return c, err
}

// settleAtHome completes takeAtHome in the uncommon cases. It takes the claim back and returns
// false when a commit is refused.
func (u *Universe) settleAtHome(shard, home, at int, before uint64, lost int) bool {
	if lost > 0 {
		u.leases.shards.Move(shard)
	}
	if int(u.leases.of[shard].home.Load()) != home {
		// The lease has ended, perhaps before the claim: the index must know.
		u.Index.Note(home, before, before|1<<uint(at))
	}
	mutant.Pause()
	if u.ready[home/2].Load() == 0 && u.commit(home/2) != nil || !u.refill(home, 1<<uint(at)) {
		u.rollBack(home, at, 1) // findOne reports why, or finds another chunk
		return false
	}
	u.handOut(home, 1<<uint(at), AnyRun)
	return true
}

// findHome claims a chunk where takeAtHome found none or was not called, as for a zeroed chunk. If
// the shard's home has run out, it moves to the megachunk that the index calls the best fit for one
// chunk. When other shards lease every megachunk with room, the home stays and the chunk comes from
// anywhere.
func (u *Universe) findHome(shard int, c Flags, name string) (ChunkIndex, error) {
	m, run, ok := u.moveHome(shard)
	if !ok {
		return u.search(1, shard, c, name)
	}
	return u.claimed(m, run, c, name)
}

// moveHome claims a chunk in the shard's home, which another goroutine of the shard may have moved
// in the meantime, or in a new home.
func (u *Universe) moveHome(shard int) (m int, run uint64, ok bool) {
	if u.Refusal != nil {
		return 0, 0, false // each request must reach refuse
	}
	l := &u.leases.of[shard]
	l.mu.Lock()
	defer l.mu.Unlock()
	old := int(l.home.Load())
	if old >= 0 {
		if _, before, now, ok := u.Index.Word(old).TryAlloc(1); ok {
			return old, before ^ now, true
		}
	}
	f := u.Index.Fit(1)
	for m, ok := f.Next(); ok; m, ok = f.Next() {
		line := &u.leases.lines[m/lineWords]
		mine := old >= 0 && old/lineWords == m/lineWords
		if !mine && !line.CompareAndSwap(0, uint32(shard+1)) {
			f.Skip((m/lineWords + 1) * lineWords)
			continue
		}
		_, before, now, ok := u.Index.Word(m).TryAlloc(1)
		if !ok {
			if !mine {
				line.Store(0)
			}
			continue
		}
		u.Index.Note(m, before, now) // m may cease to be the home before anyone sees it as the home
		mutant.Pause()
		l.home.Store(int32(m))
		mutant.Pause()
		u.leave(old, mine)
		return m, before ^ now, true
	}
	return 0, 0, false
}

// leave ends the lease of a home that was just replaced.
func (u *Universe) leave(old int, sameLine bool) {
	if old < 0 {
		return
	}
	if !sameLine {
		u.leases.lines[old/lineWords].Store(0)
	}
	if mutant.Planted != mutant.ForgetHome {
		u.Index.Note(old, ^uint64(0), u.Index.Word(old).Load())
	}
}

// verifyLeases checks I6.
func (u *Universe) verifyLeases() (line int, ok bool) {
	var homes bitmask.Bits = make([]uint64, (len(u.leases.lines)+63)/64)
	for i := range u.leases.of {
		if home := int(u.leases.of[i].home.Load()); home >= 0 {
			homes.SetRange(home/lineWords, 1)
			if u.leases.lines[home/lineWords].Load() != uint32(i+1) {
				return home / lineWords, false
			}
		}
	}
	for line := range u.leases.lines {
		if u.leases.lines[line].Load() != 0 && homes.CountRange(line, 1) == 0 {
			return line, false
		}
	}
	return 0, true
}
