package edit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// All or nothing: batches over several archetypes, in a universe that has memory for
// some of the targets only, at every place where it may end.

// tight is a world in a universe of 2 MiB, with rows in several archetypes.
type tight struct {
	*ecstest.Twin
	u       *alloc.Universe
	hog     []alloc.ChunkIndex // chunks that others hold
	sources []*ecs.Archetype
	extra   ecs.Component[extraData]
	all     *ecs.Query
}

func newTight(t *testing.T, growth alloc.Growth, known bool) *tight {
	u := ecstest.NewUniverse(t, 2<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u), ecs.ChunkGrowth(growth))
	x := &tight{u: u, Twin: &ecstest.Twin{World: w, Position: ecs.Register[ecstest.Position](w),
		Health: ecs.Register[ecstest.Health](w),
		Stun:   ecs.Register[ecstest.Stun](w, ecs.Enableable), Tag: ecs.Register[ecstest.Tag](w),
		Flag: ecs.Register[ecstest.Flag](w, ecs.Enableable), Hits: ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))}}
	x.extra, x.all = ecs.Register[extraData](w), ecs.NewQuery(w)
	for _, types := range [][]ecs.Type{{x.Position}, {x.Position, x.Tag}, {x.Stun, x.Flag, x.Hits}, {x.Health, x.Flag},
		{x.Position, x.Health, x.Stun}} {
		a := ecs.NewArchetype(w, types...)
		x.sources, x.Sets = append(x.sources, a), append(x.Sets, a)
		x.Create(t, len(x.Sets)-1, 1200)
		if known { // the targets of adding are there already, and have a row
			ecs.NewArchetype(w, append(types, x.extra)...).Create()
		}
	}
	w.Trim()
	return x
}

// leave lets others hold all chunks of the universe but some.
func (x *tight) leave(chunks int) {
	x.release()
	for c, err := x.u.AllocExact(1); err == nil; c, err = x.u.AllocExact(1) {
		x.hog = append(x.hog, c)
	}
	for _, c := range x.hog[:chunks] {
		x.u.Free(c, 1)
	}
	x.hog = x.hog[chunks:]
}

func (x *tight) release() {
	for _, c := range x.hog {
		x.u.Free(c, 1)
	}
	x.hog = nil
}

// tightCalls need memory in several places.
var tightCalls = map[string]func(x *tight) func() (int, error){
	"Archetype.CreateN": func(x *tight) func() (int, error) {
		return func() (int, error) { b, err := x.sources[3].CreateN(17000); return b.Len(), err }
	},
	"Change.ApplyQuery": func(x *tight) func() (int, error) {
		add := ecs.NewChange(x.World, ecs.Add(x.extra), ecs.Remove(x.Tag))
		return func() (int, error) { b, err := add.ApplyQuery(x.all); return b.Len(), err }
	},
	"Change.ApplyList": func(x *tight) func() (int, error) {
		add, list := ecs.NewChange(x.World, ecs.Add(x.extra)), x.all.Entities(nil)
		for i := range list {
			list[i], list[i*7919%len(list)] = list[i*7919%len(list)], list[i]
		}
		return func() (int, error) { b, err := add.ApplyList(list[:len(list)/2]); return b.Len(), err }
	},
	"Change.ApplyQuery(into)": func(x *tight) func() (int, error) {
		into := ecs.NewArchetype(x.World, x.Position, x.Hits, x.extra)
		return func() (int, error) { b, err := ecs.Into(into).ApplyQuery(x.all); return b.Len(), err }
	},
	"Change.ApplyList(into)": func(x *tight) func() (int, error) {
		into, list := ecs.NewArchetype(x.World, x.Position, x.Hits, x.extra), x.all.Entities(nil)
		return func() (int, error) { b, err := ecs.Into(into).ApplyList(list[900:5000]); return b.Len(), err }
	},
}

