package job_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// Sums of floats are the same to the bit, and the world has one hash, for any number of
// workers and either way of running.
func TestDeterministic(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 20_000)
	reads := ecs.NewQuery(w.World, ecs.Read(w.position), ecs.Read(w.velocity))
	moves := ecs.NewQuery(w.World, ecs.Write(w.position), ecs.Read(w.velocity))
	var sums [4]uint64
	var hashes [4]uint64
	start := w.snapshot(reads)
	for k := 1; k <= 16; k++ {
		w.restore(moves, start)
		s := w.schedule(t, k)
		p := job.NewPartials[float64]()
		energy := s.For(reads).Reduces(p)
		sum := func(c *job.Ctx, rows ecs.Rows) {
			x := p.At(c)
			for i, v := range w.velocity.Slice(rows) {
				*x += v.X*v.X + v.Y*v.Y + w.position.Slice(rows)[i].X
			}
		}
		move := s.For(moves)
		for turn := range sums {
			h := move.Parallel(job.Each2(w.position, w.velocity, func(c *job.Ctx, i int, p *Position, v *Velocity) {
				p.X += v.X * 0.1
				p.Y += v.Y * 0.1
			}))
			if turn%2 == 0 {
				energy.Parallel(sum)
			} else {
				energy.After(h).Schedule(sum)
			}
			require.NoError(t, s.Complete())
			got := math.Float64bits(p.Fold(0, func(a, b float64) float64 { return a + b }))
			if k == 1 {
				sums[turn], hashes[turn] = got, w.Hash()
			}
			require.Equal(t, sums[turn], got, "%d workers, turn %d", k, turn)
			require.Equal(t, hashes[turn], w.Hash(), "%d workers, turn %d", k, turn)
		}
		require.NoError(t, s.Close())
	}
	require.NotEqual(t, sums[0], sums[1])
}

func (w *world) snapshot(q *ecs.Query) (all []Position) {
	for rows := range q.Rows() {
		all = append(all, w.position.Slice(rows)...)
	}
	return all
}

func (w *world) restore(q *ecs.Query, all []Position) {
	for rows := range q.Rows() {
		all = all[copy(w.position.Slice(rows), all):]
	}
}

// Partials of other types, folded in the order of rows.
func TestFoldIsInOrder(t *testing.T) {
	w := newWorld(t)
	ids := w.fill(t, 3000)
	s := w.schedule(t, 5)
	p := job.NewPartials[[]ecs.Entity]()
	j := s.For(ecs.NewQuery(w.World, ecs.Read(w.position))).Reduces(p)
	for range 3 {
		require.NoError(t, j.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			*p.At(c) = append(*p.At(c), rows.Entities()...)
		}).Complete())
		got := p.Fold(nil, func(all, next []ecs.Entity) []ecs.Entity { return append(all, next...) })
		require.Equal(t, ids, got)
	}
}

// Look-ups inside jobs: every entity writes the one that it targets, which nobody else
// does, and reads what the job before wrote.
func TestLookups(t *testing.T) {
	w := newWorld(t)
	ids := w.fill(t, 2000)
	_, err := ecs.NewArchetype(w.World, w.target).CreateN(2000)
	require.NoError(t, err)
	targets := ecs.NewQuery(w.World, ecs.Write(w.target))
	shuffled := rand.New(rand.NewPCG(3, 4)).Perm(len(ids))
	for rows := range targets.Rows() {
		for i := range w.target.Slice(rows) {
			w.target.Slice(rows)[i].E = ids[shuffled[0]]
			shuffled = shuffled[1:]
		}
	}
	aims := ecs.NewQuery(w.World, ecs.Read(w.target))
	for _, k := range []int{1, 4, 16} {
		s := w.schedule(t, k)
		hit := s.For(aims).Named("hit").Exclusive(ecs.Write(w.count)).Uses(ecs.Read(w.position))
		seen := s.For(aims).Named("see").Uses(ecs.Read(w.count))
		hit.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			counts, positions := w.count.Lookup(c.Accessor()), w.position.Lookup(c.Accessor())
			for _, a := range w.target.Slice(rows) {
				if !c.Alive(a.E) || !positions.Has(a.E) {
					panic("not there")
				}
				counts.Mut(a.E).N++
			}
		})
		require.NoError(t, seen.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			counts := w.count.Lookup(c.Accessor())
			for _, a := range w.target.Slice(rows) {
				if counts.Get(a.E).N != 1 {
					panic("not hit")
				}
			}
		}).Complete())
		for _, e := range ids {
			w.count.Set(e, Count{})
		}
		require.NoError(t, s.Close())
	}
}
