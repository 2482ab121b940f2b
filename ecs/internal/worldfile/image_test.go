package worldfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/world"
	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

type (
	imageMood  struct{ Level int32 }
	imageZone  struct{ X, Y int32 }
	imageAge   struct{ Years uint16 }
	imageTrait struct{ Of ecs.Entity }
	imageSum   struct{ Total int64 }
	imageFlag  struct{}
)

// imaged is a world with types of all kinds that files have.
type imaged struct {
	w        *ecs.World
	position ecs.Component[ecstest.Position]
	owner    ecs.Component[ecstest.Owner]
	mood     ecs.Component[imageMood] // can be disabled
	age      ecs.Component[imageAge]  // rows have versions
	flag     ecs.Component[imageFlag]
	hits     ecs.Buffer[ecstest.Hit]
	zone     ecs.Shared[imageZone]
	text     ecs.Shared[string]
	trait    ecs.Sparse[imageTrait]
	sum      ecs.Chunk[imageSum]
}

// register registers the types, the other way round if back is set.
func (m *imaged) register(w *ecs.World, back bool) {
	m.w = w
	steps := []func(){
		func() { m.position = ecs.Register[ecstest.Position](w) },
		func() { m.owner = ecs.Register[ecstest.Owner](w, ecs.Cleanup) },
		func() { m.mood = ecs.Register[imageMood](w, ecs.Enableable) },
		func() { m.age = ecs.Register[imageAge](w, ecs.TrackRows) },
		func() { m.flag = ecs.Register[imageFlag](w) },
		func() { m.hits = ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(2)) },
		func() { m.zone = ecs.RegisterShared[imageZone](w) },
		func() { m.text = ecs.RegisterShared[string](w) },
		func() { m.trait = ecs.RegisterSparse[imageTrait](w, ecs.Enableable) },
		func() { m.sum = ecs.RegisterChunk[imageSum](w) },
	}
	for i := range steps {
		if back {
			i = len(steps) - 1 - i
		}
		steps[i]()
	}
}

// populate makes n entities of each of some archetypes, and destroys every fifth.
func (m *imaged) populate(t testing.TB, n int) (all []ecs.Entity) {
	kinds := []*ecs.Archetype{
		ecs.NewArchetype(m.w, m.position, m.owner, m.mood),
		ecs.NewArchetype(m.w, m.position, m.age, m.hits),
		ecs.NewArchetype(m.w, m.age, m.mood, m.hits, m.zone.Of(imageZone{1, 2}), m.sum),
		ecs.NewArchetype(m.w, m.flag, m.text.Of("a text"), m.zone.Of(imageZone{3, 4})),
		ecs.NewArchetype(m.w, m.flag),
	}
	for k, a := range kinds {
		batch, err := a.CreateN(n)
		require.NoError(t, err)
		for rows := range batch.Rows() {
			all = append(all, rows.Entities()...)
		}
		m.w.SetName(all[len(all)-1], fmt.Sprint("last of ", k))
		m.w.SetName(all[len(all)-2], "second")
	}
	for i, e := range all {
		m.position.Set(e, ecstest.Position{X: float64(i), Y: 1})
		m.owner.Set(e, ecstest.Owner{Of: all[len(all)-1-i]})
		if i%3 == 0 {
			m.mood.Disable(e)
		}
		if b, ok := m.hits.Mut(e); ok {
			for k := range i % 7 {
				b.Append(ecstest.Hit{By: e, Damage: int32(k)})
			}
		}
		if i%4 == 0 {
			m.trait.Add(e, imageTrait{all[i/2]})
		}
	}
	for i := 0; i < len(all); i += 5 {
		m.w.Destroy(all[i])
	}
	m.w.Advance()
	for i := 1; i < len(all); i += 9 {
		m.age.Set(all[i], imageAge{uint16(i)})
	}
	return all
}

// imageFile returns a file of a world with n entities of each of its archetypes.
func imageFile(t testing.TB, n int) *worldfile.File {
	var m imaged
	m.register(ecstest.NewWorld(t), false)
	m.populate(t, n)
	s := m.w.Snapshot()
	defer s.Close()
	return ecstest.NewFile(t, s)
}

