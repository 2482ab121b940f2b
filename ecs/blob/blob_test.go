package blob_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/image"
	"quarry/ecs/journal"
)

type Vec3 struct{ X, Y, Z float32 }

type Part struct {
	Kind   uint8 // and padding
	At     Vec3
	Name   blob.String
	Points blob.Array[Vec3]
	Next   blob.Ref[Part]
}

type Mesh struct {
	Name  blob.String
	Parts blob.Array[Part]
	First blob.Ref[Part]
	Slots [2]struct {
		On      bool
		Weights blob.Array[float64]
	}
}

type Curve struct{ Keys blob.Array[float32] }

// Shape holds a mesh.
type Shape struct {
	Tint uint32
	Mesh blob.Blob[Mesh]
}

func newWorld(t testing.TB, options ...ecs.Option) *ecs.World {
	t.Helper()
	w, err := ecs.NewWorld(options...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
	})
	return w
}

func newStore(t testing.TB, w *ecs.World) *blob.Store {
	t.Helper()
	s, err := blob.NewStore(w, blob.Type[Mesh](), blob.Type[Curve]())
	require.NoError(t, err)
	return s
}

// buildMesh makes a mesh that depends on n: parts, points and a ring of references.
func buildMesh(n int) *blob.Builder[Mesh] {
	b := blob.NewBuilder[Mesh]()
	m := b.Root()
	blob.SetString(b, &m.Name, fmt.Sprint("mesh ", n))
	parts := blob.Allocate(b, &m.Parts, n%5)
	for i := range parts {
		p := &parts[i]
		p.Kind, p.At = uint8(i), Vec3{float32(i), 0, float32(n)}
		blob.SetString(b, &p.Name, fmt.Sprint("part ", i))
		points := blob.Allocate(b, &p.Points, i*2)
		for k := range points {
			points[k] = Vec3{float32(k), 1, 2}
		}
		blob.Point(b, &p.Next, &parts[(i+1)%len(parts)])
	}
	first := blob.New(b, &m.First)
	first.Kind = 77
	blob.Point(b, &first.Next, first)
	copy(blob.Allocate(b, &m.Slots[1].Weights, 2), []float64{.5, float64(n)})
	m.Slots[1].On = true
	return b
}

// checkMesh compares a mesh with what buildMesh put into it.
func checkMesh(t testing.TB, m *Mesh, n int) {
	t.Helper()
	require.NotNil(t, m)
	require.Equal(t, fmt.Sprint("mesh ", n), m.Name.String())
	parts := m.Parts.Slice()
	require.Equal(t, n%5, m.Parts.Len())
	require.Len(t, parts, n%5)
	for i := range parts {
		p := &parts[i]
		require.Equal(t, uint8(i), p.Kind)
		require.Equal(t, Vec3{float32(i), 0, float32(n)}, p.At)
		require.Equal(t, fmt.Sprint("part ", i), string(p.Name.Bytes()))
		require.Len(t, p.Points.Slice(), i*2)
		for k, v := range p.Points.Slice() {
			require.Equal(t, Vec3{float32(k), 1, 2}, v)
		}
		require.Same(t, &parts[(i+1)%len(parts)], p.Next.Get())
	}
	require.Equal(t, uint8(77), m.First.Get().Kind)
	require.Same(t, m.First.Get(), m.First.Get().Next.Get())
	require.Zero(t, m.First.Get().Name.String())
	require.Nil(t, m.First.Get().Points.Slice())
	require.Nil(t, m.Slots[0].Weights.Slice())
	require.False(t, m.Slots[0].On)
	require.True(t, m.Slots[1].On)
	require.Equal(t, []float64{.5, float64(n)}, m.Slots[1].Weights.Slice())
}

func addMesh(t testing.TB, s *blob.Store, n int) blob.Blob[Mesh] {
	t.Helper()
	m, err := blob.Add(s, buildMesh(n))
	require.NoError(t, err)
	return m
}

