package query_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestMaskedWithOtherTerms: a chunk that another term passes is shown whole, and only rows that
// were written else.
func TestMaskedWithOtherTerms(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w, ecs.TrackRows)
	velocity := ecs.Register[ecstest.Velocity](w)
	marked := ecs.RegisterSparse[ecstest.Marked](w)
	list := ecstest.CreateEach(ecs.NewArchetype(w, position, velocity), 100)
	marked.Add(list[7], ecstest.Marked{})
	only := ecs.NewQuery(w, ecs.Changed(position).Masked())
	require.Equal(t, "query(Changed Position masked)", only.String())
	either := ecs.NewQuery(w, ecs.Changed(position).Masked(), ecs.Changed(velocity))
	ordered := ecs.NewQuery(w, ecs.Changed(position).Masked(), ecs.Ordered())
	sparse := ecs.NewQuery(w, ecs.Changed(position).Masked(), ecs.Changed(marked))
	all := []*ecs.Query{only, either, ordered, sparse}
	counts := func() (n [4]int) {
		for i, q := range all {
			n[i] = q.Count()
			require.Equal(t, n[i] > 0, !q.Empty())
			for range q.Rows() { // Since moves to now
			}
			require.Zero(t, q.Count())
		}
		return n
	}
	require.Equal(t, [4]int{100, 100, 100, 100}, counts(), "a query that never ran sees everything")
	position.Set(list[5], ecstest.Position{})
	require.Equal(t, [4]int{1, 1, 1, 1}, counts())
	velocity.Set(list[5], ecstest.Velocity{})
	require.Equal(t, [4]int{0, 100, 0, 0}, counts())
	marked.Set(list[7], ecstest.Marked{})
	require.Equal(t, [4]int{0, 0, 0, 100}, counts())
	w.Destroy(list[3])
	require.Equal(t, [4]int{0, 0, 99, 0}, counts(), "the row that filled the gap was not written")
	e := ecs.NewArchetype(w, position, velocity).Create()
	require.Equal(t, [4]int{1, 100, 100, 1}, counts(), "a row that came")
	require.True(t, only.Since() != 0 && !only.Matches(e))
	position.Mut(e)
	require.True(t, only.Matches(e))
	require.Equal(t, 1, w.DestroyQuery(only))
	require.False(t, w.Alive(e))
}

// TestRowVersionsOfATag: a type without fields has versions of rows too, and so has a copy of the
// world.
func TestRowVersionsOfATag(t *testing.T) {
	w := ecstest.NewWorld(t)
	type Walks struct{}
	walks := ecs.Register[Walks](w, ecs.Enableable, ecs.TrackRows)
	list := ecstest.CreateEach(ecs.NewArchetype(w, walks), 200)
	now := w.Advance()
	walks.Disable(list[150])
	require.True(t, walks.ChangedSince(list[150], now-1))
	require.False(t, walks.ChangedSince(list[149], now-1))
	c, err := w.Clone()
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	again := ecs.Register[Walks](c, ecs.Enableable, ecs.TrackRows)
	e, _ := c.Entity(list[3].Index(), list[3].Version())
	require.True(t, again.ChangedSince(e, 0))
	since := c.Advance()
	again.Enable(e)
	require.True(t, again.ChangedSince(e, since-1))
	require.NoError(t, c.Verify())
}

// TestTrackRowsMisuse: broken contracts panic by name.
func TestTrackRowsMisuse(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w, ecs.TrackRows), ecs.Register[ecstest.Velocity](w)
	e := ecs.NewArchetype(w, position, velocity).Create()
	reads := ecs.NewQuery(w, ecs.Read(position))
	inLoop := func(f func(ecs.Rows)) func() {
		return func() {
			for rows := range reads.Rows() {
				f(rows)
			}
		}
	}
	for want, f := range map[string]func(){
		"ecs: Register[Position]: registered before with other options":                func() { ecs.Register[ecstest.Position](w) },
		"ecs: Register[Velocity]: registered before with other options":                func() { ecs.Register[ecstest.Velocity](w, ecs.TrackRows) },
		"ecs: RegisterSparse[int8]: the only option of sparse types is Enableable":     func() { ecs.RegisterSparse[int8](w, ecs.TrackRows) },
		"ecs: RegisterShared[int8]: the options of shared types are Cleanup and Codec": func() { ecs.RegisterShared[int8](w, ecs.TrackRows) },
		"ecs: RegisterChunk[int8]: the only option of chunk types is Merge":            func() { ecs.RegisterChunk[int8](w, ecs.TrackRows) },
		"ecs: Term.Masked: Changed(Position, Velocity): Velocity was not registered with ecs.TrackRows": func() {
			ecs.Changed(position, velocity).Masked()
		},
		"ecs: Component.MarkAt: query(Read Position) declares Position to read: use ecs.Write": inLoop(func(rows ecs.Rows) { position.MarkAt(rows, 0) }),
		"ecs: Component.MarkAt: query(Read Position) does not declare Velocity: add ecs.Read or ecs.Write": inLoop(
			func(rows ecs.Rows) {
				velocity.MarkAt(rows, 0)
			}),
		"ecs: Component.MarkAt: row 1 is not in [0, 1)":     inLoop(func(rows ecs.Rows) { position.MarkAt(rows, 1) }),
		"ecs: Component.ChangedAt: row -1 is not in [0, 1)": inLoop(func(rows ecs.Rows) { position.ChangedAt(rows, -1, 0) }),
		"ecs: Component.ChangedSince: the handle is the zero value; handles come from Register and RegisterBuffer": func() {
			ecs.Component[ecstest.Position]{}.ChangedSince(e, 0)
		},
		"ecs: Component.ChangedAt: query(Read Position) does not declare Velocity: add ecs.Read or ecs.Write": inLoop(
			func(rows ecs.Rows) {
				velocity.ChangedAt(rows, 0, 0)
			}),
	} {
		require.PanicsWithValue(t, want, f)
	}
	share := w.Lend()
	require.True(t, position.ChangedSince(e, 0))
	require.PanicsWithValue(t, "ecs: Component.Mut: the world is lent: until Borrow.End components are only read",
		func() { position.Mut(e) })
	require.PanicsWithValue(t, "ecs: Component.MutList: the world is lent: until Borrow.End components are only read",
		func() { position.MutList(nil, []ecs.Entity{e}) })
	share.End()
	now := w.Advance()
	velocity.Mut(e)
	require.True(t, velocity.ChangedSince(e, now-1), "without TrackRows the chunk tells")
	require.False(t, position.ChangedSince(e, now-1))
	inLoop(func(rows ecs.Rows) { require.False(t, position.ChangedAt(rows, 0, now-1)) })()
}

