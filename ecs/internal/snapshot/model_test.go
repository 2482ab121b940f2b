package snapshot_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

type (
	snapPlace struct{ X, Y float64 }
	snapSpeed struct{ X int32 }
	snapBig   struct{ A [7]uint64 }
	snapTag   struct{}
	snapTeam  struct{ N int }
	snapLoad  struct{ W uint16 }
	snapBox   struct{ Low, High int }
	snapGone  struct{ N int8 }
)

// snapWorld is a world of types of all kinds but managed ones, and what tests do to it.
type snapWorld struct {
	*ecs.World
	t      testing.TB
	r      *rand.Rand
	place  ecs.Component[snapPlace]
	speed  ecs.Component[snapSpeed]
	big    ecs.Component[snapBig]
	tag    ecs.Component[snapTag]
	gone   ecs.Component[snapGone]
	hits   ecs.Buffer[uint32]
	team   ecs.Shared[snapTeam]
	load   ecs.Sparse[snapLoad]
	box    ecs.Chunk[snapBox]
	all    *ecs.Query
	write  *ecs.Query
	boxes  *ecs.Query
	view   *ecs.View[snapView]
	living []ecs.Entity
	plain  *ecs.Archetype // of place alone; only for the test of allocations
}

type snapView struct {
	Place ecs.W[snapPlace]
	Hits  ecs.BufferW[uint32]
}

func newSnapWorld(t testing.TB, seed uint64, options ...ecs.Option) *snapWorld {
	return openSnapWorld(t, ecstest.NewWorld(t, options...), seed)
}

// openSnapWorld registers the types in a new world.
func openSnapWorld(t testing.TB, w *ecs.World, seed uint64) *snapWorld {
	s := &snapWorld{World: w, t: t, r: rand.New(rand.NewPCG(seed, 5))}
	s.place = ecs.Register[snapPlace](w)
	s.speed = ecs.Register[snapSpeed](w, ecs.Enableable)
	s.big = ecs.Register[snapBig](w, ecs.TrackRows)
	s.tag = ecs.Register[snapTag](w)
	s.gone = ecs.Register[snapGone](w, ecs.Cleanup)
	s.hits = ecs.RegisterBuffer[uint32](w)
	s.team = ecs.RegisterShared[snapTeam](w)
	s.load = ecs.RegisterSparse[snapLoad](w, ecs.Enableable)
	s.box = ecs.RegisterChunk[snapBox](w)
	s.all = ecs.NewQueryOfAll(w)
	s.write = ecs.NewQuery(w, ecs.Write(s.place), ecs.Optional(ecs.Write(s.speed)), ecs.Optional(ecs.Write(s.big)))
	s.boxes = ecs.NewQuery(w, ecs.Write(s.box))
	s.view = ecs.NewView[snapView](w)
	return s
}

// any returns one of the entities.
func (s *snapWorld) any() ecs.Entity {
	if len(s.living) == 0 {
		return ecs.Null
	}
	return s.living[s.r.IntN(len(s.living))]
}

// collect lists the entities that are alive, in the order of their rows.
func (s *snapWorld) collect() {
	s.living = s.living[:0]
	for rows := range s.all.Rows() {
		s.living = append(s.living, rows.Entities()...)
	}
}

// step changes the world at random.
func (s *snapWorld) step() {
	switch op, e := s.r.IntN(30), s.any(); {
	case op < 10:
		s.stepRows(op, e)
	case op < 19:
		s.stepValues(op, e)
	case op < 29:
		s.stepBits(op, e)
	default:
		s.stepMany()
	}
}

// stepRows creates, destroys and moves entities.
func (s *snapWorld) stepRows(op int, e ecs.Entity) {
	r := s.r
	switch op {
	case 0, 1:
		types := []ecs.Type{s.place}
		for _, t := range []ecs.Type{s.speed, s.big, s.tag, s.hits, s.box, s.gone} {
			if r.IntN(3) == 0 {
				types = append(types, t)
			}
		}
		if r.IntN(4) == 0 {
			types = append(types, s.team.Of(snapTeam{r.IntN(3)}))
		}
		batch, err := ecs.NewArchetype(s.World, types...).CreateN(1 + r.IntN(300))
		require.NoError(s.t, err)
		for rows := range batch.Rows() {
			for i := range s.place.Slice(rows) {
				s.place.Slice(rows)[i].X = r.Float64()
			}
			s.living = append(s.living, rows.Entities()...)
		}
	case 2:
		s.living = append(s.living, ecs.NewArchetype(s.World, s.place).Create())
	case 3, 4:
		s.Destroy(e)
	case 5:
		var list []ecs.Entity
		for range r.IntN(200) {
			list = append(list, s.any())
		}
		s.DestroyList(slices.DeleteFunc(list, func(e ecs.Entity) bool { return !s.Alive(e) }))
	case 6:
		if s.Alive(e) {
			s.speed.Add(e, snapSpeed{int32(r.IntN(9))})
		}
	case 7:
		s.speed.Remove(e)
	case 8:
		if s.Alive(e) {
			s.big.Add(e, snapBig{[7]uint64{r.Uint64()}})
		}
	case 9:
		s.big.Remove(e)
	}
}