// holder makes an entity that holds a mesh.
func holder(w *ecs.World, m blob.Blob[Mesh]) ecs.Entity {
	shape := ecs.Register[Shape](w)
	e := ecs.NewArchetype(w, shape).Create()
	shape.Set(e, Shape{Mesh: m})
	return e
}

// heldBy returns the mesh that an entity holds.
func heldBy(w *ecs.World, e ecs.Entity) blob.Blob[Mesh] { return ecs.Register[Shape](w).Get(e).Mesh }

// TestLife: one blob of equal content, until its last reference.
func TestLife(t *testing.T) {
	w := newWorld(t)
	s := newStore(t, w)
	a, b, c := addMesh(t, s, 3), addMesh(t, s, 3), addMesh(t, s, 4)
	require.Equal(t, a, b)
	require.NotEqual(t, a, c)
	require.Equal(t, 2, a.Count(s))
	require.Equal(t, 1, c.Count(s))
	checkMesh(t, a.Get(s), 3)
	checkMesh(t, c.Get(s), 4)
	require.True(t, a.Retain(s))
	require.Equal(t, 3, a.Count(s))
	for n := 2; n >= 0; n-- {
		require.NoError(t, s.Verify())
		require.True(t, a.Release(s))
		require.Equal(t, n, a.Count(s))
	}
	require.NoError(t, s.Verify())
	require.False(t, a.Release(s))
	require.False(t, a.Retain(s))
	require.Nil(t, a.Get(s))
	require.False(t, w.Alive(a.Entity()))
	d := addMesh(t, s, 3)
	checkMesh(t, d.Get(s), 3)
	require.Nil(t, a.Get(s), "another version of the same index")

	var none blob.Blob[Mesh]
	require.True(t, none.IsNull())
	require.False(t, d.IsNull())
	require.Equal(t, ecs.Null, none.Entity())
	require.Nil(t, none.Get(s))
	require.Zero(t, none.Count(s))
	require.False(t, none.Retain(s))
	require.False(t, none.Release(s))
}

// TestOtherTypes: a root of another type is not found, and equal content of two types is two blobs.
func TestOtherTypes(t *testing.T) {
	w := newWorld(t)
	s := newStore(t, w)
	keys := blob.NewBuilder[Curve]()
	copy(blob.Allocate(keys, &keys.Root().Keys, 2), []float32{1, 2})
	c, err := blob.Add(s, keys)
	require.NoError(t, err)
	require.Equal(t, []float32{1, 2}, c.Get(s).Keys.Slice())
	shape := ecs.Register[struct{ C blob.Blob[Curve] }](w)
	other := ecs.Register[struct{ M blob.Blob[Mesh] }](w)
	e := ecs.NewArchetype(w, shape, other).Create()
	shape.Set(e, struct{ C blob.Blob[Curve] }{c})
	require.Equal(t, c, shape.Get(e).C)

	type Unknown struct{ X uint64 }
	require.PanicsWithValue(t, "blob: Add: Unknown is not a type of the store", func() {
		_, _ = blob.Add(s, blob.NewBuilder[Unknown]())
	})
	var u blob.Blob[Unknown]
	require.Nil(t, u.Get(s))
	far := newStore(t, newWorld(t))
	require.Panics(t, func() { c.Get(far) }, "a blob of another world")
}

