package main

var sliceSingleWays = []way{
	{"query5comp", goSlices, func(n int) (trial, error) { return newFiveColumns(n), nil }},
	{"query5comp-kernel", slicesKernel, func(n int) (trial, error) { return fiveFlat{newFiveColumns(n)}, nil }},
	{"query2comp-threads", goSlices, func(n int) (trial, error) { return newColumns(n), nil }},
	{"query2comp-threads", slicesTwo, buildTwoColumns},
}

// fiveColumns are five plain slices.
type fiveColumns struct {
	endless
	p  []Position
	v  []Velocity
	c1 []C1
	c2 []C2
	c3 []C3
}

func newFiveColumns(n int) *fiveColumns {
	s := &fiveColumns{
		p: make([]Position, n), v: make([]Velocity, n), c1: make([]C1, n), c2: make([]C2, n), c3: make([]C3, n),
	}
	for i := range n {
		s.v[i], s.c2[i] = velocityOf(i), secondOf(i)
	}
	return s
}

func (s *fiveColumns) pass(times int) {
	for range times {
		addFive(s.p, s.v, s.c1, s.c2, s.c3)
	}
}

func (s *fiveColumns) check(passes int) error {
	var got [3]tally
	for i := range s.p {
		got[0].add(&s.p[i])
		got[1].add((*Position)(&s.c1[i]))
		got[2].add((*Position)(&s.c3[i]))
	}
	return wantFive(got, len(s.p), passes)
}

// fiveFlat does the same with the vector kernel.
type fiveFlat struct{ *fiveColumns }

func (s fiveFlat) pass(times int) {
	for range times {
		addFiveKernel(s.p, s.v, s.c1, s.c2, s.c3)
	}
}

// twoColumns moves one half of columns here and the other on a goroutine that waits for work.
type twoColumns struct {
	*columns
	work, done chan struct{}
}

func buildTwoColumns(n int) (trial, error) {
	s := twoColumns{newColumns(n), make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(s.done)
		for range s.work {
			move(s.p[n/2:], s.v[n/2:])
			s.done <- struct{}{}
		}
	}()
	return s, nil
}

func (s twoColumns) pass(times int) {
	half := len(s.p) / 2
	for range times {
		s.work <- struct{}{}
		move(s.p[:half], s.v[:half])
		<-s.done
	}
}

func (s twoColumns) close() error {
	close(s.work)
	<-s.done
	return nil
}
