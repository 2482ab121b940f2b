package ecs_test

import (
	"fmt"
	"sync"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestSparseMisuse: what is wrong panics with its whole text, and nothing has changed.
func TestSparseMisuse(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	burning, marked := ecs.RegisterSparse[ecstest.Burning](w), ecs.RegisterSparse[ecstest.Marked](w, ecs.Enableable)
	e := ecs.NewArchetype(w, position).Create()
	dead := ecs.NewArchetype(w, position).Create()
	w.Destroy(dead)
	stranger := ecs.NewArchetype(other).Create()
	burning.Add(e, ecstest.Burning{Heat: 1, For: 2})
	q, bare := ecs.NewQuery(w, ecs.Read(position), ecs.Read(burning)), ecs.NewQuery(w, ecs.Read(position))
	inLoop := func(q *ecs.Query, f func(ecs.Rows)) func() {
		return func() {
			for rows := range q.Rows() {
				f(rows)
			}
		}
	}
	var old ecs.Rows
	inLoop(q, func(rows ecs.Rows) { old = rows })()
	for want, f := range map[string]func(){
		"ecs: Sparse.Get: the handle is the zero value; handles come from RegisterSparse": func() { ecs.Sparse[ecstest.Burning]{}.Get(e) },
		"ecs: Sparse.Add: the handle is the zero value; handles come from RegisterSparse": func() { ecs.Sparse[ecstest.Burning]{}.Add(e, ecstest.Burning{}) },
		"ecs: Sparse.Len: the handle is the zero value; handles come from RegisterSparse": func() { ecs.Sparse[ecstest.Burning]{}.Len() },
		"ecs: RegisterSparse[int32]: the only option of sparse types is Enableable":       func() { ecs.RegisterSparse[int32](w, ecs.Cleanup) },
		"ecs: RegisterSparse[int64]: the only option of sparse types is Enableable":       func() { ecs.RegisterSparse[int64](w, ecs.Inline(2)) },
		"ecs: RegisterSparse[Burning]: registered before with other options":              func() { ecs.RegisterSparse[ecstest.Burning](w, ecs.Enableable) },
		fmt.Sprintf("ecs: Sparse.Add: %v is not alive, cannot add sparse Burning", dead):  func() { burning.Add(dead, ecstest.Burning{}) },
		fmt.Sprintf("ecs: Sparse.Add: entity %v belongs to another world", stranger):      func() { burning.Add(stranger, ecstest.Burning{}) },
		fmt.Sprintf("ecs: Sparse.Get: entity %v belongs to another world", stranger):      func() { burning.Get(stranger) },
		fmt.Sprintf("ecs: Sparse.Remove: entity %v belongs to another world", stranger):   func() { burning.Remove(stranger) },
		"ecs: Sparse.Enable: sparse Burning was not registered with ecs.Enableable":       func() { burning.Enable(e) },
		"ecs: Sparse.Reserve: n=-1 is negative":                                           func() { burning.Reserve(-1) },
		"ecs: NewArchetype: sparse Burning is sparse: no archetype has it; add it to entities": func() {
			ecs.NewArchetype(w, position, burning)
		},
		"ecs: NewQuery: Disabled sparse Burning: it was not registered with ecs.Enableable": func() { ecs.NewQuery(w, ecs.Disabled(burning)) },
		"ecs: NewQuery: sparse Marked is in two terms": func() {
			ecs.NewQuery(w, ecs.Read(marked), ecs.Without(marked))
		},
		"ecs: NewChange: sparse Burning is given twice":                  func() { ecs.NewChange(w, ecs.Add(burning, burning)) },
		"ecs: NewChange: sparse Burning is added and removed":            func() { ecs.NewChange(w, ecs.Add(burning), ecs.Remove(burning)) },
		"ecs: NewChange: sparse Burning was registered in another world": func() { ecs.NewChange(other, ecs.Add(burning)) },
		"ecs: Sparse.Column: query(Read Position) does not declare sparse Burning: add ecs.Read or ecs.Write": inLoop(
			bare, func(rows ecs.Rows) {
				burning.Column(rows)
			}),
		"ecs: Sparse.At: the rows are no longer current: the loop that gave them has gone on or ended": func() { burning.At(old, 0) },
		"ecs: Sparse.Add: structural change inside a loop over query(Read Position, Read sparse Burning); gather the entities and change them after the loop": inLoop(q, func(ecs.Rows) {
			burning.Add(e, ecstest.Burning{})
		}),
		"ecs: Sparse.Remove: structural change inside a loop over query(Write sparse Burning); gather the entities and change them after the loop": func() {
			for e := range burning.All() {
				burning.Remove(e)
			}
		},
		"ecs: World.Destroy: structural change inside a loop over query(Write sparse Burning); gather the entities and change them after the loop": func() {
			for e := range burning.All() {
				w.Destroy(e)
			}
		},
	} {
		require.PanicsWithValue(t, want, f)
		require.Equal(t, ecstest.Burning{Heat: 1, For: 2}, *burning.Get(e))
		require.NoError(t, w.Verify())
	}
	require.False(t, burning.Remove(dead))
	require.False(t, burning.Has(dead))
	require.Nil(t, burning.Mut(ecs.Null))
	require.False(t, burning.Set(dead, ecstest.Burning{}))
	require.True(t, burning.Remove(e), "the world is unlocked after all that")
	require.Nil(t, burning.Values())
	require.Empty(t, burning.Entities())
}

// TestSparseClosed: handles of a closed world are refused.
func TestSparseClosed(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	burning := ecs.RegisterSparse[ecstest.Burning](w)
	e := ecs.NewArchetype(w).Create()
	burning.Add(e, ecstest.Burning{})
	require.NoError(t, w.Close())
	for name, f := range map[string]func(){
		"Get": func() { burning.Get(e) }, "Has": func() { burning.Has(e) }, "Len": func() { burning.Len() },
		"Add": func() { burning.Add(e, ecstest.Burning{}) }, "Remove": func() { burning.Remove(e) }, "Values": func() { burning.Values() },
	} {
		require.PanicsWithValue(t, "ecs: Sparse."+name+": the world is closed", f)
	}
}

// TestSparseChanged: Changed terms pass chunks with a value that was added, written, or switched,
// and no others; the handle serves single entities.
func TestSparseChanged(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, marked := ecs.Register[ecstest.Position](w), ecs.RegisterSparse[ecstest.Marked](w, ecs.Enableable)
	batch, err := ecs.NewArchetype(w, position).CreateN(4000)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	require.NoError(t, marked.Reserve(len(ids)))
	for _, e := range ids {
		marked.Add(e, ecstest.Marked{})
	}
	q := ecs.NewQuery(w, ecs.Read(position), ecs.Changed(marked))
	chunks := func() (n int) {
		for range q.Rows() {
			n++
		}
		return n
	}
	all := chunks()
	require.Greater(t, all, 2)
	require.Zero(t, chunks())
	for name, write := range map[string]func(){
		"Mut":     func() { marked.Mut(ids[1000]) },
		"Set":     func() { marked.Set(ids[1000], ecstest.Marked{By: ids[0]}) },
		"Disable": func() { marked.Disable(ids[1000]) },
	} {
		write()
		require.Equal(t, 1, chunks(), name)
		require.Zero(t, chunks(), name)
	}
	since := w.Version()
	w.Advance()
	marked.Mut(ids[70])
	require.True(t, marked.Changed(ids[70], since))
	require.False(t, marked.Changed(ids[1000], since))
	require.True(t, marked.Changed(ids[1000], 0))
	require.False(t, marked.Changed(ecs.Null, 0))
	require.Equal(t, 1, chunks())
	for name, write := range map[string]func(){
		"Slice": func() { marked.Slice() },
		"All": func() {
			for range marked.All() {
			}
		},
		"Column": func() {
			w := ecs.NewQuery(w, ecs.Write(marked))
			for rows := range w.Rows() {
				marked.Column(rows)
			}
			w.Close()
		},
	} {
		write()
		require.Equal(t, all, chunks(), name)
	}
	marked.Values()
	marked.Get(ids[5])
	require.Zero(t, chunks())
	marked.Remove(ids[10]) // the last one, of another chunk, takes its place among the first 63
	require.Equal(t, 2, chunks())
}

// TestSparseBatches: rows of a batch take values for writing; entries that come do not end a batch.
func TestSparseBatches(t *testing.T) {
	w := ecstest.NewWorld(t)
	burning := ecs.RegisterSparse[ecstest.Burning](w)
	batch, err := ecs.NewArchetype(w).CreateN(100)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	for i, e := range ids {
		if i%3 == 0 {
			burning.Add(e, ecstest.Burning{Heat: float64(i)})
		}
	}
	for rows := range batch.Rows() {
		for i := range ids {
			v := burning.At(rows, i)
			require.Equal(t, i%3 == 0, v != nil)
			if v != nil {
				require.Equal(t, float64(i), v.Heat)
				v.For = 7
			}
		}
	}
	require.Equal(t, 7.0, burning.Get(ids[33]).For)
}

// TestSparseShared: goroutines read values and loop while the world is lent, and switch bits; the
// owner's writes are refused.
func TestSparseShared(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, marked := ecs.Register[ecstest.Position](w), ecs.RegisterSparse[ecstest.Marked](w, ecs.Enableable)
	batch, err := ecs.NewArchetype(w, position).CreateN(10_000)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	for i, e := range ids {
		if i%2 == 0 {
			marked.Add(e, ecstest.Marked{By: ids[0]})
		}
	}
	q := ecs.NewQuery(w, ecs.Read(marked), ecs.Present(position))
	b := w.Lend()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			n := 0
			for rows := range q.Rows() {
				column := marked.Column(rows)
				for i := range rows.Each() {
					if column.At(i).By == ids[0] {
						n++
					}
				}
			}
			if n != len(ids)/2 {
				t.Errorf("%d values in two loops", n)
			}
			if marked.Get(ids[2]).By != ids[0] || marked.Has(ids[3]) || len(marked.Values()) != len(ids)/2 {
				t.Error("another value")
			}
		})
	}
	group.Wait()
	for i := range 2 {
		group.Go(func() {
			for j := i * 2; j < len(ids); j += 4 {
				marked.Disable(ids[j])
			}
		})
	}
	group.Wait()
	require.PanicsWithValue(t, "ecs: Sparse.Set: the world is lent: until Borrow.End components are only read",
		func() { marked.Set(ids[0], ecstest.Marked{}) })
	require.PanicsWithValue(t, "ecs: Sparse.Add: the world is lent; call Borrow.End first",
		func() { marked.Add(ids[1], ecstest.Marked{}) })
	b.End()
	require.Zero(t, q.Count())
	require.True(t, marked.Set(ids[0], ecstest.Marked{}))
}

