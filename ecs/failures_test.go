package ecs_test

import (
	"errors"
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// refusals makes calls on worlds whose memory is refused. It goes on after a refusal,
// which must have changed nothing.
type refusals struct {
	s      *alloc.Failures
	asked  map[string]int // requests by name of the call
	worlds []*ecs.World
	values func() string // what the worlds have that their hashes do not count; nil: nothing
	first  error         // but what is no refusal comes before those
}

// try makes a call. A *LimitError that it panics with is its error.
func (r *refusals) try(name string, call func() error) {
	before, requests := r.state(true), r.s.Asked()
	err := caught(call)
	r.asked[name] += r.s.Asked() - requests
	if after := r.state(true); err != nil && after != before {
		err = fmt.Errorf("%s changed the worlds from %s to %s: %v", name, before, after, err)
	}
	r.note(name, err)
}

// tryValues is try of a call that may leave archetypes, larger chunks or blocks behind.
func (r *refusals) tryValues(name string, call func() error) {
	before, requests := r.state(false), r.s.Asked()
	err := caught(call)
	r.asked[name] += r.s.Asked() - requests
	if err != nil && r.state(false) != before {
		err = fmt.Errorf("%s changed the worlds: %v", name, err)
	}
	r.note(name, err)
}

// note keeps an error, or what is wrong with a world after the call.
func (r *refusals) note(name string, err error) {
	for _, w := range r.worlds {
		if wrong := w.Verify(); wrong != nil {
			err = fmt.Errorf("after %s: %w", name, wrong)
		}
	}
	if r.first == nil || err != nil && !errors.Is(err, alloc.ErrInjected) && errors.Is(r.first, alloc.ErrInjected) {
		r.first = err
	}
}

// caught makes a call and returns its error, or the *LimitError of its panic.
func caught(call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			limit, ok := v.(*ecs.LimitError)
			if !ok {
				panic(v)
			}
			err = limit
		}
	}()
	return call()
}

// state is what a refusal must leave as it is: hashes and values, and with counts
// those of Stats. Reserves may be given back, and taken.
func (r *refusals) state(counts bool) (text string) {
	for _, w := range r.worlds {
		text += fmt.Sprintf("%x ", w.Hash())
		if counts {
			stats := w.Stats()
			stats.Reserve, stats.Small, stats.Shared = 0, 0, 0
			text += fmt.Sprint(stats, " ")
		}
	}
	if r.values != nil {
		text += r.values()
	}
	return text
}

// refusedWorld runs structural changes of components and buffers on a world whose universe
// refuses as s says, and counts in asked what each asked for. It returns the first refusal.
func refusedWorld(s *alloc.Failures, asked map[string]int) error {
	singles, many := 12, 600
	if testing.Short() {
		singles, many = 5, 200
	}
	u, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(s))
	if err != nil {
		return err
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	if err != nil {
		return errors.Join(err, u.Close())
	}
	type speed struct{ X, Y float64 }
	place, velocity := ecs.Register[[3]float64](w), ecs.Register[speed](w)
	hits := ecs.RegisterBuffer[uint64](w, ecs.Inline(2))
	still := ecs.NewArchetype(w, place, hits)
	moved := ecs.NewQuery(w, ecs.Write(place), ecs.Read(velocity))
	all := ecs.NewQuery(w, ecs.Read(place))
	ids := make([]ecs.Entity, 5*many)
	var some []ecs.Entity
	r := &refusals{s: s, asked: asked, worlds: []*ecs.World{w}}
	try := r.try
	for range singles {
		try("TryCreate", func() error {
			e, err := still.TryCreate()
			if err == nil {
				some = append(some, e)
			}
			return err
		})
	}
	try("CreateN", func() error { _, err := still.CreateN(many); return err })
	for i, e := range some {
		try("TryAppend", func() error {
			b, _ := hits.Mut(e)
			return b.TryAppend(make([]uint64, 1+700*i)...)
		})
		try("TryAdd", func() error { _, err := velocity.TryAdd(e, speed{1, 2}); return err })
	}
	try("ApplyQuery", func() error { _, err := ecs.NewChange(w, ecs.Add(velocity)).ApplyQuery(all); return err })
	try("Reserve", func() error { return w.Reserve(ids) })
	if ids[len(ids)-1] != (ecs.Entity{}) {
		try("CreateReserved", func() error { _, err := still.CreateReserved(ids); return err })
	}
	for _, e := range some {
		try("TryRemove", func() error { _, err := hits.TryRemove(e); return err })
	}
	try("DestroyQuery", func() error { w.DestroyQuery(moved); return nil })
	try("CreateN", func() error { _, err := still.CreateN(4 * many); return err })
	return errors.Join(r.first, w.Close(), u.Verify(), u.Close())
}

// TestEveryFailureOfAWorld: whichever request for memory is refused, alone or with all
// after it, the world is as before the call that it was for, and nothing is lost.
func TestEveryFailureOfAWorld(t *testing.T) {
	asked := map[string]int{}
	require.NoError(t, refusedWorld(&alloc.Failures{}, asked))
	for _, name := range []string{"TryCreate", "CreateN", "TryAppend", "TryAdd", "ApplyQuery", "TryRemove"} {
		require.Positive(t, asked[name], "%s asks for memory: %v", name, asked)
	}
	require.NoError(t, alloc.CheckEveryFailure(func(s *alloc.Failures) error { return refusedWorld(s, asked) }))
}
