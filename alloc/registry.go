package alloc

import (
	"sync"
	"weak"
)

// registry knows all live T that were added, without keeping them from being
// collected. Any goroutine may use it.
type registry[T any] struct {
	mu    sync.Mutex
	known map[weak.Pointer[T]]struct{}
	prune int // how many may be known before those that were collected are taken out
}

// registryStep is how many are known before the first look for collected ones; after
// each it is twice what was left and as much more.
const registryStep = 64

func (r *registry[T]) add(p *T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known, r.prune = map[weak.Pointer[T]]struct{}{}, registryStep
	}
	if len(r.known) >= r.prune {
		r.gather()
		r.prune = 2*len(r.known) + registryStep
	}
	r.known[weak.Make(p)] = struct{}{}
}

func (r *registry[T]) remove(p *T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, weak.Make(p))
}

// all returns those that are live now.
func (r *registry[T]) all() []*T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gather()
}

// gather returns the live ones and forgets the others. mu is held.
func (r *registry[T]) gather() (live []*T) {
	for w := range r.known {
		if p := w.Value(); p != nil {
			live = append(live, p)
		} else {
			delete(r.known, w)
		}
	}
	return live
}