// stepValues writes values.
func (s *snapWorld) stepValues(op int, e ecs.Entity) {
	r := s.r
	switch op {
	case 10, 11:
		s.place.Set(e, snapPlace{r.Float64(), 1})
		s.big.Set(e, snapBig{[7]uint64{6: r.Uint64()}})
		if p := s.speed.Mut(e); p != nil {
			p.X++
		}
	case 12:
		if r.IntN(4) > 0 {
			return
		}
		for rows := range s.write.Rows() {
			place, speed := s.place.Slice(rows), s.speed.Slice(rows)
			for i := range place {
				place[i].Y++
				if speed != nil && i%7 == 0 {
					speed[i].X--
				}
			}
		}
	case 13:
		for rows := range s.write.Rows() {
			if r.IntN(3) == 0 {
				s.place.ReadOnly(rows)[rows.Len()-1].X = 5
				s.place.Mark(rows)
			}
		}
	case 14, 15:
		if s.Alive(e) {
			s.hits.Add(e)
		}
	case 16, 17:
		if b, ok := s.hits.Mut(e); ok {
			for range r.IntN(60) {
				b.Append(r.Uint32())
			}
			if b.Len() > 0 {
				b.Slice()[r.IntN(b.Len())] = r.Uint32()
			}
		}
	case 18:
		if b, ok := s.hits.Mut(e); ok && b.Len() > 3 {
			b.Resize(b.Len() / 2)
			b.Trim()
		}
	}
}

// stepBits changes bits, shared and sparse values, names and what views give.
func (s *snapWorld) stepBits(op int, e ecs.Entity) {
	r := s.r
	switch op {
	case 19:
		s.speed.Disable(e)
	case 20:
		s.speed.Enable(e)
	case 21:
		if s.Alive(e) {
			s.team.Add(e, snapTeam{r.IntN(3)})
		}
	case 22:
		s.team.Set(e, snapTeam{r.IntN(5)})
	case 23:
		if s.Alive(e) && !ecs.Register[ecs.CleanupEntity](s.World).Has(e) {
			s.load.Add(e, snapLoad{uint16(r.Uint32())})
		}
	case 24:
		s.load.Remove(e)
	case 25:
		s.load.Set(e, snapLoad{uint16(r.Uint32())})
		s.load.Disable(s.any())
	case 26:
		s.SetName(e, fmt.Sprint("n", r.IntN(20)))
	case 27:
		for rows := range s.boxes.Rows() {
			s.box.At(rows).Low++
		}
	case 28:
		for _, v := range s.view.Rows() {
			for i := range v.Place {
				v.Place[i].X = -1
			}
			if v.Hits.Len() > 0 {
				b := v.Hits.At(r.IntN(v.Hits.Len()))
				b.Append(7)
			}
			break
		}
	}
}

// stepMany changes many rows, or none that can be seen.
func (s *snapWorld) stepMany() {
	switch s.r.IntN(6) {
	case 0:
		for !s.Shrink(1e6) {
		}
	case 1:
		s.Trim()
	case 2:
		s.DestroyQuery(s.boxes)
	case 3:
		ecs.NewChange(s.World, ecs.Add(s.tag)).ApplyQuery(s.write)
	case 4:
		ecs.NewChange(s.World, ecs.Remove(s.tag, s.gone)).ApplyQuery(s.write)
	case 5:
		a, b := s.any(), s.any()
		la, _ := s.Locate(a)
		lb, _ := s.Locate(b)
		if la.Archetype == lb.Archetype {
			s.SwapComponents(a, b)
		}
	}
}

