package ecs_test

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// managedModel is a managed type beside what its entities should have.
type managedModel[T comparable] struct {
	m     ecs.Managed[T]
	want  map[ecs.Entity]managedWant[T]
	fresh func(n int) T
	made  int
}

// managedWant is a value, and where it must stay; at is nil while there is none.
type managedWant[T any] struct {
	at    *T
	value T
}

func newManagedModel[T comparable](w *ecs.World, fresh func(n int) T) *managedModel[T] {
	return &managedModel[T]{m: ecs.RegisterManaged[T](w), want: map[ecs.Entity]managedWant[T]{}, fresh: fresh}
}

func (m *managedModel[T]) next() T { m.made++; return m.fresh(m.made) }

func (m *managedModel[T]) has(e ecs.Entity) bool { _, ok := m.want[e]; return ok }
func (m *managedModel[T]) gone(e ecs.Entity)     { delete(m.want, e) }

// born is for an entity that has the component: what it had before it keeps.
func (m *managedModel[T]) born(e ecs.Entity) {
	if !m.has(e) {
		m.want[e] = managedWant[T]{}
	}
}

// step does one operation on e's value.
func (m *managedModel[T]) step(t *testing.T, r *rand.Rand, e ecs.Entity) {
	had := m.has(e)
	v := m.next()
	switch r.IntN(4) {
	case 0:
		require.Equal(t, had, m.m.Set(e, v))
	case 1:
		if p := m.m.Mut(e); p != nil {
			require.True(t, *p == m.want[e].value, "a value that is new is zero")
			*p = v
		} else {
			require.False(t, had)
		}
	case 2:
		require.Equal(t, !had, m.m.Add(e, v))
		if had {
			return
		}
	case 3:
		require.Equal(t, had, m.m.Remove(e))
		m.gone(e)
		return
	}
	at := m.want[e].at
	if at == nil {
		at = m.m.Get(e)
	}
	if had || m.m.Has(e) {
		m.want[e] = managedWant[T]{at, v}
	}
}

func (m *managedModel[T]) check(t *testing.T, e ecs.Entity) {
	want, has := m.want[e]
	if p := m.m.Get(e); m.m.Has(e) != has || p != want.at || p != nil && *p != want.value {
		t.Fatalf("%v: got %v at %p, want %v at %p, has %v", e, p, p, want.value, want.at, has)
	}
}

// TestManagedFollowsAModel does random operations on two managed types beside a component
// and a buffer. Values must stay where they are in Go memory whatever happens to rows.
func TestManagedFollowsAModel(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	texts := newManagedModel(w, func(n int) string { return strings.Repeat("x", n%50) })
	links := newManagedModel(w, func(n int) *int { return &n })
	position, hits := ecs.Register[ecstest.Position](w), ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))
	archetypes := []*ecs.Archetype{
		ecs.NewArchetype(w, texts.m), ecs.NewArchetype(w, texts.m, links.m, position),
		ecs.NewArchetype(w, links.m, hits), ecs.NewArchetype(w, position, hits),
	}
	s := managedStream{
		t: t, w: w, r: rand.New(rand.NewPCG(1, 2)), texts: texts, links: links, alive: map[ecs.Entity]bool{},
	}
	withText, withLink := ecs.NewQuery(w, ecs.Write(texts.m)), ecs.NewQuery(w, ecs.Read(links.m))
	changes := []*ecs.Change{
		ecs.NewChange(w, ecs.Add(texts.m)), ecs.NewChange(w, ecs.Remove(texts.m)),
		ecs.NewChange(w, ecs.Add(links.m), ecs.Remove(texts.m)),
		ecs.NewChange(w, ecs.Add(texts.m, position), ecs.Remove(links.m, hits)),
	}
	steps := ecstest.StepsOf(3000)
	for range steps {
		list := s.some(1 + s.r.IntN(30))
		switch s.r.IntN(14) {
		case 0, 1, 2:
			s.create(archetypes[s.r.IntN(len(archetypes))], 1+s.r.IntN(60))
		case 3, 4, 5:
			for _, e := range list {
				texts.step(t, s.r, e)
				links.step(t, s.r, e)
			}
		case 6:
			for _, e := range list {
				require.True(t, w.Destroy(e))
				s.gone(e)
			}
		case 7:
			require.Equal(t, len(list), w.DestroyList(list))
			for _, e := range list {
				s.gone(e)
			}
		case 8, 9:
			_, err := changes[s.r.IntN(len(changes))].ApplyList(list)
			require.NoError(t, err)
			s.follow(list)
		case 10:
			_, err := changes[s.r.IntN(len(changes))].ApplyQuery([]*ecs.Query{withText, withLink}[s.r.IntN(2)])
			require.NoError(t, err)
			s.follow(slices.Collect(maps.Keys(s.alive)))
		case 11:
			s.loop(withText)
		case 12:
			w.Trim()
		case 13:
			s.end(withLink)
		}
		require.NoError(t, w.Verify())
		for e := range s.alive {
			texts.check(t, e)
			links.check(t, e)
		}
	}
}

