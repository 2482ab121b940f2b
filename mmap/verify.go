package mmap

import "fmt"

// Verify checks the numbered invariants of the region and returns an error that names one that does
// not hold. It may be called in any state, also after Release. It waits for a transition that is
// under way and costs some microseconds.
func (r *Region) Verify() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.verify()
}

// verify is Verify. r.mu is held.
func (r *Region) verify() error {
	m := &r.memory
	if m.base == nil {
		return r.verifyReleased()
	}
	align := r.space.sys.traits().align
	if m.size <= 0 || m.size%Granule != 0 || uintptr(m.base)%uintptr(align) != 0 {
		return fmt.Errorf("mmap: I1: base=%p size=%d, want multiples of %d and %d", m.base, m.size, align, Granule)
	}
	n := m.size / Granule
	for i, set := range []granules{r.ready, m.stale, r.locked, r.fine, r.filed} {
		if len(set) != (n+63)/64 {
			return fmt.Errorf("mmap: I2: set %d (ready, stale, locked, fine, filed) has %d words for %d granules",
				i, len(set), n)
		}
		if g := set.next(n, len(set)*64, true); g < len(set)*64 {
			return fmt.Errorf("mmap: I2: set %d (ready, stale, locked, fine, filed) has granule %d of %d", i, g, n)
		}
	}
	for w := range r.ready {
		if both := r.ready[w] & m.stale[w]; both != 0 {
			return fmt.Errorf("mmap: I3: granules %#x of word %d are ready and stale", both, w)
		}
	}
	if members, runs := r.count(); r.committed != members*Granule || r.runs != runs {
		return fmt.Errorf("mmap: I4: committed=%d runs=%d, but %d granules are ready and cost %d runs",
			r.committed, r.runs, members, runs)
	}
	if err := r.space.verify(m); err != nil {
		return err
	}
	if err := r.verifyGuards(); err != nil {
		return err
	}
	for w := range r.locked {
		if bad := r.locked[w] &^ r.ready[w]; bad != 0 {
			return fmt.Errorf("mmap: I7: granules %#x of word %d are locked but not ready", bad, w)
		}
	}
	if m.object == nil && !r.space.lives(r) {
		return fmt.Errorf("mmap: I8: the list of tenants does not have the region at %p", m.base)
	}
	if fine, _ := r.fine.count(); fine > 0 && r.hints&SmallPages != 0 {
		return fmt.Errorf("mmap: I9: %d granules are fine although the whole region has small pages", fine)
	}
	return r.verifyFiled()
}

// verifyGuards checks I6. r.mu is held.
func (r *Region) verifyGuards() error {
	total := 0
	for g, set := range r.guards.bits {
		members, runs := set.count()
		total += runs
		if g < 0 || g >= r.memory.size/Granule || !r.ready.has(g) || r.locked.has(g) || members == 0 {
			return fmt.Errorf("mmap: I6: granule %d is listed with %d guards, but is reserved, locked or without",
				g, members)
		}
	}
	if total != r.guards.runs {
		return fmt.Errorf("mmap: I6: runs=%d, but the guards make %d", r.guards.runs, total)
	}
	return nil
}

// verifyFiled checks I10. r.mu is held.
func (r *Region) verifyFiled() error {
	for w := range r.filed {
		if bad := r.filed[w] &^ (r.ready[w] | r.memory.stale[w]); bad != 0 {
			return fmt.Errorf("mmap: I10: granules %#x of word %d show a file but are neither ready nor stale", bad, w)
		}
	}
	for g := range r.guards.bits {
		if r.filed.has(g) {
			return fmt.Errorf("mmap: I10: granule %d shows a file and has guards", g)
		}
	}
	if filed, _ := r.filed.count(); filed > 0 && r.hints&^SmallPages != 0 {
		return fmt.Errorf("mmap: I10: %d granules show a file although the region has hints %#x", filed, r.hints)
	}
	return nil
}

func (r *Region) verifyReleased() error {
	m := &r.memory
	if m.size != 0 || m.object != nil ||
		len(r.ready)+len(m.stale)+len(r.guards.bits)+len(r.locked)+len(r.fine)+len(r.filed) != 0 ||
		r.committed != 0 || r.runs != 0 {
		return fmt.Errorf("mmap: I5: a released region holds size=%d committed=%d runs=%d", m.size, r.committed, r.runs)
	}
	return nil
}

// verify checks P1 to P3, and I5 for the range of an open region.
func (s *space) verify(m *memory) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parked.overlaps(m.base, m.size) {
		return fmt.Errorf("mmap: I5: of the range at %p, which is open, part is parked", m.base)
	}
	return s.parked.verify()
}
