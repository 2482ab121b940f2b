package main

import (
	"errors"
	"runtime"
	"sync"
)

// member is the part of a gang that one goroutine has to itself.
type member struct {
	m   memory
	s   *sampler
	err error
}

// gang runs goroutines that share one memory, each on a handle of its own.
type gang struct {
	e       *env
	s       *sampler
	wg      sync.WaitGroup
	members []*member
}

func newGang(e *env, s *sampler) *gang { return &gang{e: e, s: s} }

// start runs f on a new goroutine.
func (g *gang) start(f func(w *member) error) {
	m, err := g.e.m.fork()
	if err != nil {
		g.members = append(g.members, &member{err: err})
		return
	}
	w := &member{m: m, s: g.s.fork()}
	g.members = append(g.members, w)
	g.wg.Go(func() { w.err = errors.Join(f(w), m.retire()) })
}

// wait returns when all goroutines have ended, with their errors.
func (g *gang) wait() error {
	g.wg.Wait()
	var err error
	for _, w := range g.members {
		err = errors.Join(err, w.err)
		if w.s != nil {
			g.s.join(w.s)
		}
	}
	return err
}

// threads is how many goroutines a row has that is for n; 0 stands for width.
func threads(n int) int {
	if n == 0 {
		return width()
	}
	return n
}

// width is the number of goroutines in the workloads that use several.
func width() int { return max(2, runtime.GOMAXPROCS(0)) }