// managedStream is the world of TestManagedFollowsAModel.
type managedStream struct {
	t     *testing.T
	w     *ecs.World
	r     *rand.Rand
	texts *managedModel[string]
	links *managedModel[*int]
	alive map[ecs.Entity]bool
}

// some returns up to n entities, the same for the same seed.
func (s *managedStream) some(n int) []ecs.Entity {
	all := slices.SortedFunc(maps.Keys(s.alive), func(a, b ecs.Entity) int { return a.Index() - b.Index() })
	s.r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all[:min(n, len(all))]
}

func (s *managedStream) create(a *ecs.Archetype, n int) {
	if len(s.alive) > 500 {
		return
	}
	batch, err := a.CreateN(n)
	require.NoError(s.t, err)
	for rows := range batch.Rows() {
		for i, e := range rows.Entities() {
			s.alive[e] = true
			if a.Has(s.texts.m) && i%2 == 0 {
				v := s.texts.next()
				p := s.texts.m.At(rows, i)
				*p = v
				s.texts.want[e] = managedWant[string]{p, v}
			}
		}
	}
	s.follow(slices.Collect(maps.Keys(s.alive)))
}

// follow writes down who has which type after a change.
func (s *managedStream) follow(list []ecs.Entity) {
	for _, e := range list {
		for _, m := range []interface {
			born(ecs.Entity)
			gone(ecs.Entity)
		}{s.texts, s.links} {
			has := s.texts.m.Has(e)
			if m == any(s.links) {
				has = s.links.m.Has(e)
			}
			if has {
				m.born(e)
			} else {
				m.gone(e)
			}
		}
	}
}

func (s *managedStream) gone(e ecs.Entity) {
	delete(s.alive, e)
	s.texts.gone(e)
	s.links.gone(e)
}

// loop writes the text of every other row by At, which makes it.
func (s *managedStream) loop(q *ecs.Query) {
	for rows := range q.Rows() {
		for i, e := range rows.Entities() {
			if i%2 == 0 {
				p, v := s.texts.m.At(rows, i), s.texts.next()
				*p = v
				s.texts.want[e] = managedWant[string]{p, v}
			}
		}
	}
}

// end destroys all, or those that a query finds.
func (s *managedStream) end(q *ecs.Query) {
	if s.r.IntN(4) == 0 {
		s.w.Clear()
	} else {
		s.w.DestroyQuery(q)
	}
	for e := range s.alive {
		if !s.w.Alive(e) {
			s.gone(e)
		}
	}
}

// resource is a value that a test sees the garbage collector take.
type resource struct{ Next *resource }