// TestSparseSwitchInLoops: a loop may switch bits; its masks do not change.
func TestSparseSwitchInLoops(t *testing.T) {
	w := ecstest.NewWorld(t)
	marked := ecs.RegisterSparse[ecstest.Marked](w, ecs.Enableable)
	batch, err := ecs.NewArchetype(w).CreateN(200)
	require.NoError(t, err)
	for _, e := range batch.Entities(nil) {
		marked.Add(e, ecstest.Marked{})
	}
	q := ecs.NewQuery(w, ecs.Read(marked))
	n := 0
	for rows := range q.Rows() {
		for i := range rows.Each() {
			marked.Disable(rows.Entities()[i])
			n++
		}
	}
	require.Equal(t, 200, n)
	require.Zero(t, q.Count())
	require.True(t, q.Empty())
}

// TestSparseLimits: values that fit no chunk are refused where they are registered, like
// components.
func TestSparseLimits(t *testing.T) {
	w := ecstest.NewWorld(t)
	require.Panics(t, func() { ecs.RegisterSparse[[20_000]byte](w) })
	require.Panics(t, func() { ecs.RegisterSparse[*int](w) })
	require.Equal(t, ecs.KindSparse, ecs.InfoOf(ecs.RegisterSparse[struct{}](w)).Kind)
	tag := ecs.RegisterSparse[struct{}](w)
	e := ecs.NewArchetype(w).Create()
	require.True(t, tag.Add(e, struct{}{}))
	require.NotNil(t, tag.Get(e))
	require.True(t, tag.Has(e))
	require.True(t, tag.Remove(e))
	require.Nil(t, tag.Get(e))
	require.Equal(t, "sparse", ecs.KindSparse.String())
}

