package journal

import (
	"maps"
	"testing"

	"quarry/internal/long"
)

// life is a program that journals a little, unless it is killed.
func (s *simulation) life() {
	if !s.open(SyncEach(), CompactAt(0)) {
		return
	}
	steps := []func() error{s.commit, s.commit, s.commit, s.compact, s.commit, s.commit, s.rebase, s.commit}
	for _, step := range steps {
		s.change()
		err := step()
		s.require(err == nil || s.killed, "%v", err)
		if s.killed {
			break
		}
	}
	err := s.close()
	s.require(err == nil || s.killed, "Close: %v", err)
}

// TestPowerLossAtEachStep cuts the power after each step that a program does on a disk, and then at
// some step of the one that goes on: what was acknowledged is there. The short form sees one loss
// at each step; QUARRY_LONG twelve.
func TestPowerLossAtEachStep(t *testing.T) {
	losses := long.N(1, 12)
	bubble(t, 0, func(s *simulation) {
		sure := []uint64{0} // by the number of steps
		note := func() {
			for len(sure) <= s.disk.Steps() {
				sure = append(sure, sure[len(sure)-1])
			}
			if s.j != nil {
				sure[s.disk.Steps()] = max(sure[s.disk.Steps()], s.j.Acknowledged())
			}
		}
		s.after = note
		s.life()
		note()
		whole, hashes := s.disk, s.hashes
		for n := range whole.Steps() {
			for range losses {
				s.after, s.disk, s.sure, s.hashes = nil, whole.Loss(n, s.dice), sure[n], maps.Clone(hashes)
				for range 2 {
					s.past = nil
					s.note("the power failed after step %d", n)
					s.require(s.open(SyncEach()), "it does not open")
					s.killIn = s.dice.IntN(8)
					s.change()
					_ = s.commit()
					_ = s.close()
					s.disk, s.killIn = s.disk.Loss(s.disk.Steps(), s.dice), -1
				}
			}
		}
		t.Logf("%d steps", whole.Steps())
	})
}

// TestKillAtEachStep kills a program at each step that it does on a disk, and another goes on where
// it was; then the power fails: what either had acknowledged is there. This found journals that did
// not sync their folder when they were opened, and folders above that were not synced. QUARRY_LONG
// has 40 losses at each step, the short form two.
func TestKillAtEachStep(t *testing.T) {
	losses := long.N(2, 40)
	killed := true
	for at := 0; killed; at++ {
		bubble(t, uint64(at), func(s *simulation) {
			s.killIn = at
			s.life()
			killed = s.killed
			s.killIn = -1
			s.require(s.open(SyncEach()), "it does not open")
			s.change()
			s.require(s.commit() == nil, "Commit failed")
			_ = s.close()
			whole := s.disk
			for range losses {
				s.disk = whole.Loss(whole.Steps(), s.dice)
				s.require(s.open(), "it does not open")
				_ = s.close()
			}
		})
	}
}
