package job

import "runtime"

// Combine returns one handle for all the flights. It allocates if there are several.
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

// scheduler returns the scheduler of the flights, or nil if there are none.
func (h Handle) scheduler() *Scheduler {
	switch {
	case h.j != nil:
		return h.j.s
	case len(h.more) > 0:
		return h.more[0].j.s
	}
	return nil
}

// Complete runs and waits for the flights and everything they depend on; the caller takes part. It
// then ends their borrows, so that their types are the owner's again. The error joins the
// *PanicError of every failed job that was completed and not yet reported. It panics if h combines
// flights of several schedulers.
func (h Handle) Complete() error {
	s := h.scheduler()
	if s == nil {
		return nil
	}
	s.enter("Handle.Complete")
	s.newRound()
	s.choose(h)
	for _, m := range h.more {
		if m.j.s != s {
			panic("job: Handle.Complete: the handle combines jobs of several schedulers; complete them one by one")
		}
		s.choose(m)
	}
	s.completeChosen()
	return s.takeErrors()
}

// Done reports whether the flights have finished, so that Complete would not wait. Done itself does
// not wait. It starts work that was too short to wake a worker for: on a worker, or on the caller
// if there are no other workers. Before it returns false it calls runtime.Gosched, so a loop that
// only calls Done ends even on one thread. Such a loop occupies a thread and does none of the work.
// In WebAssembly, a body that waits for the host, for instance for a file, waits until the loop
// sleeps. To wait, call Complete; to poll, call Done between other work, or with time.Sleep.
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
		runtime.Gosched() // a loop of Done on one thread must let others run
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
		s.round++
		s.choose(h)
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
