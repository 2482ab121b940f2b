package command

import (
	"math/rand/v2"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// TestFarRows ends, moves and changes a few of the rows of tables that are larger than the cache,
// whose lines are prefetched, the last rows of the tables among them. The twin does the same by
// calls, and another world by lists.
func TestFarRows(t *testing.T) {
	const n = 12_000
	a, b, c := openYard(t), openYard(t), openYard(t)
	fill := func(y *yard) []ecs.Entity {
		full, err := y.full.CreateN(n)
		require.NoError(t, err)
		list := full.Entities(nil)
		blue, err := y.full.With(y.team.Of("blue")).CreateN(n)
		require.NoError(t, err)
		list = append(list, blue.Entities(nil)...)
		for i, e := range list {
			y.pos.Set(e, position{float64(i), 1})
			y.hits.Append(e, make([]hit, i%4)...)
		}
		return list
	}
	known, real, listed := fill(a), fill(b), fill(c)
	r := rand.New(rand.NewPCG(53, 2))
	cb := a.open(t)
	for round := range 2 {
		var dead, moved []ecs.Entity
		for i := range 400 {
			at := r.IntN(len(known))
			if i%3 == 0 { // one of the last rows
				at = n - 1 - r.IntN(100) - round*100
			}
			e, f := known[at], real[at]
			if !b.w.Alive(f) {
				continue
			}
			switch {
			case i%2 == 0:
				cb.Destroy(e)
				b.w.Destroy(f)
				dead = append(dead, listed[at])
			case a.slow.Has(e):
			default:
				cb.Add(e, a.slow)
				b.slow.Add(f, slow{})
				moved = append(moved, listed[at])
			}
		}
		_ = cb.PlayRest() // some are moved when they are dead
		moves := ecs.NewChange(c.w, ecs.Add(c.slow))
		for i := len(moved) - 1; i >= 0; i-- {
			if !c.w.Alive(moved[i]) {
				moved = append(moved[:i], moved[i+1:]...)
			}
		}
		_, err := moves.ApplyList(moved)
		require.NoError(t, err)
		c.w.DestroyList(dead)
		for _, y := range []*yard{a, c} {
			require.NoError(t, y.w.Verify())
		}
		want := b.describeAll(real)
		require.Equal(t, want, a.describeAll(known))
		require.Equal(t, want, c.describeAll(listed))
	}
}
