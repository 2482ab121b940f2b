package journal

import (
	"errors"
	"syscall"
	"testing"
	"testing/synctest"

	"quarry/alloc"
)

// settle lets all steps of the disk be done that are wanted now.
func (s *simulation) settle() {
	for s.step() {
	}
}

// begin begins a compaction, which waits for the disk.
func (s *simulation) begin() {
	s.settle()
	s.j.Compact()
	synctest.Wait()
	s.require(s.j.compacting, "there is no compaction")
}

// ends closes the journal, and requires that the next one has the last state.
func (s *simulation) ends() {
	last, hash := s.j.Status().Committed, s.w.Hash()
	err := s.close()
	s.require(err == nil, "Close: %v", err)
	s.disk = s.disk.Loss(s.disk.Steps(), s.dice)
	s.require(s.open(), "it does not open")
	s.require(s.j.Opened().Commit == last && s.w.Hash() == hash, "it is at commit %d of %d", s.j.Opened().Commit, last)
	s.require(s.close() == nil, "Close failed")
}

// TestRebaseOnAFullDisk: where a commit failed, and a Rebase after it, the next Sync with room has
// the state of the Rebase. It waited for ever, and Close was nil without that state.
func TestRebaseOnAFullDisk(t *testing.T) {
	for _, sync := range []bool{false, true} {
		bubble(t, 2, func(s *simulation) {
			s.require(s.open(SyncNever(), CompactAt(0)), "it does not open")
			s.full = true
			s.change()
			_ = s.commit()
			s.settle()
			s.require(errors.Is(s.j.Status().Err, syscall.ENOSPC), "%v", s.j.Status().Err)
			s.change()
			err := s.rebase()
			s.require(errors.Is(err, syscall.ENOSPC) && !errors.Is(err, ErrRebase), "%v", err)
			s.full = false
			if sync {
				err := s.sync()
				s.require(err == nil, "Sync: %v", err)
			}
			s.ends()
		})
	}
}

// TestLostCommitAmongOthers: a commit whose snapshot was lost while it waited takes none of the
// next ones with it. Close tried it alone, so that commit 1 of 11 was on the disk.
func TestLostCommitAmongOthers(t *testing.T) {
	bubble(t, 4, func(s *simulation) {
		s.require(s.open(SyncNever(), CompactAt(0)), "it does not open")
		for number := range 11 {
			s.change()
			s.require(s.commit() == nil, "Commit failed") // the writer waits for the disk to take commit 1
			if number == 1 {
				s.starve()
				s.require(errors.Is(s.j.queue[0].s.Err(), alloc.ErrFull), "commit 2 is not lost")
			}
		}
		s.require(s.j.Status().Written == 0, "a commit is written")
		s.ends()
	})
}

// TestBaseDuringCompaction: a commit of which there is no delta, which comes while a compaction is
// under way, becomes a base after it, and so do the next ones. All of them were refused until
// Rebase.
func TestBaseDuringCompaction(t *testing.T) {
	for name, change := range map[string]func(s *simulation){
		"managed values": func(s *simulation) { s.managed(); s.begin() },
		"fewer ids":      func(s *simulation) { s.restore(s.begin) },
	} {
		for _, policy := range []Option{SyncEach(), SyncNever()} {
			bubble(t, 5, func(s *simulation) {
				s.note("%s", name)
				s.require(s.open(policy, CompactAt(0)), "it does not open")
				s.change()
				s.require(s.commit() == nil && s.sync() == nil, "Commit failed")
				change(s)
				for range 3 {
					err := s.commit()
					s.require(err == nil, "Commit: %v", err)
					s.change()
				}
				err := s.commit()
				s.require(err == nil, "Commit: %v", err)
				s.ends()
			})
		}
	}
}

// TestOpenAfterAFailedSync: where a sync failed, the system has in memory what the disk has not,
// and the next sync succeeds. A program that opens the journal then acknowledges what it finds, so
// it writes that again.
func TestOpenAfterAFailedSync(t *testing.T) {
	for seed := range uint64(8) {
		bubble(t, seed, func(s *simulation) {
			s.require(s.open(SyncNever(), CompactAt(0)), "it does not open")
			for range 3 {
				s.change()
				s.require(s.commit() == nil, "Commit failed")
				s.settle()
			}
			s.refuse = "Sync"
			err := s.sync()
			s.require(errors.Is(err, ErrRebase), "%v", err)
			s.refuse = ""
			s.require(s.j.Acknowledged() == 0 && s.close() != nil, "it is on the disk")
			s.require(s.open(), "it does not open")
			s.require(s.j.Acknowledged() == 3, "there are %d commits of 3", s.j.Acknowledged())
			s.ends()
		})
	}
}
