package image_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/mmap"

	"github.com/stretchr/testify/require"
)

type (
	position struct{ X, Y float64 }
	velocity struct{ X, Y float64 }
	item     struct{ Kind, Count int32 }
	mark     struct{ N int64 }
)

// town is a world with rows, spilled buffers, sparse values and names.
type town struct {
	w        *ecs.World
	position ecs.Component[position]
	velocity ecs.Component[velocity]
	items    ecs.Buffer[item]
	mark     ecs.Sparse[mark]
	moving   *ecs.Query
}

func (m *town) register(w *ecs.World) {
	*m = town{w: w, position: ecs.Register[position](w), velocity: ecs.Register[velocity](w),
		items: ecs.RegisterBuffer[item](w), mark: ecs.RegisterSparse[mark](w)}
	m.moving = ecs.NewQuery(w, ecs.Write(m.position), ecs.Read(m.velocity))
}

// newTown returns a world of n entities of 40 bytes, and some with buffers and marks.
func newTown(t testing.TB, n int, options ...ecs.Option) *town {
	w, err := ecs.NewWorld(options...)
	require.NoError(t, err)
	var m town
	m.register(w)
	batch, err := ecs.NewArchetype(w, m.position, m.velocity).CreateN(n)
	require.NoError(t, err)
	i := 0
	for rows := range batch.Rows() {
		p, v := m.position.Slice(rows), m.velocity.Slice(rows)
		for k := range p {
			p[k], v[k] = position{float64(i), 1}, velocity{1, float64(i % 7)}
			i++
		}
	}
	some, err := ecs.NewArchetype(w, m.position, m.items).CreateN(min(n, 500))
	require.NoError(t, err)
	var list []ecs.Entity
	for rows := range some.Rows() {
		list = append(list, rows.Entities()...)
	}
	for k, e := range list {
		b, _ := m.items.Mut(e)
		b.Append(make([]item, k%60)...)
		m.mark.Add(e, mark{int64(k)})
		w.SetName(e, "one of many")
	}
	return &m
}

// step moves all that moves.
func (m *town) step() {
	for rows := range m.moving.Rows() {
		p, v := m.position.Slice(rows), m.velocity.ReadOnly(rows)
		for i := range p {
			p[i].X += v[i].X
			p[i].Y += v[i].Y
		}
	}
}

func (m *town) close(t testing.TB) { require.NoError(t, m.w.Close()) }

// opened opens a file.
func opened(t testing.TB, path string, options ...image.Option) *town {
	var m town
	w, err := image.Open(path, m.register, options...)
	require.NoError(t, err)
	require.Same(t, w, m.w)
	return &m
}

// TestOpen: a world that was saved is opened as it was, goes on as the saved one does, and never
// changes the file; nor does it matter what becomes of the name.
func TestOpen(t *testing.T) {
	m := newTown(t, 50_000)
	path := filepath.Join(t.TempDir(), "town.world")
	require.NoError(t, image.SaveFile(m.w, path))
	require.NoError(t, image.Check(path))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	o, twice := opened(t, path), opened(t, path, image.Checked())
	trusted, read := opened(t, path, image.Trusted()), opened(t, path, image.InMemory())
	for _, w := range []*town{o, twice, trusted, read} {
		require.NoError(t, w.w.Verify())
		require.Equal(t, m.w.Hash(), w.w.Hash())
	}
	m.step()
	o.step()
	require.Equal(t, m.w.Hash(), o.w.Hash())
	require.NotEqual(t, m.w.Hash(), twice.w.Hash())
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, now), "the file has changed")

	require.NoError(t, image.SaveFile(o.w, path), "over the file that it shows")
	third := opened(t, path)
	require.Equal(t, m.w.Hash(), third.w.Hash())
	require.NoError(t, twice.w.Verify())
	for _, w := range []*town{o, twice, trusted, read, third, m} {
		w.close(t)
	}
}

// TestOpenedMemoryIsUsedAgain: chunks of a file that are freed read zero where that is promised,
// not the file's bytes, whether their granule was given back or not.
func TestOpenedMemoryIsUsedAgain(t *testing.T) {
	m := newTown(t, 300_000)
	path := filepath.Join(t.TempDir(), "town.world")
	require.NoError(t, image.SaveFile(m.w, path))
	m.close(t)
	u, err := alloc.NewUniverse(alloc.Size(256 << 20))
	require.NoError(t, err)
	o := opened(t, path, image.Into(u))
	n := o.w.DestroyQuery(o.moving)
	require.Equal(t, 300_000, n)
	o.w.Trim()
	_, err = u.Trim(0)
	require.NoError(t, err)
	require.NoError(t, o.w.Verify())
	require.NoError(t, u.Verify())
	for {
		c, n, err := u.AllocZeroed(alloc.ChunksPerMegachunk)
		if err != nil {
			break
		}
		for i, b := range u.Bytes(c, n) {
			if b != 0 {
				t.Fatalf("byte %d of chunk %d is %d", i, c, b)
			}
		}
	}
}