// TestRowVersionsOfSharedBits: while the world is lent any goroutine may switch the bit of any
// row, the same one too.
func TestRowVersionsOfSharedBits(t *testing.T) {
	w := ecstest.NewWorld(t)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable, ecs.TrackRows)
	list := ecstest.CreateEach(ecs.NewArchetype(w, stun), 130)
	q := ecs.NewQuery(w, ecs.Changed(stun).Masked())
	for range q.Rows() {
	}
	share := w.Lend()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 100 {
				stun.Disable(list[i])
				stun.ChangedSince(list[i], q.Since())
			}
			for rows := range q.Rows() {
				require.GreaterOrEqual(t, rows.Count(), 100, "goroutine %d", g)
			}
		})
	}
	wg.Wait()
	share.End()
	require.Equal(t, 100, q.Count())
	require.ElementsMatch(t, list[:100], q.Entities(nil))
}

// TestRowVersionsAtTheWrap: versions compare by distance, and 0 is no version.
func TestRowVersionsAtTheWrap(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w, ecs.TrackRows)
	ecstest.SetVersion(w, 1<<32-2)
	list := ecstest.CreateEach(ecs.NewArchetype(w, position), 70)
	q := ecs.NewQuery(w, ecs.Changed(position).Masked())
	for i := range 5 {
		for range q.Rows() {
		}
		position.Set(list[i], ecstest.Position{})
		require.Equal(t, []ecs.Entity{list[i]}, q.Entities(nil), "since %d now %d", q.Since(), w.Version())
	}
}

// ran lets a query's loop run to its end, so Since moves to now.
func ran(q *ecs.Query) {
	for range q.Rows() {
	}
}

// TestMaskedBesideAnUnmaskedTermOfATrackedType: a chunk that passes by another Changed term is
// shown whole, also if that term's type tracks rows.
func TestMaskedBesideAnUnmaskedTermOfATrackedType(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w, ecs.TrackRows)
	velocity := ecs.Register[ecstest.Velocity](w, ecs.TrackRows)
	list := ecstest.CreateEach(ecs.NewArchetype(w, position, velocity), 100)
	q := ecs.NewQuery(w, ecs.Changed(position).Masked(), ecs.Changed(velocity))
	ran(q)
	velocity.Set(list[5], ecstest.Velocity{})
	require.Equal(t, 100, q.Count())
	require.True(t, q.Matches(list[5]) && q.Matches(list[6]))
}

// TestAtOfNoRowOfATrackedType: At of a row that is not there names it, and marks no row, neither of
// the chunk nor of another part of it.
func TestAtOfNoRowOfATrackedType(t *testing.T) {
	w := ecstest.NewWorld(t)
	hits, names := ecs.RegisterBuffer[ecstest.Hit](w, ecs.TrackRows), ecs.RegisterManaged[[]string](w, ecs.TrackRows)
	list := ecstest.CreateEach(ecs.NewArchetype(w, hits, names), 100)
	q := ecs.NewQuery(w, ecs.Write(hits), ecs.Write(names))
	now := w.Advance()
	for _, i := range []int{-1, 100, math.MaxInt, math.MinInt} {
		for rows := range q.Rows() {
			require.PanicsWithValue(t, fmt.Sprintf("ecs: Buffer.At: row %d is not in [0, 100)", i),
				func() { hits.At(rows, i) })
			require.PanicsWithValue(t, fmt.Sprintf("ecs: Managed.At: row %d is not in [0, 100)", i),
				func() { names.At(rows, i) })
		}
	}
	l := ecstest.Lend(q, "job track")
	ecstest.Begin(l.Borrow)
	r := ecstest.AccessorOf(l.Borrow)
	rows, ok := ecstest.RowsOf(r, ecstest.Split(l.Borrow, nil, 64)[1])
	require.True(t, ok)
	require.PanicsWithValue(t, "ecs: Buffer.At: row -1 is not in [0, 36)", func() { hits.At(rows, -1) })
	ecstest.Done(r)
	l.End()
	for _, e := range list {
		require.False(t, hits.ChangedSince(e, now-1) || names.ChangedSince(e, now-1))
	}
}

// TestTrackRowsAtAChunkBoundary: a row that comes and goes at the end of a chunk takes no Go
// memory.
func TestTrackRowsAtAChunkBoundary(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position := ecs.Register[ecstest.Position](w, ecs.TrackRows)
	a := ecs.NewArchetype(w, position)
	_, err := a.CreateN(2 * a.Plan().Rows)
	require.NoError(t, err)
	require.Equal(t, 2, a.Chunks())
	require.Zero(t, testing.AllocsPerRun(50, func() {
		e := a.Create()
		require.Equal(t, 3, a.Chunks())
		w.Destroy(e)
	}))
}