// TestBehaviour29ManagedGo ends values in each way there is and waits for the garbage
// collector to take what they held.
func TestBehaviour29ManagedGo(t *testing.T) {
	const n = 700 // several pages
	w := ecstest.NewWorld(t)
	held, position := ecs.RegisterManaged[*resource](w), ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, held, position)
	q := ecs.NewQuery(w, ecs.Write(held))
	drop := ecs.NewChange(w, ecs.Remove(held))
	var collected atomic.Int64
	fresh := func() *resource {
		v := new(resource)
		runtime.AddCleanup(v, func(int) { collected.Add(1) }, 0)
		return v
	}
	each := func(f func(e ecs.Entity)) func(list []ecs.Entity) {
		return func(list []ecs.Entity) {
			for _, e := range list {
				f(e)
			}
		}
	}
	for _, way := range []struct {
		name string
		end  func(list []ecs.Entity)
	}{
		{"Destroy", each(func(e ecs.Entity) { w.Destroy(e) })},
		{"DestroyList", func(list []ecs.Entity) { w.DestroyList(list) }},
		{"DestroyQuery", func([]ecs.Entity) { w.DestroyQuery(q) }},
		{"Remove", each(func(e ecs.Entity) { held.Remove(e) })},
		{"Apply", each(func(e ecs.Entity) { _, _ = drop.Apply(e) })},
		{"ApplyList", func(list []ecs.Entity) { _, _ = drop.ApplyList(list) }},
		{"ApplyQuery", func([]ecs.Entity) { _, _ = drop.ApplyQuery(q) }},
		{"Set", each(func(e ecs.Entity) { held.Set(e, nil) })},
		{"Clear", func([]ecs.Entity) { w.Clear() }},
		{"Close", func([]ecs.Entity) { require.NoError(t, w.Close()) }},
	} {
		batch, err := a.CreateN(n)
		require.NoError(t, err, way.name)
		var list []ecs.Entity
		for rows := range batch.Rows() {
			list = append(list, rows.Entities()...)
			for i := range rows.Len() {
				*held.At(rows, i) = fresh()
			}
		}
		runtime.GC()
		for _, e := range list {
			require.NotNil(t, *held.Get(e))
		}
		before := collected.Load()
		way.end(list)
		require.NoError(t, w.Verify(), way.name)
		require.Eventually(t, func() bool { runtime.GC(); return collected.Load() == before+n }, 20*time.Second,
			time.Millisecond, way.name)
	}
	runtime.KeepAlive(held)
}

// TestManagedIsZeroUntilWritten asks for values that nobody has written yet.
func TestManagedIsZeroUntilWritten(t *testing.T) {
	w := ecstest.NewWorld(t)
	text := ecs.RegisterManaged[string](w)
	a := ecs.NewArchetype(w, text)
	e := a.Create()
	require.True(t, text.Has(e))
	require.Nil(t, text.Get(e))
	read, write := ecs.NewQuery(w, ecs.Read(text)), ecs.NewQuery(w, ecs.Write(text))
	for rows := range read.Rows() {
		require.Nil(t, text.At(rows, 0), "reading makes none")
	}
	for rows := range write.Rows() {
		require.Empty(t, *text.At(rows, 0))
		*text.At(rows, 0) = "here"
	}
	require.Equal(t, "here", *text.Get(e))
	require.True(t, w.Destroy(e))
	require.False(t, text.Set(e, "gone"))
	require.Nil(t, text.Mut(e))
	f := a.Create()
	require.Nil(t, text.Get(f), "memory that was used before has none")
	require.Empty(t, *text.Mut(f), "a slot that was used before is zero")

	var ok bool
	err := ecs.Try(func() { ok = text.Remove(f) })
	require.True(t, ok)
	require.NoError(t, err)
	err = ecs.Try(func() { ok = text.Add(f, "again") })
	require.True(t, ok)
	require.NoError(t, err)
	require.Equal(t, "again", *text.Get(f))
	require.NoError(t, w.Verify())
}