// TestLoad: a stream holds a world, and what follows it stays.
func TestLoad(t *testing.T) {
	m := newTown(t, 10_000)
	var b bytes.Buffer
	s := m.w.Snapshot()
	require.NoError(t, image.Save(s, &b))
	m.step()
	var again bytes.Buffer
	require.NoError(t, image.Save(s, &again))
	require.True(t, bytes.Equal(b.Bytes(), again.Bytes()), "the snapshot is what was saved before")
	require.NoError(t, s.Verify())
	b.WriteString("what follows")
	var o town
	w, err := image.Load(&b, o.register)
	require.NoError(t, err)
	require.Equal(t, s.Hash(), w.Hash())
	require.Equal(t, "what follows", b.String())
	s.Close()
	m.close(t)
	o.close(t)
}

// TestOpenTakesMemory: an opened world holds its file committed and gives it back.
func TestOpenTakesMemory(t *testing.T) {
	if !mmap.Real {
		t.Skip("memory is Go's")
	}
	m := newTown(t, 100_000)
	path := filepath.Join(t.TempDir(), "town.world")
	require.NoError(t, image.SaveFile(m.w, path))
	m.close(t)
	before := alloc.ReadBudget().Committed
	o := opened(t, path)
	require.Greater(t, alloc.ReadBudget().Committed, before)
	o.close(t)
	require.Equal(t, before, alloc.ReadBudget().Committed)
}

// TestSavesOfOneWorldDifferInItsVersion: a snapshot is the same bytes each time; saves of a world
// in which nothing happened differ in the version and in three checksums that cover it, and make
// worlds with the same hash.
func TestSavesOfOneWorldDifferInItsVersion(t *testing.T) {
	m := newTown(t, 500)
	defer m.close(t)
	s := m.w.Snapshot()
	first, again := new(bytes.Buffer), new(bytes.Buffer)
	require.NoError(t, image.Save(s, first))
	require.NoError(t, image.Save(s, again))
	s.Close()
	require.True(t, bytes.Equal(first.Bytes(), again.Bytes()))
	version := m.w.Version()
	first.Reset()
	again.Reset()
	require.NoError(t, image.Save(m.w, first))
	require.Equal(t, version+1, m.w.Version())
	require.NoError(t, image.Save(m.w, again))
	require.Equal(t, first.Len(), again.Len())
	differ := 0
	for i, b := range first.Bytes() {
		if b != again.Bytes()[i] {
			differ++
		}
	}
	require.NotZero(t, differ)
	require.LessOrEqual(t, differ, 3*4+5, "three CRC-32C, and a version of up to 5 bytes")
	var hashes []uint64
	for _, file := range []*bytes.Buffer{first, again} {
		var o town
		w, err := image.Load(file, o.register)
		require.NoError(t, err)
		hashes = append(hashes, w.Hash())
		o.close(t)
	}
	require.Equal(t, hashes[0], hashes[1])
}

// TestEntityTextOutlivesTheWorld: the text and binary forms of an entity name it in the world that
// is made of the file of its world.
func TestEntityTextOutlivesTheWorld(t *testing.T) {
	m := newTown(t, 100)
	var e ecs.Entity
	for rows := range m.moving.Rows() {
		e = rows.Entities()[70]
		break
	}
	m.position.Set(e, position{123, 4})
	text, err := e.MarshalText()
	require.NoError(t, err)
	binary, err := e.MarshalBinary()
	require.NoError(t, err)
	file := new(bytes.Buffer)
	require.NoError(t, image.Save(m.w, file))
	m.close(t)
	var o town
	_, err = image.Load(file, o.register)
	require.NoError(t, err)
	defer o.close(t)
	var byText, byBinary ecs.Entity
	require.NoError(t, byText.UnmarshalText(text))
	require.NoError(t, byBinary.UnmarshalBinary(binary))
	for _, f := range []ecs.Entity{byText, byBinary} {
		require.Equal(t, position{123, 4}, *o.position.Get(f))
	}
}
