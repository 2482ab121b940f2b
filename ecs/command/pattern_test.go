package command

import (
	"math/rand/v2"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// spawned is what an entity of TestSpawnPatterns is to be when it has been played.
type spawned struct {
	e    ecs.Entity // placeholder
	pos  position
	walk *health
	slow bool
	to   int        // whom its pointer names; -1: it has none, or names an entity
	real ecs.Entity // that was there before; Null: its pointer names none
	hits int        // elements
	gone bool
}

// spawning records entities of a few kinds, many of one kind in a row, and notes what becomes of
// them.
type spawning struct {
	y    *yard
	r    *rand.Rand
	cb   *Buffer
	list []spawned

	there ecs.Entity
}

// spawn records an entity of a kind. Kinds differ in their commands, and some of them are no
// pattern: with a placeholder in a value, with elements, with a command that does nothing.
func (s *spawning) spawn(w *Writer, kind int) {
	y, i := s.y, len(s.list)
	one := spawned{e: w.Create(y.plain), to: -1}
	if kind > 0 {
		one.pos = position{float64(i), float64(kind)}
		Set(w, one.e, y.pos, one.pos)
	}
	if kind > 1 {
		one.walk = &health{float64(i)}
		Add(w, one.e, y.walk, *one.walk)
	}
	switch kind {
	case 3:
		one.slow = true
		w.Add(one.e, y.slow)
	case 4:
		one.to = s.r.IntN(i + 1)
		target := one.e
		if one.to < i {
			target = s.list[one.to].e
		}
		if i%3 == 0 { // no placeholder: these fit a pattern, and are played with the others
			one.to, one.real, target = -1, s.there, s.there
		}
		Put(w, one.e, y.ptr, pointer{target, uint32(i)})
	case 5:
		one.hits = i % 4
		AddBuffer(w, one.e, y.hits, make([]hit, one.hits)...)
		one.pos.X++ // behind a record that is not of one size
		Set(w, one.e, y.pos, one.pos)
	case 6:
		w.Remove(one.e, y.slow) // which it lacks
		one.pos = position{-1, float64(i)}
		Set(w, one.e, y.pos, one.pos)
	}
	s.list = append(s.list, one)
}

// change records a command about an entity that was spawned before.
func (s *spawning) change(w *Writer) {
	i := s.r.IntN(len(s.list))
	one := &s.list[i]
	switch s.r.IntN(4) {
	case 0:
		w.Destroy(one.e)
		one.gone = true
	case 1:
		w.Add(one.e, s.y.slow)
		one.slow = true
	case 2:
		one.pos = position{float64(s.r.IntN(100)), -2}
		Set(w, one.e, s.y.pos, one.pos)
	case 3:
		w.Remove(one.e, s.y.walk)
		one.walk = nil
	}
}

// look compares the entities that were made with those that were noted.
func (s *spawning) look(t *testing.T) {
	y := s.y
	for i, one := range s.list {
		e := s.cb.Made(one.e)
		if one.gone {
			require.False(t, y.w.Alive(e), i)
			continue
		}
		require.True(t, y.w.Alive(e), i)
		require.Equal(t, one.pos, *y.pos.Get(e), i)
		require.Equal(t, one.slow, y.slow.Has(e), i)
		require.Equal(t, one.walk, y.walk.Get(e), i)
		require.Equal(t, one.hits, len(y.hits.Slice(e)), i)
		to := one.real
		if one.to >= 0 {
			to = s.cb.Made(s.list[one.to].e)
		}
		if require.Equal(t, one.to >= 0 || one.real != ecs.Null, y.ptr.Has(e), i); y.ptr.Has(e) {
			require.Equal(t, to, y.ptr.Get(e).To, i)
		}
	}
}

// TestSpawnPatterns spawns entities in rows of the same kind, over the ends of pages and in several
// segments and runs, and plays the buffer twice.
func TestSpawnPatterns(t *testing.T) {
	for seed := range uint64(16) {
		y := openYard(t)
		s := &spawning{y: y, r: rand.New(rand.NewPCG(seed, 1)), cb: y.open(t, Keep),
			there: y.plain.Create()}
		if seed%4 == 3 {
			s.cb = y.open(t, Keep, Trace)
		}
		nobody := ecs.NewQuery(y.w, ecs.With(y.socket))
		for range 30 {
			switch s.r.IntN(8) {
			case 0:
				s.cb.Key(int64(len(s.list))) // what comes is another segment
			case 1:
				if seed%2 == 1 {
					s.cb.AddQuery(nobody, y.slow) // and another run
				}
			}
			kind, n := s.r.IntN(7), s.r.IntN(200)
			for range n {
				s.spawn(s.cb.Writer, kind)
				if s.r.IntN(60) == 0 {
					s.spawn(s.cb.Writer, s.r.IntN(7))
				}
				if s.r.IntN(20) == 0 && !s.list[len(s.list)-1].gone { // at once, or a former one
					s.change(s.cb.Writer)
				}
			}
		}
		for range 2 {
			_ = s.cb.PlayRest() // commands about those that are gone fail
			s.look(t)
		}
	}
}

// TestSpawnNamesNobody spawns entities that are alike, but one value of them holds the placeholder
// of an entity that is created later.
func TestSpawnNamesNobody(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	cb.Key(1)
	later := cb.Create(y.plain)
	cb.Key(0)
	var list []ecs.Entity
	for i := range 100 {
		e := cb.Create(y.plain)
		to := e
		if i == 50 {
			to = later
		}
		Put(cb, e, y.ptr, pointer{to, uint32(i)})
		list = append(list, e)
	}
	var failed *PlayError
	require.ErrorAs(t, cb.PlayRest(), &failed)
	require.Equal(t, 1, failed.Count)
	require.Equal(t, 101, failed.Failures[0].Number)
	for i, e := range list {
		require.Equal(t, i != 50, y.ptr.Has(cb.Made(e)))
	}
}

// TestSpawnBehindAFullPage spawns the first entity as the first command of a page, behind one that
// is full to its last byte.
func TestSpawnBehindAFullPage(t *testing.T) {
	y := openYard(t)
	there := y.plain.Create()
	for _, key := range []int64{0, 1} { // in the same segment, and in one that begins at the end of the page
		cb := y.open(t)
		for range 16 << 10 / recordSize {
			cb.Remove(there, y.slow)
		}
		cb.Key(key)
		var list []ecs.Entity
		for i := range 3 {
			list = append(list, cb.Create(y.plain))
			Set(cb, list[i], y.pos, position{float64(i), 0})
		}
		require.NoError(t, cb.Play())
		for i, e := range list {
			require.Equal(t, position{float64(i), 0}, *y.pos.Get(cb.Made(e)))
		}
	}
}
