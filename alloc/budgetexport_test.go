package alloc

import (
	"math/bits"
	"slices"
)

// PurgeAll has everything in the process give back what is empty, and returns what is
// still committed.
func PurgeAll() int64 {
	process.purge(func() bool { return false })
	return process.used.Load()
}

// HoldGoLimit stops all who have been charged, under a budget with a Total, before they
// commit.
func HoldGoLimit() (release func()) {
	process.limit.Lock()
	return process.limit.Unlock
}

// NearIsDone reports whether no call of Near is under way or due.
func NearIsDone() bool { return process.calls.Load() == 0 }

// CommittedBytes is what the layer below has committed for the heap's mappings.
func (h *Heap) CommittedBytes() int64 { return h.mappings.committed() }

// CommittedBytes is what the layer below has committed.
func (p *Pages) CommittedBytes() int64 { return p.mappings.committed() }

// CommittedBytes is what the layer below has committed.
func (u *Universe) CommittedBytes() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := int64(u.pages.Committed())
	for g := range u.ready {
		n -= int64(u.goneBytes(g))
	}
	return n
}

func (l *mappings) committed() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.live {
		n += int64(m.region.Committed())
	}
	for _, m := range l.kept {
		n += int64(m.region.Committed())
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
			n += ChunkSize * int64(bits.OnesCount64(^u.index.Word(m).Load()&^u.gone[m].Load()))
		}
	}
	return n
}

// Registry is a registry of ints, for its own test.
type Registry struct{ registry[[64]int] }

// Add, Remove, All and Known are of the registry; Known is how many entries it has.
func (r *Registry) Add(p *[64]int)              { r.add(p) }
func (r *Registry) Remove(p *[64]int)           { r.remove(p) }
func (r *Registry) All() []*[64]int             { return r.all() }
func (r *Registry) Known() int                  { return len(r.known) }
func (r *Registry) Has(p *[64]int) (found bool) { return slices.Contains(r.all(), p) }

// Needs is what Go needs now.
func Needs() int64 { return goNeeds() }