// TestManagedIsMarked compares versions and enable bits of a managed type with what those
// of a component do.
func TestManagedIsMarked(t *testing.T) {
	w := ecstest.NewWorld(t)
	text := ecs.RegisterManaged[string](w, ecs.Enableable)
	e := ecs.NewArchetype(w, text).Create()
	q := ecs.NewQuery(w, ecs.Read(text), ecs.Changed(text))
	seen := func() (n int) {
		for rows := range q.Rows() {
			for range rows.Each() {
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, seen())
	text.Get(e)
	require.Zero(t, seen())
	text.Mut(e)
	require.Equal(t, 1, seen())
	text.Set(e, "on")
	require.Equal(t, 1, seen())
	require.True(t, text.Disable(e))
	require.Zero(t, seen(), "disabled")
	require.Equal(t, "on", *text.Get(e))
	require.True(t, text.Enable(e))
	require.Equal(t, 1, seen())
}

// TestManagedIsAnotherType registers one Go type as both kinds, and hashes worlds.
func TestManagedIsAnotherType(t *testing.T) {
	w := ecstest.NewWorld(t)
	managed, plain := ecs.RegisterManaged[ecstest.Position](w), ecs.Register[ecstest.Position](w)
	require.Equal(t, "managed Position", managed.String())
	require.Equal(t, managed, ecs.RegisterManaged[ecstest.Position](w), "the same handle")
	e := ecs.NewArchetype(w, managed, plain).Create()
	plain.Set(e, ecstest.Position{X: 1})
	hash := w.Hash()
	managed.Set(e, ecstest.Position{X: 2})
	require.Equal(t, hash, w.Hash(), "values of managed types do not count")
	require.Equal(t, ecstest.Position{X: 1}, *plain.Get(e))
	require.Equal(t, ecstest.Position{X: 2}, *managed.Get(e))

	none, large := ecs.RegisterManaged[struct{}](w), ecs.RegisterManaged[[100_000]byte](w)
	require.True(t, none.Add(e, struct{}{}))
	require.True(t, large.Add(e, [100_000]byte{99_999: 1}))
	require.NotNil(t, none.Get(e))
	require.Equal(t, byte(1), large.Get(e)[99_999])
	require.NoError(t, w.Verify())
}

// TestManagedIsReadByMany reads values in several goroutines while the world is lent.
func TestManagedIsReadByMany(t *testing.T) {
	w := ecstest.NewWorld(t)
	text := ecs.RegisterManaged[string](w)
	a := ecs.NewArchetype(w, text)
	var list []ecs.Entity
	for i := range 500 {
		e := a.Create()
		list = append(list, e)
		if i%2 == 0 {
			text.Set(e, strings.Repeat("x", i))
		}
	}
	q := ecs.NewQuery(w, ecs.Read(text))
	p := w.Lend()
	var wait sync.WaitGroup
	var total atomic.Int64
	for range 4 {
		wait.Go(func() {
			for rows := range q.Rows() {
				for i := range rows.Len() {
					if v := text.At(rows, i); v != nil {
						total.Add(int64(len(*v)))
					}
				}
			}
			for _, e := range list {
				if v := text.Get(e); v != nil {
					total.Add(int64(len(*v)))
				}
			}
		})
	}
	w.Trim()
	wait.Wait()
	require.EqualValues(t, 8*250*249, total.Load())
	require.PanicsWithValue(t, "ecs: Managed.Mut: the world is lent: until Borrow.End components are only read",
		func() { text.Mut(list[1]) })
	p.End()
	require.Nil(t, text.Get(list[1]))
}

// TestManagedMisuseIsNamed breaks the contracts of managed types.
func TestManagedMisuseIsNamed(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	text, position := ecs.RegisterManaged[string](w), ecs.Register[ecstest.Position](w)
	foreign := ecs.RegisterManaged[string](other)
	e := ecs.NewArchetype(w, text).Create()
	stranger := ecs.NewArchetype(other, foreign).Create()
	q, reads := ecs.NewQuery(w, ecs.Write(text)), ecs.NewQuery(w, ecs.With(text))
	some := ecs.NewQuery(w, ecs.Read(position), ecs.Optional(ecs.Read(text)))
	ecs.NewArchetype(w, position).Create()
	var kept ecs.Rows
	in := func(q *ecs.Query, f func(rows ecs.Rows)) func() {
		return func() {
			for rows := range q.Rows() {
				f(rows)
			}
		}
	}
	in(q, func(rows ecs.Rows) { kept = rows })()
	for want, f := range map[string]func(){
		"ecs: RegisterManaged[string]: Inline is an option of RegisterBuffer":  func() { ecs.RegisterManaged[string](w, ecs.Inline(3)) },
		"ecs: Register[managed string]: Growth is an option of RegisterBuffer": func() { ecs.RegisterManaged[string](w, ecs.Growth(alloc.Doubling())) },
		"ecs: RegisterManaged[string]: registered before with other options":   func() { ecs.RegisterManaged[string](w, ecs.Enableable) },
		"ecs: Uninitialized: the slots of managed string must be zero":         func() { ecs.Uninitialized(text) },
		"ecs: Managed.Get: the handle is the zero value; handles come from RegisterManaged": func() {
			ecs.Managed[string]{}.Get(e)
		},
		"ecs: Managed.Set: the handle is the zero value; handles come from RegisterManaged": func() { ecs.Managed[string]{}.Set(e, "") },
		"ecs: Managed.Add: the handle is the zero value; handles come from RegisterManaged": func() { ecs.Managed[string]{}.Add(e, "") },
		"ecs: NewArchetype: managed string was registered in another world":                 func() { ecs.NewArchetype(w, foreign) },
		"ecs: Managed.At: the rows are no longer current: the loop that gave them has gone on or ended": func() {
			text.At(kept, 0)
		},
		"ecs: Managed.At: row 1 is not in [0, 1)":                                 in(q, func(rows ecs.Rows) { text.At(rows, 1) }),
		"ecs: Managed.At: row -1 is not in [0, 1)":                                in(q, func(rows ecs.Rows) { text.At(rows, -1) }),
		"ecs: Managed.At: [Position] has no managed string: ask Managed.In first": in(some, func(rows ecs.Rows) { text.At(rows, 0) }),
		"ecs: Managed.At: managed string and the rows belong to different worlds": in(q, func(rows ecs.Rows) { foreign.At(rows, 0) }),
	} {
		require.PanicsWithValue(t, want, f)
	}
	for want, f := range map[string]func(){
		"does not declare managed string: add ecs.Read or ecs.Write": in(reads, func(rows ecs.Rows) { text.At(rows, 0) }),
		"belongs to another world":                                   func() { text.Get(stranger) },
		"structural change inside a loop over":                       in(q, func(ecs.Rows) { text.Remove(e) }),
		"cannot add managed string":                                  func() { text.Add(ecs.Null, "") },
	} {
		require.Contains(t, ecstest.PanicText(f), want)
	}
	require.Nil(t, text.Get(e), "nothing was made")
	require.NoError(t, w.Verify())
	require.NoError(t, w.Close())
	for _, f := range []func(){
		func() { text.Get(e) }, func() { text.Mut(e) }, func() { text.Set(e, "") }, func() { text.Add(e, "") },
		func() { ecs.RegisterManaged[int](w) },
	} {
		require.Contains(t, ecstest.PanicText(f), "the world is closed")
	}
}

// TestVerifyNamesSlots corrupts W10.
func TestVerifyNamesSlots(t *testing.T) {
	w := ecstest.NewWorld(t)
	text := ecs.RegisterManaged[string](w)
	a := ecs.NewArchetype(w, text)
	first, second := a.Create(), a.Create()
	text.Set(first, "one")
	text.Set(second, "two")
	for _, bad := range []uint32{0, 1, 3} { // lost, another row's, never given
		old := text.SetSlot(second, bad)
		require.ErrorContains(t, w.Verify(), "ecs: W10:")
		text.SetSlot(second, old)
		require.NoError(t, w.Verify())
	}
}

// TestManagedPagesGo gives pages back to Go and makes others.
func TestManagedPagesGo(t *testing.T) {
	w := ecstest.NewWorld(t)
	text := ecs.RegisterManaged[string](w)
	batch, err := ecs.NewArchetype(w, text).CreateN(2000)
	require.NoError(t, err)
	var list []ecs.Entity
	for rows := range batch.Rows() {
		for i, e := range rows.Entities() {
			*text.At(rows, i) = "text"
			list = append(list, e)
		}
	}
	require.Equal(t, 8, text.Pages())
	w.DestroyList(list[300:])
	require.Equal(t, 8, text.Pages(), "kept for those that come")
	w.Trim()
	require.Equal(t, 2, text.Pages())
	require.NoError(t, w.Verify())
	require.Equal(t, "text", *text.Get(list[299]))
	w.Clear()
	w.Trim()
	require.Zero(t, text.Pages())
	require.True(t, text.Set(ecs.NewArchetype(w, text).Create(), "new"))
	require.NoError(t, w.Verify())
}
