package query_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// Reading is a value with numbers of several types, of which Between asks for one.
type Reading struct {
	_  uint8
	F  float64
	V  [3]float32
	I  int16
	U  uint64
	N  int
	S  int8
	By ecs.Entity
}

// Awake can be disabled.
type Awake struct{}

// ranging is a world with two archetypes of Readings, and a model of the numbers.
type ranging struct {
	t       *testing.T
	w       *ecs.World
	reading ecs.Component[Reading]
	walk    ecs.Component[Awake]
	tag     ecs.Component[ecstest.Tag]
	sides   [2]*ecs.Archetype
	ids     []ecs.Entity
	random  *rand.Rand
}

func newRanging(t *testing.T, options ...ecs.Option) *ranging {
	w := ecstest.NewWorld(t, options...)
	r := &ranging{t: t, w: w, reading: ecs.Register[Reading](w), walk: ecs.Register[Awake](w, ecs.Enableable),
		tag: ecs.Register[ecstest.Tag](w), random: rand.New(rand.NewPCG(8, 15))}
	r.sides = [2]*ecs.Archetype{ecs.NewArchetype(w, r.reading, r.walk), ecs.NewArchetype(w, r.reading, r.walk, r.tag)}
	return r
}

// number is a number that makes ranges interesting: NaN, both zeros, infinities, or a small one.
func (r *ranging) number() float64 {
	odd := [...]float64{math.NaN(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.MaxFloat64}
	if i := r.random.IntN(100); i < len(odd) {
		return odd[i]
	}
	return float64(r.random.IntN(200) - 100)
}

func (r *ranging) value() Reading {
	f := r.number()
	i := int64(r.random.IntN(200) - 100)
	return Reading{
		F: f, V: [3]float32{1: float32(f)}, I: int16(i * 300), U: uint64(i)<<40 | uint64(i), N: int(i) << 50, S: int8(i),
	}
}

// change makes one change of any kind.
func (r *ranging) change() {
	e := ecs.Null
	if len(r.ids) > 0 {
		e = r.ids[r.random.IntN(len(r.ids))]
	}
	switch op := r.random.IntN(16); {
	case op == 0:
		b, err := r.sides[r.random.IntN(2)].CreateN(1+r.random.IntN(300), ecs.Uninitialized(r.reading))
		require.NoError(r.t, err)
		for rows := range b.Rows() {
			for i := range r.reading.Slice(rows) {
				r.reading.Slice(rows)[i] = r.value()
			}
		}
		r.ids = append(r.ids, b.Entities(nil)...)
	case op == 1:
		r.ids = append(r.ids, r.sides[r.random.IntN(2)].Create())
	case op == 2:
		some := r.ids[r.random.IntN(len(r.ids)+1):]
		some = some[:min(len(some), 150)]
		r.w.DestroyList(some)
		r.ids = slices.DeleteFunc(r.ids, func(e ecs.Entity) bool { return !r.w.Alive(e) })
	case op == 3 && e != ecs.Null:
		if !r.tag.Add(e, ecstest.Tag{}) {
			r.tag.Remove(e)
		}
	case op == 5:
		change, q := ecs.NewChange(r.w, ecs.Add(r.tag)), ecs.NewQuery(r.w, ecs.Present(r.reading))
		if r.random.IntN(2) == 0 {
			change = ecs.NewChange(r.w, ecs.Remove(r.tag))
		}
		_, err := change.ApplyQuery(q)
		require.NoError(r.t, err)
		q.Close()
	case op == 6:
		r.w.Shrink(0)
	case op == 7 && e != ecs.Null:
		r.walk.Disable(e)
	case op == 8 && e != ecs.Null:
		r.walk.Enable(e)
	case op < 12 && e != ecs.Null:
		*r.reading.Mut(e) = r.value()
	case op == 12:
		q := ecs.NewQuery(r.w, ecs.Present(ecs.Write(r.reading)))
		for rows := range q.Rows() {
			if r.random.IntN(3) == 0 {
				r.reading.Slice(rows)[r.random.IntN(rows.Len())] = r.value()
			}
		}
		q.Close()
	case op == 13:
		r.w.Advance()
	case e != ecs.Null:
		r.reading.Set(e, r.value())
	}
}

// swap swaps the components of two entities of one archetype; of two archetypes that panics.
func (r *ranging) swap() {
	if len(r.ids) < 2 {
		return
	}
	a, b := r.ids[0], r.ids[r.random.IntN(len(r.ids))]
	if r.tag.Has(a) == r.tag.Has(b) {
		r.w.SwapComponents(a, b)
	}
}

// rangeTest is a range of one field, beside a slow twin.
type rangeTest interface {
	set(r *ranging)
	check(r *ranging, text string)
}

type rangeOf[F ecs.Number] struct {
	of     ecs.Range[F]
	field  func(*Reading) *F
	plain  *ecs.Query
	masked *ecs.Query
	walked *ecs.Query // masked, and Awake enabled
	lo, hi F
	some   func(r *ranging) F
}

func newRangeOf[F ecs.Number](r *ranging, field func(*Reading) *F, some func(r *ranging) F) *rangeOf[F] {
	x := &rangeOf[F]{of: ecs.NewRange(r.reading, field, 0, 0), field: field, some: some}
	x.plain = ecs.NewQuery(r.w, ecs.Present(ecs.Read(r.reading)), x.of.Term())
	x.masked = ecs.NewQuery(r.w, ecs.Present(ecs.Read(r.reading)), x.of.Term().Masked())
	x.walked = ecs.NewQuery(r.w, ecs.Read(r.reading), ecs.With(r.walk), x.of.Term().Masked())
	return x
}

func (x *rangeOf[F]) set(r *ranging) {
	a, b := x.some(r), x.some(r)
	if a != a || b != b {
		a, b = 0, 0
	}
	x.lo, x.hi = min(a, b), max(a, b)
	if r.random.IntN(20) == 0 {
		x.lo, x.hi = x.hi, x.lo // perhaps empty
	}
	x.of.Set(x.lo, x.hi)
}

// in reports whether an entity's number is in the range.
func (x *rangeOf[F]) in(r *ranging, v *Reading) bool {
	return *x.field(v) >= x.lo && *x.field(v) <= x.hi
}

func (x *rangeOf[F]) check(r *ranging, text string) {
	var shown []ecs.Entity // of chunks whose extent meets the range, by a slow look
	slow := ecs.NewQuery(r.w, ecs.Present(ecs.Read(r.reading)))
	defer slow.Close()
	var inside, walking []ecs.Entity
	for rows := range slow.Rows() {
		var least, greatest F
		some := false
		for i := range r.reading.Slice(rows) {
			v, e := &r.reading.Slice(rows)[i], rows.Entities()[i]
			if n := *x.field(v); n == n {
				if !some {
					least, greatest, some = n, n, true
				}
				least, greatest = min(least, n), max(greatest, n)
			}
			if x.in(r, v) {
				inside = append(inside, e)
				if r.walk.Enabled(e) {
					walking = append(walking, e)
				}
			}
		}
		if some && x.lo <= x.hi && least <= x.hi && greatest >= x.lo {
			shown = append(shown, rows.Entities()...)
		}
	}
	require.True(r.t, slices.Equal(shown, x.plain.Entities(nil)), text)
	require.True(r.t, slices.Equal(inside, x.masked.Entities(nil)), text)
	require.True(r.t, slices.Equal(walking, x.walked.Entities(nil)), text)
	require.Equal(r.t, len(walking), x.walked.Count(), text)
	for rows := range x.plain.Rows() {
		least, greatest, ok := x.of.Bounds(rows)
		require.True(r.t, ok, text)
		require.True(r.t, least <= x.hi && greatest >= x.lo, text)
	}
	if len(r.ids) > 0 {
		e := r.ids[r.random.IntN(len(r.ids))]
		require.Equal(r.t, slices.Contains(inside, e), x.masked.Matches(e), text)
		require.Equal(r.t, slices.Contains(shown, e), x.plain.Matches(e), text)
		require.Equal(r.t, slices.Contains(walking, e), x.walked.Matches(e), text)
	}
}

// TestBetweenAgainstModel changes a world at random, and asks for random ranges of fields of many
// types: chunks are shown exactly where their numbers meet the range, and masked rows exactly where
// they are in it. Verify compares the bounds that are kept with the columns.
func TestBetweenAgainstModel(t *testing.T) {
	for i, growth := range []ecs.Option{ecs.ChunkGrowth(alloc.Fixed(1)), ecs.ChunkGrowth(alloc.Doubling().Capped(64))} {
		r := newRanging(t, growth)
		tests := []rangeTest{
			newRangeOf(r, func(v *Reading) *float64 { return &v.F }, func(r *ranging) float64 { return r.value().F }),
			newRangeOf(r, func(v *Reading) *float32 { return &v.V[1] },
				func(r *ranging) float32 { return r.value().V[1] }),
			newRangeOf(r, func(v *Reading) *int16 { return &v.I }, func(r *ranging) int16 { return r.value().I }),
			newRangeOf(r, func(v *Reading) *uint64 { return &v.U }, func(r *ranging) uint64 { return r.value().U }),
			newRangeOf(r, func(v *Reading) *int { return &v.N }, func(r *ranging) int { return r.value().N }),
			newRangeOf(r, func(v *Reading) *int8 { return &v.S }, func(r *ranging) int8 { return r.value().S }),
		}
		for step := range 1500 {
			if r.swap(); len(r.ids) > 3000 {
				r.w.DestroyList(r.ids[1000:])
				r.ids = r.ids[:1000]
			}
			r.change()
			for k, x := range tests {
				if r.random.IntN(3) == 0 {
					x.set(r)
					x.check(r, fmt.Sprintf("growth %d, step %d, field %d", i, step, k))
				}
			}
			if step%50 == 0 {
				require.NoError(t, r.w.Verify())
			}
		}
	}
}

// TestBoundsSeeWritesOfOneVersion: a write is seen though no version began between the loop that
// took the bounds and the write, and one between two loops without a change costs no version.
func TestBoundsSeeWritesOfOneVersion(t *testing.T) {
	r := newRanging(t)
	e := r.sides[0].Create()
	f := r.sides[0].Create()
	q := ecs.NewQuery(r.w, ecs.Between(r.reading, func(v *Reading) *float64 { return &v.F }, 5, 6))
	require.Equal(t, "query(Between Reading.F from 5 to 6)", q.String())
	require.True(t, q.Empty())
	version := r.w.Version()
	require.True(t, q.Empty())
	require.Equal(t, version, r.w.Version())
	for range 3 {
		r.reading.Mut(e).F = 5.5
		require.False(t, q.Empty())
		r.reading.Mut(e).F = 0
		require.True(t, q.Empty())
	}
	r.reading.Set(f, Reading{F: 6})
	require.Equal(t, 2, q.Count())
	require.True(t, r.w.Destroy(f))
	require.True(t, q.Empty(), "bounds are those of the rows that there are")
	require.NoError(t, r.w.Verify())
}

// TestBetweenIsShared: goroutines of a share show what the owner's loop does, whether bounds are
// known or not.
func TestBetweenIsShared(t *testing.T) {
	for _, known := range []bool{true, false} {
		r := newRanging(t, ecs.ChunkGrowth(alloc.Fixed(1)))
		b, err := r.sides[0].CreateN(3000)
		require.NoError(t, err)
		n := 0.0
		for rows := range b.Rows() {
			for i := range r.reading.Slice(rows) {
				r.reading.Slice(rows)[i].F = n
				n++
			}
		}
		q := ecs.NewQuery(r.w, ecs.Read(r.reading), ecs.Between(r.reading, func(v *Reading) *float64 { return &v.F },
			1000, 1100).Masked())
		if known {
			require.Equal(t, 101, q.Count())
		}
		share := r.w.Lend()
		counts := make(chan int)
		for range 4 {
			go func() {
				count := 0
				for rows := range q.Rows() {
					count += rows.Count()
				}
				counts <- count
			}()
		}
		for range 4 {
			require.Equal(t, 101, <-counts)
		}
		share.End()
		require.Equal(t, 101, q.Count())
	}
}

// TestChangesTakeMaskedRanges: a change by query is of the rows in the range, and refuses a range
// that shows whole chunks.
func TestChangesTakeMaskedRanges(t *testing.T) {
	r := newRanging(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	b, err := r.sides[0].CreateN(1000)
	require.NoError(t, err)
	ids := b.Entities(nil)
	for i, e := range ids {
		r.reading.Mut(e).I = int16(i % 500)
	}
	field := func(v *Reading) *int16 { return &v.I }
	plain := ecs.NewQuery(r.w, ecs.Between(r.reading, field, 100, 109))
	masked := ecs.NewQuery(r.w, ecs.Between(r.reading, field, 100, 109).Masked())
	other := newRanging(t)
	for op, does := range map[string]func(){
		"Change.ApplyQuery":  func() { _, _ = ecs.NewChange(r.w, ecs.Add(r.tag)).ApplyQuery(plain) },
		"World.DestroyQuery": func() { r.w.DestroyQuery(plain) },
		"World.MoveQuery":    func() { _, _ = other.w.MoveQuery(plain) },
	} {
		require.PanicsWithValue(t,
			"ecs: "+op+
				": query(Between Reading.I from 100 to 109) shows whole chunks: take the term of its Between with Masked",
			does)
	}
	require.Equal(t, 20, r.walk.DisableQuery(masked))
	require.False(t, r.walk.Enabled(ids[105]))
	require.True(t, r.walk.Enabled(ids[110]))
	_, err = ecs.NewChange(r.w, ecs.Add(r.tag)).ApplyQuery(masked)
	require.NoError(t, err)
	require.Equal(t, 20, r.sides[1].Len())
	require.True(t, r.tag.Has(ids[609]))
	require.Equal(t, 20, r.w.DestroyQuery(masked))
	require.Equal(t, 980, r.w.Stats().Alive)
	require.NoError(t, r.w.Verify())
}

// TestBetweenMisuse: broken contracts panic by name.
func TestBetweenMisuse(t *testing.T) {
	r := newRanging(t)
	var elsewhere float64
	f := func(v *Reading) *float64 { return &v.F }
	one := ecs.NewRange(r.reading, f, 0, 1)
	require.Equal(t, "query(Between Reading.V[2] from 0 to +Inf masked)",
		ecs.NewQuery(r.w, ecs.Between(r.reading, func(v *Reading) *float32 { return &v.V[2] },
			float32(math.Copysign(0, -1)), float32(math.Inf(1))).Masked()).String())
	for want, does := range map[string]func(){
		"ecs: Between: the handle is the zero value; handles come from Register and RegisterBuffer": func() {
			ecs.Between(ecs.Component[Reading]{}, f, 0, 1)
		},
		"ecs: Between: the function that names the field is nil": func() { ecs.Between[Reading, int8](r.reading, nil, 0, 1) },
		"ecs: NewRange: the function does not return the address of a field of its argument, a Reading": func() {
			ecs.NewRange(r.reading, func(*Reading) *float64 { return &elsewhere }, 0, 1)
		},
		"ecs: Between: the function does not return the address of a field of its argument, a Reading": func() {
			ecs.Between(r.reading, func(*Reading) *float64 { return nil }, 0, 1)
		},
		"ecs: Between: an end of the range is NaN: from NaN to 1":                                func() { ecs.Between(r.reading, f, math.NaN(), 1) },
		"ecs: Range.Set: an end of the range is NaN: from 0 to NaN":                              func() { one.Set(0, math.NaN()) },
		"ecs: Range.Set: the range is the zero value; ranges come from NewRange":                 func() { ecs.Range[int8]{}.Set(0, 1) },
		"ecs: Range.Term: the range is the zero value; ranges come from NewRange":                func() { ecs.Range[int8]{}.Term() },
		"ecs: Term.Masked: With Reading: only Between and Changed have Masked":                   func() { ecs.With(r.reading).Masked() },
		"ecs: Optional: Between inside another term; only types, Read and Write may stand there": func() { ecs.Optional(one.Term()) },
		"ecs: NewQuery: Reading was registered in another world":                                 func() { ecs.NewQuery(ecstest.NewWorld(t), one.Term()) },
	} {
		require.PanicsWithValue(t, want, does)
	}
	share := r.w.Lend()
	require.PanicsWithValue(t, "ecs: Range.Set: the world is lent; call Borrow.End first", func() { one.Set(0, 1) })
	share.End()
	q := ecs.NewQuery(r.w, one.Term(), ecs.Write(r.reading), ecs.Changed(r.reading), ecs.Between(r.reading, f, 2, 3))
	access := q.Access()
	require.Equal(t, []string{"Reading"}, r.w.Conflicts(access, ecs.NewQuery(r.w, one.Term()).Access()))
}

// TestZerosAreInOneRange: -0 and 0 are equal, in the column and as ends of a range.
func TestZerosAreInOneRange(t *testing.T) {
	r := newRanging(t)
	e := r.sides[0].Create()
	minus := math.Copysign(0, -1)
	f := func(v *Reading) *float64 { return &v.F }
	for _, zero := range []float64{0, minus} {
		r.reading.Set(e, Reading{F: zero})
		for _, end := range []float64{0, minus} {
			require.Equal(t, 1, ecs.NewQuery(r.w, ecs.Between(r.reading, f, end, 1)).Count())
			require.Equal(t, 1, ecs.NewQuery(r.w, ecs.Between(r.reading, f, -1, end).Masked()).Count())
		}
		require.True(t, ecs.NewQuery(r.w, ecs.Between(r.reading, f, math.SmallestNonzeroFloat64, 1)).Empty())
	}
	small := func(v *Reading) *uint64 { return &v.U }
	require.Equal(t, 1, ecs.NewQuery(r.w, ecs.Between(r.reading, small, 0, 0)).Count())
	require.True(t, ecs.NewQuery(r.w, ecs.Between(r.reading, small, 1, math.MaxUint64)).Empty())
}
