package units

import (
	"fmt"
	"os"
	"time"

	"quarry/bench/process"
	"quarry/ecs"
	"quarry/ecs/journal"
)

// journalFrames is the most frames of a game with a journal.
const journalFrames = 120

// Records is what a child found of its journal. Times are in ns.
type Records struct {
	Commits int   `json:"commits"` // of frames
	Records int   `json:"records"` // of them in the log or in the base, and not joined with later ones
	Log     int64 `json:"log"`     // bytes of the log at the end
	InLog   int   `json:"in_log"`  // records
	Base    int64 `json:"base"`    // bytes
	Reopen  int64 `json:"reopen"`  // opening the journal again: the base, and the records of the log
	Reload  int64 `json:"reload"`  // opening it with a new base and without records
}

// measureJournal plays a side of Quarry with a commit in each frame, and opens the journal again:
// the world must be that of the end.
func measureJournal(sp Spec) (out Sample, err error) {
	folder, err := os.MkdirTemp("", "server")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(folder)
	base := process.Resident()
	sp.Frames = min(sp.Frames, journalFrames)
	j, err := journal.Open(folder, func(w *ecs.World) { register(w, sp.Side) }, journal.CompactAt(0))
	if err != nil {
		return out, err
	}
	s, err := newQuarry(sp.Side, j.World())
	if err != nil {
		return out, err
	}
	var r Records
	joined := uint64(0)
	commit := func() error {
		if r.Commits++; r.Commits > 1 {
			return j.Commit()
		}
		err := j.Rebase()
		joined = j.Status().Joined
		return err
	}
	ended := &ending{s, func() error {
		if err := j.Sync(); err != nil {
			return err
		}
		now := j.Status()
		r.Commits--
		r.Records, r.Log, r.Base = r.Commits-int(now.Joined-joined), now.LogBytes, now.BaseBytes
		return j.Close()
	}}
	if out, err = play(ended, sp, base, commit); err != nil {
		return out, err
	}
	err = r.reopen(folder, sp.Side, out.Full)
	out.Journal = r
	return out, err
}

// ending is a side that is closed after its journal.
type ending struct {
	side
	first func() error
}

func (e *ending) close() error {
	if err := e.first(); err != nil {
		return err
	}
	return e.side.close()
}

// reopen opens the journal twice, with the records of the log and with a new base.
func (r *Records) reopen(folder, name string, want sum) error {
	for turn := range 2 {
		start := time.Now()
		j, err := journal.Open(folder, func(w *ecs.World) { register(w, name) }, journal.CompactAt(0))
		if err != nil {
			return err
		}
		took := time.Since(start).Nanoseconds()
		if turn == 1 {
			r.Reload = took
		} else if r.Reopen, r.InLog = took, j.Opened().Records; r.InLog > 0 {
			if err := j.Rebase(); err != nil {
				return err
			}
		}
		if err := j.Close(); err != nil {
			return err
		}
		s, err := newQuarry(name, j.World())
		if err != nil {
			return err
		}
		if got := s.full(); got != want {
			return fmt.Errorf("the journal has %+v, the world had %+v", got, want)
		}
		if err := s.close(); err != nil {
			return err
		}
	}
	return nil
}
