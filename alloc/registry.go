package alloc

import (
	"sync"
	"weak"
)

// registry holds all live values of type T that were added, without keeping them from being
// collected. Any goroutine may use it.
type registry[T any] struct {
	mu    sync.Mutex
	known map[weak.Pointer[T]]struct{}
	prune int // number of entries at which add removes collected ones
}

// registryStep is the number of entries before the first removal of collected ones. After each
// removal the threshold is twice the number left plus registryStep.
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

// all returns the values that are live now.
func (r *registry[T]) all() []*T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gather()
}

// gather returns the live values and removes the others. mu is held.
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