// opened opens an image, whose types are registered the other way round if back is set.
func opened(t testing.TB, f *worldfile.File, back bool, options ...ecs.Option) *imaged {
	var m imaged
	w, err := door.OpenImage(f, func(w *ecs.World) { m.register(w, back) }, options)
	require.NoError(t, err)
	require.Same(t, w, m.w)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return &m
}

// TestImageIsTheWorld: a world that comes from an image has the hash of the one that was written,
// the same versions and the same next ids, in whatever order its types are registered, and both do
// the same from then on.
func TestImageIsTheWorld(t *testing.T) {
	for _, n := range []int{0, 1, 7, 300, 20_000} {
		for _, back := range []bool{false, true} {
			t.Run(fmt.Sprint("n=", n, "/back=", back), func(t *testing.T) {
				var m imaged
				m.register(ecstest.NewWorld(t), false)
				worlds := world.Tags.Open()
				all := m.populate(t, max(2, n))
				if n == 0 {
					for _, e := range all {
						m.w.Destroy(e)
						m.owner.Remove(e)
					}
				}
				s := m.w.Snapshot()
				want := s.Hash()
				o := opened(t, ecstest.NewFile(t, s), back)
				require.NoError(t, o.w.Verify())
				require.Equal(t, want, o.w.Hash())
				require.Equal(t, m.w.Version(), o.w.Version())
				for _, e := range all {
					require.Equal(t, m.w.Alive(e), o.w.Alive(e))
					require.Equal(t, m.position.Get(e), o.position.Get(e))
					require.Equal(t, m.owner.Get(e), o.owner.Get(e))
					require.Equal(t, m.trait.Get(e), o.trait.Get(e))
					require.Equal(t, m.mood.Enabled(e), o.mood.Enabled(e))
					require.Equal(t, m.w.Name(e), o.w.Name(e))
					here, ok := m.hits.Get(e)
					there, okThere := o.hits.Get(e)
					require.Equal(t, ok, okThere)
					if ok {
						require.Equal(t, here.Slice(), there.Slice())
					}
				}
				a, _ := m.w.Named("second")
				b, _ := o.w.Named("second")
				require.Equal(t, a, b)
				require.Equal(t, m.changedSince(s.Version()-1), o.changedSince(s.Version()-1))
				for _, w := range []*imaged{&m, o} {
					w.goOn(t, all)
				}
				require.NoError(t, o.w.Verify())
				if !back {
					require.Equal(t, m.w.Hash(), o.w.Hash())
				}
				s.Close()
				require.NoError(t, o.w.Close())
				require.Equal(t, worlds, world.Tags.Open())
			})
		}
	}
}

// changedSince returns how many rows are in chunks in which each of some types changed after a
// version.
func (m *imaged) changedSince(version uint32) (n []int) {
	for _, c := range []ecs.Term{ecs.Changed(m.position), ecs.Changed(m.owner), ecs.Changed(m.age),
		ecs.Changed(m.mood)} {
		q := ecs.NewQuery(m.w, c)
		q.SetSince(version)
		n = append(n, q.Count())
		q.Close()
	}
	return n
}

// goOn does something of everything.
func (m *imaged) goOn(t testing.TB, all []ecs.Entity) {
	m.change(t, all)
	require.NoError(t, m.w.Verify())
}

func (m *imaged) change(t testing.TB, all []ecs.Entity) {
	m.populate(t, 50)
	for i, e := range all {
		if !m.w.Alive(e) {
			continue
		}
		switch i % 6 {
		case 0:
			m.w.Destroy(e)
			m.owner.Remove(e)
		case 1:
			m.flag.Add(e, imageFlag{})
		case 2:
			if b, ok := m.hits.Mut(e); ok {
				b.Append(make([]ecstest.Hit, 9)...)
			}
		case 3:
			m.trait.Remove(e)
			m.mood.Enable(e)
		case 4:
			if b, ok := m.hits.Mut(e); ok {
				b.Clear()
			}
		}
	}
	m.w.Shrink(time.Hour)
}