// TestSparseAnyNamesTags: Any with a sparse type and a tag that hides entities names the tag, as
// any other term does, so the query shows the entities that have it.
func TestSparseAnyNamesTags(t *testing.T) {
	w := ecstest.NewWorld(t)
	burning := ecs.RegisterSparse[ecstest.Burning](w)
	off, prefab := ecs.Register[ecs.DisabledEntity](w), ecs.Register[ecs.Prefab](w)
	hidden, model := ecs.NewArchetype(w, off).Create(), ecs.NewArchetype(w, prefab).Create()
	q := ecs.NewQuery(w, ecs.Any(off, burning))
	require.Equal(t, []ecs.Entity{hidden}, q.Entities(nil))
	require.True(t, q.Matches(hidden))
	require.Equal(t, []ecs.Entity{model}, ecs.NewQuery(w, ecs.Any(burning, prefab)).Entities(nil))
}

// TestSparseSwitchMany: bits are switched by list and query like those of components: strangers are
// refused before anything changes, duplicates count once, and a range must be masked.
func TestSparseSwitchMany(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	position, marked := ecs.Register[ecstest.Position](w), ecs.RegisterSparse[ecstest.Marked](w, ecs.Enableable)
	batch, err := ecs.NewArchetype(w, position).CreateN(100)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	for i, e := range ids {
		position.Set(e, ecstest.Position{X: float64(i)})
		marked.Add(e, ecstest.Marked{})
	}
	stranger := ecs.NewArchetype(other).Create()
	require.PanicsWithValue(t,
		fmt.Sprintf("ecs: Sparse.DisableList: entity 1 of the list, %v, belongs to another world; nothing was changed",
			stranger),
		func() { marked.DisableList([]ecs.Entity{ids[0], stranger}) })
	require.True(t, marked.Enabled(ids[0]))
	require.Equal(t, 1, marked.DisableList([]ecs.Entity{ids[0], ids[0], ecs.Null}))
	require.Equal(t, 1, marked.EnableList(ids[:1]))
	axis := ecs.Between(position, func(p *ecstest.Position) *float64 { return &p.X }, 10, 20)
	whole := ecs.NewQuery(w, ecs.Read(position), axis)
	require.Panics(t, func() { marked.DisableQuery(whole) })
	masked := ecs.NewQuery(w, ecs.Read(position), axis.Masked())
	require.Equal(t, 11, marked.DisableQuery(masked))
	require.False(t, marked.Enabled(ids[15]))
	require.True(t, marked.Enabled(ids[5]))
	require.Equal(t, 11, marked.EnableQuery(masked))
	own := ecs.NewQuery(w, ecs.Read(marked))
	for rows := range own.Rows() {
		require.PanicsWithValue(t, "ecs: Sparse.At: row 100 is not in [0, 100)", func() { marked.At(rows, 100) })
		require.PanicsWithValue(t, "ecs: Sparse.At: row -1 is not in [0, 100)", func() { marked.At(rows, -1) })
	}
	require.PanicsWithValue(t, "ecs: Lookup.Get: the look-up is the zero value; look-ups come from Lookup of a handle",
		func() { ecs.Lookup[ecstest.Marked]{}.Get(ids[0]) })
}
