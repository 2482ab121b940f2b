package journal

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/internal/long"
)

// TestJournalHistories runs programs that journal, one after the other on one disk, each until it
// closes its journal or is killed, or until the power fails, with a disk that is full at times and
// refuses steps at others: each finds the state of a commit no older than the last that was
// acknowledged, no call waits for ever, and the results of Close and Sync are true. QUARRY_LONG
// runs 2,000 seeds; the 20 of the short form find a commit without a delta that is refused during a
// compaction, one that failed and keeps the next from being tried, and a Rebase behind which older
// commits stay.
func TestJournalHistories(t *testing.T) {
	for seed := range long.N(20, 2000*long.Times()) {
		bubble(t, uint64(seed), func(s *simulation) {
			for range 4 {
				s.program()
			}
			s.killIn, s.full, s.bad = -1, false, false
			s.require(s.open(), "it does not open")
			s.require(s.close() == nil, "Close failed")
		})
	}
}

// program runs one program, and then perhaps the power fails.
func (s *simulation) program() {
	policies := []Option{SyncEach(), SyncEvery(20 * time.Millisecond), SyncNever()}
	s.killIn = -1
	if s.dice.IntN(4) > 0 {
		s.killIn = s.dice.IntN(120)
	}
	s.full, s.bad = s.dice.IntN(8) == 0, false
	if s.open(policies[s.dice.IntN(len(policies))], CompactAt(int64(s.dice.IntN(2)*3000))) {
		for range 40 {
			if s.killed {
				break
			}
			s.act()
		}
		healthy := !s.killed && !s.full && !s.bad && s.sync() == nil
		if err := s.close(); healthy && !s.killed {
			s.require(err == nil, "Close: %v", err)
		}
	}
	if s.dice.IntN(2) == 0 {
		s.note("power loss")
		s.disk = s.disk.Loss(s.disk.Steps(), s.dice)
	}
}

// act does one thing.
func (s *simulation) act() {
	switch s.dice.IntN(17) {
	case 16:
		s.backup()
	case 0:
		s.check(s.sync())
	case 1:
		s.note("Compact")
		s.j.Compact()
	case 2:
		if err := s.rebase(); !s.killed && !s.full && !s.bad {
			s.require(err == nil || errors.Is(err, alloc.ErrFull), "Rebase: %v", err)
		}
	case 3, 4:
		s.full = !s.full && s.dice.IntN(2) == 0
		s.note("full: %v", s.full)
	case 5:
		s.bad = !s.bad && s.dice.IntN(4) == 0
		s.note("bad: %v", s.bad)
	case 6:
		time.Sleep(time.Duration(s.dice.IntN(150)) * time.Millisecond)
	case 7:
		s.managed()
	case 8:
		s.restore(func() {})
	case 9:
		if s.dice.IntN(3) == 0 {
			s.note("no memory")
			s.starve()
		}
	default:
		s.change()
		s.check(s.commit())
	}
	for range s.dice.IntN(6) {
		s.step()
	}
	s.see()
}

// check checks the error of a method.
func (s *simulation) check(err error) {
	if err != nil && !s.killed && !s.full && !s.bad && !mayFail(err) {
		// It may be of a step before: the disk is as it should be now, so another try succeeds.
		again := s.sync()
		s.require(s.killed || mayFail(again), "with a disk that is well: %v", again)
	}
}

// backup copies the journal to another folder, which has a state no older than the last that was
// acknowledged before, or none if the copy failed.
func (s *simulation) backup() {
	s.backups++
	folder, sure := fmt.Sprintf("copies/%d", s.backups), s.j.Acknowledged()
	var commit uint64
	var err error
	s.call("Backup", func() { commit, err = s.j.backUp("Journal.Backup", folder) })
	s.note("Backup: %d, %v", commit, err)
	if err != nil {
		s.require(s.killed || s.full || s.bad || mayFail(err), "Backup: %v", err)
		return
	}
	s.require(commit >= sure, "the copy has commit %d, and %d was acknowledged", commit, sure)
	lost := s.disk.Loss(s.disk.Steps(), s.dice)
	copied := &simulation{t: s.t, dice: s.dice, disk: lost, killIn: -1, folder: folder, hashes: s.hashes, sure: commit}
	copied.require(copied.open(), "the copy does not open")
	copied.require(copied.close() == nil, "Close failed")
}

// managed makes an entity with a managed value, of which there is no delta, or destroys them.
func (s *simulation) managed() {
	q := ecs.NewQuery(s.w, ecs.With(s.text))
	var all []ecs.Entity
	for rows := range q.Rows() {
		all = append(all, rows.Entities()...)
	}
	if len(all) == 0 {
		s.note("a managed value")
		s.text.Set(ecs.NewArchetype(s.w, s.value, s.text).Create(), strings.Repeat("x", s.dice.IntN(9)))
		return
	}
	s.note("no managed value")
	for _, e := range all {
		s.w.Destroy(e)
	}
}

// restore puts the world back to what it was before it had more blocks of ids, of which there is no
// delta, after a commit and what is to be done then.
func (s *simulation) restore(then func()) {
	s.note("restored")
	before := s.w.Snapshot()
	defer before.Close()
	if _, err := ecs.NewArchetype(s.w, s.value).CreateN(8500); err != nil {
		return // the world is full
	}
	s.check(s.commit())
	then()
	s.require(s.w.Restore(before) == nil, "Restore failed")
	s.check(s.commit())
}