// TestImageOfAnOpenedWorld: a world that came from an image is snapshotted, restored, forked and
// written again as any other, with blocks of buffers that came with it and new ones; in a universe
// of others too.
func TestImageOfAnOpenedWorld(t *testing.T) {
	var m imaged
	m.register(ecstest.NewWorld(t), false)
	all := m.populate(t, 300)
	s := m.w.Snapshot()
	f := ecstest.NewFile(t, s)
	u, err := alloc.NewUniverse(alloc.Size(256 << 20))
	require.NoError(t, err)
	other, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	ecs.NewArchetype(other, ecs.Register[ecstest.Position](other)).CreateN(100_000)
	o := opened(t, f, false, ecs.WithUniverse(u))
	require.Equal(t, s.Hash(), o.w.Hash())
	require.NoError(t, o.w.Verify())

	then := o.w.Snapshot()
	again := opened(t, ecstest.NewFile(t, then), false, ecs.WithUniverse(u))
	require.Equal(t, s.Hash(), again.w.Hash())
	fork, err := then.Fork(ecs.WithUniverse(u))
	require.NoError(t, err)
	require.Equal(t, s.Hash(), fork.Hash())
	o.goOn(t, all)
	changed := o.w.Hash()
	require.NotEqual(t, s.Hash(), changed)
	require.Equal(t, s.Hash(), then.Hash())
	require.NoError(t, then.Verify())
	now := o.w.Snapshot()
	d, err := ecs.Diff(then, now)
	require.NoError(t, err)
	var delta bytes.Buffer
	require.NoError(t, ecs.EncodeDelta(&delta, d))
	require.NoError(t, again.w.ApplyDelta(&delta))
	require.Equal(t, changed, again.w.Hash())
	third := opened(t, ecstest.NewFile(t, now), false, ecs.WithUniverse(u))
	require.Equal(t, changed, third.w.Hash())
	require.NoError(t, o.w.Restore(then))
	require.Equal(t, s.Hash(), o.w.Hash())
	require.NoError(t, o.w.Verify())
	require.NoError(t, o.w.Restore(now))
	require.Equal(t, changed, o.w.Hash())
	now.Close()
	then.Close()
	o.goOn(t, all)
	for _, w := range []*ecs.World{o.w, again.w, third.w, fork, other} {
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
	}
	require.Zero(t, u.Stats().LiveChunks, "all chunks of the file are free")
	require.NoError(t, u.Close())
}

// TestImagesOfOneStateAreEqual: the same state makes the same bytes, whatever lies in rows that are
// gone.
func TestImagesOfOneStateAreEqual(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	require.NoError(t, err)
	const n = 10 // megachunks of memory that has been used
	var runs [n]alloc.ChunkIndex
	for i := range runs {
		runs[i], err = u.AllocExact(alloc.ChunksPerMegachunk)
		require.NoError(t, err)
	}
	for _, at := range runs {
		for k := range u.Bytes(at, alloc.ChunksPerMegachunk) {
			u.Bytes(at, alloc.ChunksPerMegachunk)[k] = byte(k | 1)
		}
		u.Free(at, alloc.ChunksPerMegachunk)
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(w.Close(), u.Close())) })
	var m imaged
	m.register(w, false)
	all := m.populate(t, 500)
	s := m.w.Snapshot()
	f := ecstest.NewFile(t, s)
	m.goOn(t, all)
	later := ecstest.NewFile(t, s)
	require.Equal(t, f.Meta, later.Meta)
	require.Equal(t, f.Size, later.Size)
	for part, size := range f.Size {
		a, b := make([]byte, size), make([]byte, size)
		require.NoError(t, f.Read(part, 0, a))
		require.NoError(t, later.Read(part, 0, b))
		require.True(t, bytes.Equal(a, b), "part %d", part)
	}
	o := opened(t, later, false)
	require.Equal(t, s.Hash(), o.w.Hash())
	again := o.w.Snapshot()
	twice := ecstest.NewFile(t, again)
	require.Equal(t, f.Size, twice.Size)
	a, b := make([]byte, f.Size[0]), make([]byte, f.Size[0])
	require.NoError(t, f.Read(0, 0, a))
	require.NoError(t, twice.Read(0, 0, b))
	require.True(t, bytes.Equal(a, b), "rows of a world that was opened")
	var clean imaged
	clean.register(ecstest.NewWorld(t), false)
	clean.populate(t, 500)
	fresh := ecstest.NewFile(t, clean.w.Snapshot())
	require.NoError(t, fresh.Read(0, 0, b))
	for i := range a {
		if (a[i]^b[i])&^0x78 != 0 { // but for tags, in bits 27 to 30 of an entity
			t.Fatalf("byte %d is %#x in used memory, %#x in fresh", i, a[i], b[i])
		}
	}
}

