package job

import "runtime"

// Handle is a flight of a job, or several of them. The zero value is one that has been
// completed. Like the jobs it belongs to the world's owner.
type Handle struct {
	j      *Job // nil: the zero value, or a combination
	number uint64
	more   []Handle
}

// Combine returns a handle of all the flights. It costs an allocation where there are
// several.
func Combine(handles ...Handle) Handle {
	var all []Handle
	for _, h := range handles {
		h.each(func(h Handle) { all = append(all, h) })
	}
	if len(all) == 1 {
		return all[0]
	}
	return Handle{more: all}
}

// each calls f for each single flight.
func (h Handle) each(f func(Handle)) {
	if h.j != nil {
		f(h)
	}
	for _, m := range h.more {
		f(m)
	}
}

// scheduler returns that of the flights; nil: there are none.
func (h Handle) scheduler() *Scheduler {
	switch {
	case h.j != nil:
		return h.j.s
	case len(h.more) > 0:
		return h.more[0].j.s
	}
	return nil
}

// Complete runs and waits for the flights and all that they depend on, and ends their
// borrows: their types are the owner's again. The caller takes part. The error joins the
// *PanicError of each job that was completed since the last Complete of anything and failed.
func (h Handle) Complete() error {
	s := h.scheduler()
	if s == nil {
		return nil
	}
	s.enter("Handle.Complete")
	s.turnMark()
	s.want(h)
	for _, m := range h.more {
		if m.j.s != s {
			panic("job: Handle.Complete: the handle combines jobs of several schedulers; complete them one by one")
		}
		s.want(m)
	}
	s.completeMarked()
	return s.takeErrors()
}

// Done reports whether the flights have finished, so that Complete would not wait. It
// waits for nothing. Work that was too short to wake a worker for is begun by it, by a worker
// or, where there are none, by the caller. When it says no it has let other goroutines run
// (runtime.Gosched), so a loop of it alone ends on one thread too. Such a loop takes part in
// nothing and uses up a thread, and in WebAssembly a body that waits for the host, as for a
// file, waits until the loop sleeps: to wait, call Complete; to poll, do so between other
// work, or with time.Sleep.
func (h Handle) Done() bool {
	s := h.scheduler()
	if s == nil {
		return true
	}
	s.enter("Handle.Done")
	done := true
	for _, m := range h.more {
		done = m.done() && done
	}
	if h.j != nil {
		done = h.done() && done
	}
	if !done {
		runtime.Gosched() // nothing else would take the only thread away from a loop of this
	}
	return done
}

func (h Handle) done() bool {
	j := h.j
	if j.number != h.number || !j.out || j.finished.Load() {
		return true
	}
	s := j.s
	if len(s.workers) == 1 {
		s.mark++
		s.want(h)
		s.takePart()
		return true
	}
	s.mu.Lock()
	if free := len(s.workers) - 1 - s.parked - int(s.busy.Load()); free == 0 && s.parked > 0 && pick(s.ready) != nil {
		s.parked--
		s.signals++
	}
	s.unlock()
	return false
}
