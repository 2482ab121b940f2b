package hierarchy_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/hierarchy"
)

// refusedLinks is a hierarchy whose world's memory is refused. It goes on after a refusal,
// which must have changed no link.
type refusedLinks struct {
	s     *alloc.Failures
	asked map[string]int // requests by name of the call
	w     *ecs.World
	h     *hierarchy.Hierarchy
	all   []ecs.Entity
	first error // an error that is not a refusal replaces one that is
}

// links prints every link.
func (r *refusedLinks) links() (text string) {
	for _, e := range r.all {
		text += fmt.Sprint(e, r.h.Parent(e), childrenOf(r.h, e))
	}
	return text
}

// try makes a call.
func (r *refusedLinks) try(name string, call func() error) {
	before, requests := r.links(), r.s.Asked()
	err := call()
	r.asked[name] += r.s.Asked() - requests
	if err != nil && r.links() != before {
		err = fmt.Errorf("%s changed links: %v", name, err)
	}
	r.note(name, err, r.h.Verify())
}

// note keeps an error, or what is wrong after the call.
func (r *refusedLinks) note(name string, err, wrong error) {
	if wrong = errors.Join(wrong, r.w.Verify()); wrong != nil {
		err = fmt.Errorf("after %s: %w", name, wrong)
	}
	if r.first == nil || err != nil && !errors.Is(err, alloc.ErrInjected) && errors.Is(r.first, alloc.ErrInjected) {
		r.first = err
	}
}

func (r *refusedLinks) setParent(child, parent ecs.Entity) {
	r.try("SetParent", func() error { return r.h.SetParent(child, parent) })
}

// sweep mends all links or, when memory is refused, some.
func (r *refusedLinks) sweep() {
	requests := r.s.Asked()
	_, err := r.h.Sweep()
	r.asked["Sweep"] += r.s.Asked() - requests
	if err != nil {
		r.note("Sweep", err, nil)
		return
	}
	r.note("Sweep", nil, r.h.Verify())
}

// calls sets, mends and ends links.
func (r *refusedLinks) calls() {
	star, chain := r.all[:60], r.all[60:90]
	for i := range star[1:] {
		r.setParent(star[1+i], star[0])
	}
	for i := range chain[1:] {
		r.setParent(chain[1+i], chain[i])
	}
	for i := range star[1:40] { // into others' lists, and out
		r.setParent(star[1+i], chain[i/10])
	}
	r.setParent(star[1], ecs.Null)
	r.setParent(chain[0], r.all[90])
	if b, err := r.w.InstantiateGroup(chain[:3], 300); err == nil {
		r.all = append(r.all, b.Entities(nil)[:50]...)
	}
	r.sweep() // lists the copies
	r.w.DestroyList(append(chain[3:4:4], star[0]))
	r.sweep() // makes roots
	r.h.Destroy(chain[0])
	r.note("Destroy", nil, nil)
}

// linksRefused makes those calls in a world whose universe refuses by s. It returns the first
// refusal, or what went wrong.
func linksRefused(s *alloc.Failures, asked map[string]int) (first error) {
	u, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(s))
	if err != nil {
		return err
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(1)))
	if err != nil {
		return errors.Join(err, u.Close())
	}
	defer func() { first = errors.Join(first, w.Close(), u.Verify(), u.Close()) }()
	r := &refusedLinks{s: s, asked: asked, w: w, h: hierarchy.New(w)}
	b, err := ecs.NewArchetype(w, ecs.Register[body](w)).CreateN(100)
	if err != nil {
		return err
	}
	r.all = b.Entities(nil)
	r.calls()
	return r.first
}

// TestEveryFailureOfLinks: whichever request for memory is refused, alone or with all after
// it, every link is as it was.
func TestEveryFailureOfLinks(t *testing.T) {
	asked := map[string]int{}
	run := func(s *alloc.Failures) error { return linksRefused(s, asked) }
	require.NoError(t, run(&alloc.Failures{}))
	require.Greater(t, asked["SetParent"], 5)
	require.Positive(t, asked["Sweep"])
	require.NoError(t, alloc.CheckEveryFailure(run))
}