// TestCarried: whatever carries a world carries its blobs, once.
func TestCarried(t *testing.T) {
	w := newWorld(t)
	s := newStore(t, w)
	m := addMesh(t, s, 4)
	m.Retain(s)
	a, b := holder(w, m), holder(w, m)
	register := func(w *ecs.World) {
		blob.Register(w)
		ecs.Register[Shape](w)
	}
	check := func(t *testing.T, w *ecs.World) {
		s := newStore(t, w)
		require.NoError(t, s.Verify())
		a, ok := w.Entity(a.Index(), a.Version()) // of this world
		require.True(t, ok)
		b, ok := w.Entity(b.Index(), b.Version())
		require.True(t, ok)
		require.Equal(t, heldBy(w, a), heldBy(w, b))
		require.Equal(t, 2, heldBy(w, a).Count(s))
		checkMesh(t, heldBy(w, a).Get(s), 4)
		require.Equal(t, heldBy(w, a), addMesh(t, s, 4), "it is found by its content")
		require.NotEqual(t, heldBy(w, a), addMesh(t, s, 3))
		require.NoError(t, s.Verify())
	}
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.world")
		require.NoError(t, image.SaveFile(w, path))
		o, err := image.Open(path, register)
		require.NoError(t, err)
		defer o.Close()
		check(t, o)
	})
	t.Run("stream", func(t *testing.T) {
		var file bytes.Buffer
		require.NoError(t, image.Save(w, &file))
		o, err := image.Load(&file, register)
		require.NoError(t, err)
		defer o.Close()
		check(t, o)
	})
	t.Run("clone", func(t *testing.T) {
		o, err := w.Clone()
		require.NoError(t, err)
		defer o.Close()
		check(t, o)
	})
	t.Run("journal", func(t *testing.T) {
		folder := t.TempDir()
		j, err := journal.Open(folder, register)
		require.NoError(t, err)
		js := newStore(t, j.World())
		require.NoError(t, j.Commit())
		e := holder(j.World(), addMesh(t, js, 2))
		require.NoError(t, j.Commit())
		require.NoError(t, j.Close())
		j, err = journal.Open(folder, register)
		require.NoError(t, err)
		checkMesh(t, heldBy(j.World(), e).Get(newStore(t, j.World())), 2)
		require.NoError(t, j.Close())
	})
	check(t, w)
}

// TestSnapshots: what comes and goes after a snapshot is as it was after Restore.
func TestSnapshots(t *testing.T) {
	w := newWorld(t)
	s := newStore(t, w)
	a, b := addMesh(t, s, 4), addMesh(t, s, 3)
	old := w.Snapshot()
	defer old.Close()
	kept := b.Get(s)
	require.True(t, a.Release(s))
	b.Retain(s)
	c := addMesh(t, s, 2)
	require.NoError(t, w.Restore(old))
	require.NoError(t, s.Verify())
	checkMesh(t, a.Get(s), 4)
	require.Equal(t, 1, b.Count(s))
	require.Same(t, kept, b.Get(s))
	require.Nil(t, c.Get(s))
	require.Equal(t, a, addMesh(t, s, 4))
	require.NoError(t, s.Verify())
}

// TestDeltas: a world that follows another has its blobs.
func TestDeltas(t *testing.T) {
	w := newWorld(t)
	s := newStore(t, w)
	e := holder(w, addMesh(t, s, 4))
	older := w.Snapshot()
	defer older.Close()
	follower, err := older.Fork()
	require.NoError(t, err)
	defer follower.Close()
	fs := newStore(t, follower)
	checkMesh(t, heldBy(follower, e).Get(fs), 4)

	f := holder(w, addMesh(t, s, 7))
	heldBy(w, e).Release(s)
	newer := w.Snapshot()
	defer newer.Close()
	d, err := ecs.Diff(older, newer)
	require.NoError(t, err)
	var wire bytes.Buffer
	require.NoError(t, ecs.EncodeDelta(&wire, d))
	require.NoError(t, follower.ApplyDelta(&wire))
	require.NoError(t, fs.Check())
	require.NoError(t, fs.Verify())
	checkMesh(t, heldBy(follower, f).Get(fs), 7)
	require.Nil(t, heldBy(follower, e).Get(fs))
	require.Equal(t, heldBy(follower, f), addMesh(t, fs, 7))
	require.NoError(t, fs.Verify())
}