// TestBlocksOfAFileEnd: when the last buffer with a block of a file has ended, the chunks can be
// allocated again, and no buffer has their blocks from then on.
func TestBlocksOfAFileEnd(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(8 << 20))
	require.NoError(t, err)
	var m imaged
	m.register(ecstest.NewWorld(t), false)
	m.populate(t, 400)
	o := opened(t, ecstest.NewFile(t, m.w.Snapshot()), false, ecs.WithUniverse(u))
	live := u.Stats().LiveChunks
	all := ecs.NewQueryOfAll(o.w)
	o.w.DestroyQuery(all)
	require.Less(t, u.Stats().LiveChunks, live)
	batch, err := ecs.NewArchetype(o.w, o.hits).CreateN(500)
	require.NoError(t, err)
	list := batch.Entities(nil)
	for range 3 {
		for _, e := range list {
			b, _ := o.hits.Mut(e)
			b.Append(make([]ecstest.Hit, 20)...)
		}
		for _, e := range list {
			b, _ := o.hits.Mut(e)
			b.Clear()
		}
		o.w.Shrink(time.Hour)
	}
	require.NoError(t, o.w.Verify())
	require.NoError(t, o.w.Close())
	require.Zero(t, u.Stats().LiveChunks)
	require.NoError(t, u.Close())
}

// TestImageWhileFramesGoOn: a goroutine makes and reads images while the owner changes everything.
func TestImageWhileFramesGoOn(t *testing.T) {
	var m imaged
	m.register(ecstest.NewWorld(t), false)
	all := m.populate(t, 300)
	for range 3 {
		s := m.w.Snapshot()
		want := s.Hash()
		got := make(chan *worldfile.File)
		go func() { got <- ecstest.NewFile(t, s) }()
		m.goOn(t, all)
		ecs.Register[imageLate](m.w)
		f := <-got
		o := opened(t, f, false)
		require.Equal(t, want, o.w.Hash())
		require.NoError(t, o.w.Close())
		s.Close()
	}
}

type imageLate struct{ A [3]byte }

// TestImageRefuses: what cannot be written or does not fit the program is refused by name.
func TestImageRefuses(t *testing.T) {
	w := ecstest.NewWorld(t)
	conn := ecs.RegisterManaged[string](w)
	none := ecs.NewArchetype(w, conn)
	s := w.Snapshot()
	im, err := door.ImageOf(s)
	require.NoError(t, err, "no row has a managed value")
	require.PanicsWithValue(t, "ecs: Snapshot.Close: 1 goroutines are reading the snapshot", s.Close)
	im.Close()
	none.Create()
	s.Renew()
	_, err = door.ImageOf(s)
	require.EqualError(t, err,
		"values of managed string cannot be written: it has no codec: register it with ecs.Codec, or make it an encoding.BinaryMarshaler and BinaryUnmarshaler")
	s.Close()
	w = ecstest.NewWorld(t)
	pointer := ecs.RegisterShared[*int](w)
	ecs.NewArchetype(w, pointer.Of(new(int)))
	s = w.Snapshot()
	_, err = door.ImageOf(s)
	require.EqualError(t, err,
		"a value of the shared type *int cannot be written: it has no codec: register it with ecs.Codec, or make it an encoding.BinaryMarshaler and BinaryUnmarshaler")
	s.Close()

	var m imaged
	m.register(ecstest.NewWorld(t), false)
	m.populate(t, 10)
	f := ecstest.NewFile(t, m.w.Snapshot())
	for why, register := range map[string]func(w *ecs.World){
		"Position is not registered": func(w *ecs.World) {},
		"the component type quarry/ecs/internal/worldfile_test.imageMood is not registered": func(w *ecs.World) {
			ecs.Register[ecstest.Position](w)
			ecs.Register[ecstest.Owner](w)
		},
	} {
		worlds := world.Tags.Open()
		_, err := door.OpenImage(f, register, nil)
		require.ErrorContains(t, err, why)
		require.Equal(t, worlds, world.Tags.Open())
	}
	require.Panics(t, func() {
		_, _ = door.OpenImage(f, func(w *ecs.World) { ecs.NewArchetype(w).Create() }, nil)
	})
}
