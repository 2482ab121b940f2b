package units

// pair is two workers: the caller, and a goroutine that waits for the other half.
type pair struct {
	halves chan func()
	done   chan struct{}
}

func newPair() *pair {
	p := &pair{make(chan func()), make(chan struct{})}
	go func() {
		for f := range p.halves {
			f()
			p.done <- struct{}{}
		}
	}()
	return p
}

// split calls f with the halves of [0, n), each on a worker.
func (p *pair) split(n int, f func(worker, from, to int)) {
	p.halves <- func() { f(1, n/2, n) }
	f(0, 0, n/2)
	<-p.done
}

func (p *pair) close() { close(p.halves) }