// TestBatchesAreAllOrNothing gives each call one chunk more at a time, until it has
// enough: every refusal leaves the world and the universe as they were, and then the
// call does all.
func TestBatchesAreAllOrNothing(t *testing.T) {
	for op, call := range tightCalls {
		for _, growth := range ecstest.ChunkSizes {
			for _, known := range []bool{false, true} {
				if testing.Short() && known == (len(op)%2 == 0) {
					continue // one of the two
				}
				t.Run(fmt.Sprintf("%s/%v/%v", op, growth, known), func(t *testing.T) {
					x := newTight(t, growth, known)
					defer x.release()
					run := call(x)
					ids := x.all.Entities(nil)
					want, hash, stats, live := x.Shows(ids), x.World.Hash(), x.World.Stats(), x.u.Stats().LiveChunks
					refused := 0
					for free := 0; ; free++ {
						x.leave(free)
						n, err := run()
						if err == nil {
							require.NotZero(t, n)
							break
						}
						refused++
						require.Zero(t, n)
						var l *ecs.LimitError
						require.True(t, errors.As(err, &l))
						require.Equal(t, strings.TrimSuffix(op, "(into)"), l.Op)
						require.ErrorIs(t, err, ecs.ErrLimit)
						require.ErrorIs(t, err, alloc.ErrFull)
						require.NoError(t, x.World.Verify(), "with %d chunks", free)
						require.NoError(t, x.u.Verify())
						require.Equal(t, stats, x.World.Stats(), "with %d chunks", free)
						require.Equal(t, hash, x.World.Hash())
						x.release()
						require.Equal(t, live, x.u.Stats().LiveChunks, "with %d chunks: one has leaked", free)
					}
					require.Greater(t, refused, 4, "it failed at several places")
					require.NoError(t, x.World.Verify())
					if op == "Archetype.CreateN" {
						require.Equal(t, want, x.Shows(ids))
					}
				})
			}
		}
	}
}

// TestSinglesAreAllOrNothing is the same of what moves or makes one entity, where the
// archetype that it goes to is new or known.
func TestSinglesAreAllOrNothing(t *testing.T) {
	for _, known := range []bool{false, true} {
		x := newTight(t, alloc.Fixed(1), known)
		if known { // known, but without rows
			x.World.DestroyQuery(ecs.NewQuery(x.World, ecs.With(x.extra)))
			x.World.Trim()
		}
		ids := x.all.Entities(nil)
		e := ids[5]
		add := ecs.NewChange(x.World, ecs.Add(x.extra))
		into := ecs.NewArchetype(x.World, x.Tag, x.extra)
		want, hash, stats, live := x.Shows(ids), x.World.Hash(), x.World.Stats(), x.u.Stats().LiveChunks
		calls := map[string]func() error{
			"Archetype.Create":   func() error { err := ecs.Try(func() { into.Create() }); return err },
			"Component.Add":      func() error { err := ecs.Try(func() { x.extra.Add(e, extraData{1, 2, 3}) }); return err },
			"Component.Remove":   func() error { err := ecs.Try(func() { x.Position.Remove(e) }); return err },
			"Change.Apply":       func() error { _, err := add.Apply(e); return err },
			"Change.Apply(into)": func() error { _, err := ecs.Into(into).Apply(e); return err },
		}
		x.leave(0)
		for range 2 { // again, to meet what the first one left
			for op, call := range calls {
				err := call()
				require.ErrorIs(t, err, ecs.ErrLimit, op)
				require.ErrorContains(t, err, "ecs: "+strings.TrimSuffix(op, "(into)")+": ")
				require.NoError(t, x.World.Verify(), op)
				require.Equal(t, []any{want, hash, stats}, []any{x.Shows(ids), x.World.Hash(), x.World.Stats()}, op)
			}
		}
		x.release()
		require.Equal(t, live, x.u.Stats().LiveChunks)
		for op, call := range calls {
			require.NoError(t, call(), op)
		}
		require.NoError(t, x.World.Verify())
	}
}

// TestCreateNOfHugeNumbers: numbers near the ends of what an int holds are limits like
// others.
func TestCreateNOfHugeNumbers(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	a.Create()
	stats, hash, live := w.Stats(), w.Hash(), w.Universe().Stats()
	for _, n := range []int{ecs.MaxEntities - 1, ecs.MaxEntities, 1 << 31, 1 << 32, 1 << 62, 1<<63 - 1} {
		b, err := a.CreateN(n)
		require.EqualError(t, err, "ecs: Archetype.CreateN: the limit is 134217726 entities a world", "n=%d", n)
		require.ErrorIs(t, err, ecs.ErrLimit)
		require.Zero(t, b.Len())
		require.NoError(t, w.Verify())
		require.Equal(t, []any{stats, hash, live}, []any{w.Stats(), w.Hash(), w.Universe().Stats()}, "n=%d", n)
	}
}
