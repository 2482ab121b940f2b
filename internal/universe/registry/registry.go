package registry

import (
	"sync"
	"weak"
)

// Registry holds all live values of type T that were added, without keeping them from being
// collected. Any goroutine may use it.
type Registry[T any] struct {
	mu    sync.Mutex
	known map[weak.Pointer[T]]struct{}
	prune int // number of entries at which Add removes collected ones
}

// registryStep is the number of entries before the first removal of collected ones. After each
// removal the threshold is twice the number left plus registryStep.
const registryStep = 64

// Add adds a value.
func (r *Registry[T]) Add(p *T) {
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

// Remove removes a value.
func (r *Registry[T]) Remove(p *T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, weak.Make(p))
}

// All returns the values that are live now.
func (r *Registry[T]) All() []*T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gather()
}

// Len returns the number of values that are known, some of which may be collected by now.
func (r *Registry[T]) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.known)
}

// gather returns the live values and removes the others. mu is held.
func (r *Registry[T]) gather() (live []*T) {
	for w := range r.known {
		if p := w.Value(); p != nil {
			live = append(live, p)
		} else {
			delete(r.known, w)
		}
	}
	return live
}