// print returns what can be seen of the world.
func (s *snapWorld) print() string {
	h := fnv.New64a()
	for rows := range s.boxes.Rows() {
		fmt.Fprint(h, *s.box.ReadOnly(rows))
	}
	for rows := range s.all.Rows() {
		for _, e := range rows.Entities() {
			if name := s.Name(e); name != "" {
				fmt.Fprint(h, e, name)
			}
		}
	}
	stats := s.Stats()
	return fmt.Sprintf("%x %x %d %d %d", s.Hash(), h.Sum64(), stats.Alive, stats.Created, stats.Destroyed)
}

// next returns the id that comes next, which it takes and gives back by a restore.
func (s *snapWorld) next(of *ecs.Snapshot) ecs.Entity {
	e := ecs.NewArchetype(s.World).Create()
	require.NoError(s.t, s.Restore(of))
	return e
}

type snapMoment struct {
	s     *ecs.Snapshot
	print string
	hash  uint64
	next  ecs.Entity

	branch int // number of restores to an earlier moment before it
}

// check reads a moment's snapshot and forks it.
func (s *snapWorld) check(m snapMoment) {
	require.NoError(s.t, m.s.Verify())
	require.Equal(s.t, m.hash, m.s.Hash())
	n := 0
	for rows := range m.s.Rows(s.all) {
		for _, e := range rows.Entities() {
			require.True(s.t, m.s.Alive(e))
			n++
		}
	}
	require.Equal(s.t, m.s.Len(), n)
	f, err := m.s.Fork(ecs.WithUniverse(s.Universe()))
	require.NoError(s.t, err)
	require.NoError(s.t, f.Verify())
	require.Equal(s.t, m.hash, f.Hash())
	require.Equal(s.t, m.next, ecs.NewArchetype(f).Create())
	require.NoError(s.t, f.Close())
}

// compare leads a fork of one moment to a later one by a delta.
func (s *snapWorld) compare(older, newer snapMoment) {
	d, err := ecs.Diff(older.s, newer.s)
	if err != nil && older.branch != newer.branch { // a restore has taken back blocks of ids
		require.ErrorIs(s.t, err, ecs.ErrDelta)
		return
	}
	require.NoError(s.t, err)
	var b bytes.Buffer
	require.NoError(s.t, ecs.EncodeDelta(&b, d))
	f, err := older.s.Fork(ecs.WithUniverse(s.Universe()))
	require.NoError(s.t, err)
	require.NoError(s.t, f.ApplyDelta(&b))
	require.NoError(s.t, f.Verify())
	require.Equal(s.t, newer.hash, f.Hash())
	require.Equal(s.t, newer.next, ecs.NewArchetype(f).Create())
	require.NoError(s.t, f.Close())
}

// TestSnapshotsFollowAModel takes, closes and restores snapshots among all other changes, with
// several alive.
func TestSnapshotsFollowAModel(t *testing.T) {
	seeds, steps := uint64(long.N(1, 4)), 900 // one has restored dozens of times
	for seed := range seeds {
		u, err := alloc.NewUniverse(alloc.Size(64 << 20))
		require.NoError(t, err)
		s := newSnapWorld(t, seed, ecs.WithUniverse(u))
		var alive []snapMoment
		branch := 0
		for i := range steps {
			switch op := s.r.IntN(40); {
			case op == 0 && len(alive) < 5:
				m := snapMoment{s: s.Snapshot(), branch: branch}
				m.print = s.print()
				m.hash, m.next = s.Hash(), s.next(m.s)
				require.Equal(t, m.print, s.print(), "after a restore of what was just taken")
				alive = append(alive, m)
			case op == 1 && len(alive) > 0:
				at := s.r.IntN(len(alive))
				alive[at].s.Close()
				alive = slices.Delete(alive, at, at+1)
			case op == 4 && len(alive) > 0:
				s.check(alive[s.r.IntN(len(alive))])
			case op == 5 && len(alive) > 1:
				at := s.r.IntN(len(alive) - 1)
				s.compare(alive[at], alive[at+1+s.r.IntN(len(alive)-at-1)])
			case op < 4 && len(alive) > 0:
				m := alive[s.r.IntN(len(alive))]
				branch++
				require.NoError(t, s.Restore(m.s))
				require.NoError(t, s.Verify(), "seed %d, step %d, restored", seed, i)
				require.Equal(t, m.print, s.print(), "seed %d, step %d", seed, i)
				require.Equal(t, m.next, s.next(m.s), "seed %d, step %d: the next id", seed, i)
				s.collect()
			default:
				s.step()
			}
			require.NoError(t, s.Verify(), "seed %d, step %d", seed, i)
		}
		require.NoError(t, s.Close())
		require.NoError(t, u.Verify())
		require.NoError(t, u.Close())
	}
}