// TestMoveAll: blobs move into a world that has others, and components follow.
func TestMoveAll(t *testing.T) {
	for _, one := range []bool{true, false} {
		t.Run(fmt.Sprint("one universe ", one), func(t *testing.T) {
			u, err := alloc.NewUniverse()
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, u.Close()) })
			options := []ecs.Option{ecs.WithUniverse(u)}
			from := newWorld(t, options...)
			if !one {
				options = nil
			}
			to := newWorld(t, options...)
			fs, ts := newStore(t, from), newStore(t, to)
			mine := holder(to, addMesh(t, ts, 4))
			fm := addMesh(t, fs, 3)
			old := holder(from, fm)
			twin := holder(from, addMesh(t, fs, 4))
			moved, err := to.MoveAll(from)
			require.NoError(t, err)
			now := moved.Of(old)
			require.NoError(t, ts.Verify())
			require.NoError(t, fs.Verify())
			require.Nil(t, blob.Blob[Mesh]{}.Get(fs))
			checkMesh(t, heldBy(to, now).Get(ts), 3)
			checkMesh(t, heldBy(to, mine).Get(ts), 4)
			checkMesh(t, heldBy(to, moved.Of(twin)).Get(ts), 4)
			require.Equal(t, heldBy(to, now), addMesh(t, ts, 3), "the index has it")
			require.NoError(t, ts.Verify())
		})
	}
}

// TestPointersStay: structural changes and Shrink leave blocks where they are.
func TestPointersStay(t *testing.T) {
	w := newWorld(t)
	s := newStore(t, w)
	list := make([]blob.Blob[Mesh], 600)
	for i := range list {
		list[i] = addMesh(t, s, i)
	}
	big := blob.NewBuilder[Curve]()
	blob.Allocate(big, &big.Root().Keys, 300_001)
	large, err := blob.Add(s, big)
	require.NoError(t, err)
	at := make([]*Mesh, len(list))
	for i, b := range list {
		at[i] = b.Get(s)
	}
	keys := large.Get(s)
	for i := 0; i < len(list); i += 2 {
		require.True(t, list[i].Release(s)) // other rows fill the gaps
	}
	ecs.NewArchetype(w, ecs.Register[Shape](w)).Create()
	snapshot := w.Snapshot()
	w.Shrink(0)
	snapshot.Close()
	w.Shrink(0)
	require.NoError(t, s.Verify())
	for i := 1; i < len(list); i += 2 {
		require.Same(t, at[i], list[i].Get(s))
		checkMesh(t, at[i], i)
	}
	require.Same(t, keys, large.Get(s))
}

// TestHandMade: blobs that programs destroy, copy or clear by the world's own functions.
func TestHandMade(t *testing.T) {
	w := newWorld(t)
	s := newStore(t, w)
	a, b := addMesh(t, s, 4), addMesh(t, s, 3)
	w.Destroy(a.Entity())
	require.NoError(t, s.Verify())
	require.Nil(t, a.Get(s))
	require.NotEqual(t, a, addMesh(t, s, 4))
	w.Instantiate(b.Entity())
	require.NoError(t, s.Verify())
	require.Equal(t, b, addMesh(t, s, 3))
	w.Clear()
	require.NoError(t, s.Verify())
	require.Nil(t, b.Get(s))
	checkMesh(t, addMesh(t, s, 3).Get(s), 3)
	require.NoError(t, s.Verify())
}

// TestSweep: counts become what the world holds, in every kind of value.
func TestSweep(t *testing.T) {
	w := newWorld(t)
	s := newStore(t, w)
	type Link struct{ Of [2]ecs.Entity }
	shape := ecs.Register[Shape](w, ecs.Enableable)
	list := ecs.RegisterBuffer[Shape](w)
	sparse := ecs.RegisterSparse[Shape](w)
	shared := ecs.RegisterShared[Shape](w)
	chunk := ecs.RegisterChunk[Shape](w)
	link := ecs.Register[Link](w)
	all := make([]blob.Blob[Mesh], 8)
	for i := range all {
		all[i] = addMesh(t, s, i)
	}
	e := ecs.NewArchetype(w, shape, list, link).Create()
	f := ecs.NewArchetype(w, shape, ecs.Register[ecs.DisabledEntity](w), ecs.Register[ecs.Prefab](w)).Create()
	shape.Set(e, Shape{Mesh: all[0]})
	shape.Set(f, Shape{Mesh: all[0]})
	shape.Disable(e)
	list.Append(e, Shape{Mesh: all[1]}, Shape{Mesh: all[1]}, Shape{Mesh: all[0]}, Shape{})
	sparse.Add(e, Shape{Mesh: all[2]})
	sparse.Add(f, Shape{Mesh: all[2]})
	value := shared.Of(Shape{Mesh: all[3]})
	one := ecs.NewArchetype(w, value)
	_, err := one.CreateN(3)
	require.NoError(t, err)
	ecs.NewArchetype(w, value, link).Create()
	g := ecs.NewArchetype(w, chunk).Create()
	*chunk.Mut(g) = Shape{Mesh: all[4]}
	link.Set(e, Link{[2]ecs.Entity{all[5].Entity(), e}})
	require.NoError(t, s.Verify())

	require.Equal(t, 2, s.Sweep())
	require.NoError(t, s.Verify())
	want := []int{3, 2, 2, 1, 1, 1, 0, 0}
	for i, b := range all {
		require.Equal(t, want[i], b.Count(s), i)
	}
	require.Zero(t, s.Sweep())
	w.Destroy(e)
	require.Equal(t, 2, s.Sweep())
	require.Equal(t, 1, all[0].Count(s))
	require.NoError(t, s.Verify())
	for rows := range ecs.NewQuery(w, ecs.Read(shape), ecs.IncludeDisabled(), ecs.IncludePrefabs()).Rows() {
		_ = rows
		require.Panics(t, func() { s.Sweep() })
		require.Panics(t, func() { _, _ = blob.Add(s, buildMesh(44)) })
		require.NotPanics(t, func() { addMesh(t, s, 0) }, "it is there")
	}
	require.NoError(t, s.Verify())
	borrow := w.Lend()
	require.PanicsWithValue(t, "blob: Add: the world is lent", func() { _, _ = blob.Add(s, buildMesh(44)) })
	require.Panics(t, func() { s.Sweep() })
	checkMesh(t, all[0].Get(s), 0)
	borrow.End()
}

// TestNoRoom: a blob that finds no room leaves the world as it was.
func TestNoRoom(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, u.Close()) })
	w := newWorld(t, ecs.WithUniverse(u))
	s := newStore(t, w)
	kept := addMesh(t, s, 4)
	b := blob.NewBuilder[Curve]()
	blob.Allocate(b, &b.Root().Keys, 2<<20)
	for range 3 {
		c, err := blob.Add(s, b)
		var limit *ecs.LimitError
		require.ErrorAs(t, err, &limit)
		require.True(t, c.IsNull())
		require.NoError(t, s.Verify())
		require.NoError(t, w.Verify())
	}
	require.Equal(t, 1, kept.Count(s))
	n := 0
	for err == nil {
		n++
		b := blob.NewBuilder[Curve]()
		blob.Allocate(b, &b.Root().Keys, 20_000)[0] = float32(n)
		_, err = blob.Add(s, b)
	}
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.Greater(t, n, 10)
	require.NoError(t, s.Verify())
	require.Equal(t, n, s.Sweep()) // n-1, and kept
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(f))
		if err != nil {
			return err
		}
		defer u.Close()
		w, err := ecs.NewWorld(ecs.WithUniverse(u))
		if err != nil {
			return err
		}
		defer w.Close()
		s, err := blob.NewStore(w, blob.Type[Mesh]())
		if err != nil {
			return err
		}
		m, err := blob.Add(s, buildMesh(3))
		if err == nil && m.Get(s) == nil {
			return fmt.Errorf("it is not there")
		}
		if wrong := s.Verify(); wrong != nil {
			return wrong
		}
		return err
	}))
}
