package worldfile_test

import (
	"encoding/binary"
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

// note has a codec by its option: a text and a list, and the number of the note that it follows.
type note struct {
	Text  string
	Marks []int32
	After *note
}

func encodeNote(b []byte, n *note) ([]byte, error) {
	if n.Text == "bad" {
		return nil, errors.New("a bad note")
	}
	b = binary.AppendUvarint(b, uint64(len(n.Text)))
	b = append(b, n.Text...)
	for _, m := range n.Marks {
		b = binary.LittleEndian.AppendUint32(b, uint32(m))
	}
	return b, nil
}

func decodeNote(b []byte, n *note) error {
	size, k := binary.Uvarint(b)
	b = b[k:]
	n.Text = string(b[:size]) // which panics for other bytes
	for b = b[size:]; len(b) > 0; b = b[4:] {
		n.Marks = append(n.Marks, int32(binary.LittleEndian.Uint32(b)))
	}
	return nil
}

// stamped has a codec by methods, of the pointer.
type stamped struct{ at time.Time }

func (s stamped) AppendBinary(b []byte) ([]byte, error) { return s.at.UTC().AppendBinary(b) }
func (s *stamped) UnmarshalBinary(b []byte) error       { return s.at.UnmarshalBinary(b) }

// flag is a shared type with a pointer and no methods.
type flag struct{ of *note }

// library is a world with managed types, and shared ones with codecs.
type library struct {
	w     *ecs.World
	shelf ecs.Component[imageAge]
	book  ecs.Buffer[ecstest.Hit]
	note  ecs.Managed[note]
	stamp ecs.Managed[stamped]
	link  ecs.Managed[*stamped]
	day   ecs.Shared[stamped]
	flag  ecs.Shared[flag]
}

// register registers the types, of which note has a copy function if copies is set.
func (m *library) register(w *ecs.World, copies bool) {
	m.w = w
	options := []ecs.TypeOption{ecs.Codec(encodeNote, decodeNote), ecs.Enableable, ecs.TrackRows}
	if copies {
		options = append(options, ecs.CopyWith(func(from *note) note { return *from }))
	}
	m.link, m.stamp = ecs.RegisterManaged[*stamped](w), ecs.RegisterManaged[stamped](w)
	m.note = ecs.RegisterManaged[note](w, options...)
	m.shelf, m.book = ecs.Register[imageAge](w), ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))
	m.day = ecs.RegisterShared[stamped](w)
	m.flag = ecs.RegisterShared[flag](w, ecs.Codec(
		func(b []byte, f *flag) ([]byte, error) { return append(b, f.of.Text...), nil },
		func(b []byte, f *flag) error { f.of = &note{Text: string(b)}; return nil }))
}

var noon = stamped{time.Date(2024, 2, 29, 12, 0, 0, 7, time.UTC)}

// populate makes n entities of each of three archetypes, and ends every third.
func (m *library) populate(t testing.TB, n int) (all []ecs.Entity) {
	for _, a := range []*ecs.Archetype{
		ecs.NewArchetype(m.w, m.note, m.shelf),
		ecs.NewArchetype(m.w, m.stamp, m.note, m.book, m.day.Of(noon)),
		ecs.NewArchetype(m.w, m.link, m.stamp, m.flag.Of(flag{&note{Text: "red"}})),
	} {
		batch, err := a.CreateN(n)
		require.NoError(t, err)
		all = append(all, batch.Entities(nil)...)
	}
	for i, e := range all {
		if i%4 != 0 {
			m.note.Set(e, note{Text: fmt.Sprint("note ", i), Marks: make([]int32, i%5)})
			m.stamp.Set(e, stamped{noon.at.Add(time.Duration(i))})
		}
		if i%5 == 1 {
			m.link.Set(e, &stamped{noon.at.Add(-time.Duration(i))})
		} else if i%5 == 2 {
			m.link.Set(e, nil) // a value that is nil, where others have none
		}
		if i%7 == 0 {
			m.note.Disable(e)
		}
		if b, ok := m.book.Mut(e); ok {
			b.Resize(i % 9)
		}
	}
	for i := 0; i < len(all); i += 3 {
		m.w.Destroy(all[i])
	}
	return all
}

// same requires that two worlds have the same values.
func (m *library) same(t testing.TB, o *library, all []ecs.Entity) {
	require.NoError(t, o.w.Verify())
	for _, e := range all {
		require.Equal(t, m.w.Alive(e), o.w.Alive(e))
		require.Equal(t, m.note.Enabled(e), o.note.Enabled(e))
		for _, pair := range [][2]any{
			{m.note.Get(e), o.note.Get(e)},
			{m.stamp.Get(e), o.stamp.Get(e)},
			{m.link.Get(e), o.link.Get(e)},
		} {
			if n, ok := pair[0].(*note); ok && n != nil && len(n.Marks) == 0 {
				require.Equal(t, n.Text, pair[1].(*note).Text)
				require.Empty(t, pair[1].(*note).Marks)
				continue
			}
			require.Equal(t, pair[0], pair[1])
		}
		here, ok := m.day.Get(e)
		there, okThere := o.day.Get(e)
		require.Equal(t, []any{here, ok}, []any{there, okThere})
		red, ok := m.flag.Get(e)
		again, okAgain := o.flag.Get(e)
		require.Equal(t, ok, okAgain)
		require.Equal(t, red.of, again.of)
	}
}

// imageOfWorld returns the image of a world as a file.
func imageOfWorld(t testing.TB, w *ecs.World) *worldfile.File {
	im, err := door.ImageOfWorld(w)
	require.NoError(t, err)
	defer im.Close()
	return ecstest.FileOf(t, im)
}

func (m *library) opened(t testing.TB, f *worldfile.File, copies bool, options ...ecs.Option) *library {
	var o library
	w, err := door.OpenImage(f, func(w *ecs.World) { o.register(w, copies) }, options)
	require.NoError(t, err)
	require.Same(t, w, o.w)
	return &o
}

// TestManagedValuesInImages: values of managed types, shared values with pointers and rows without
// a value come back, the same state makes the same bytes, and the opened world goes on.
func TestManagedValuesInImages(t *testing.T) {
	for _, n := range []int{0, 1, 9, 400, 9000} {
		for _, copies := range []bool{false, true} {
			t.Run(fmt.Sprint("n=", n, "/copies=", copies), func(t *testing.T) {
				var m library
				m.register(ecstest.NewWorld(t), copies)
				all := m.populate(t, max(n, 1))
				if n == 0 {
					for _, e := range all {
						m.w.Destroy(e)
					}
				}
				f := imageOfWorld(t, m.w)
				o := m.opened(t, f, copies)
				defer func() { require.NoError(t, o.w.Close()) }()
				m.same(t, o, all)
				require.Equal(t, f.Meta[worldfile.ImageManaged], imageOfWorld(t, o.w).Meta[worldfile.ImageManaged])

				then := o.w.Snapshot()
				if n > 1 {
					_, err := door.ImageOf(then)
					require.ErrorContains(t, err,
						"cannot be written: a snapshot has none of them: register it with ecs.CopyWith, or save the world")
				}
				then.Close()
				clone, err := o.w.Clone()
				require.NoError(t, err)
				require.NoError(t, clone.Verify())
				require.NoError(t, clone.Close())
				for _, w := range []*library{&m, o} {
					w.w.Destroy(all[len(all)-1])
					w.w.Destroy(all[1])
					w.populate(t, 40)
				}
				m.same(t, o, all)
				require.Equal(t, m.w.Hash(), o.w.Hash())
			})
		}
	}
}

// TestCodecFails: an error or a panic of a codec, in either direction, names the type and the
// entity; nothing is written, no world is left, the world that was saved is as before.
func TestCodecFails(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	require.NoError(t, err)
	fail := "" // what the codec does
	step := func() error {
		switch fail {
		case "error":
			return errTest
		case "panic":
			panic("broken")
		case "panic of an error":
			panic(errTest)
		}
		return nil
	}
	options := func(at *int) ecs.TypeOption {
		return ecs.Codec(func(b []byte, n *note) ([]byte, error) {
			if n.Text == "third" {
				return b, step()
			}
			return encodeNote(b, n)
		}, func(b []byte, n *note) error {
			if *at++; *at == 3 {
				return step()
			}
			return decodeNote(b, n)
		})
	}
	w := ecstest.NewWorld(t)
	decoded := 0
	notes := ecs.RegisterManaged[note](w, options(&decoded))
	batch, err := ecs.NewArchetype(w, notes).CreateN(5)
	require.NoError(t, err)
	list := batch.Entities(nil)
	for i, text := range []string{"first", "second", "third", "fourth"} {
		notes.Set(list[i], note{Text: text})
	}
	f := imageOfWorld(t, w)
	hash, worlds := w.Hash(), world.Tags.Open()
	for kind, says := range map[string]string{
		"error": ": " + errTest.Error(), "panic": ": its codec panics: broken", "panic of an error": ": its codec panics: " + errTest.Error(),
	} {
		fail = kind
		_, err := door.ImageOfWorld(w)
		require.EqualError(t, err, fmt.Sprintf("the value of managed note of %v cannot be written%s", list[2], says))
		require.Equal(t, kind != "panic", errors.Is(err, errTest))
		require.Equal(t, hash, w.Hash())
		require.NoError(t, w.Verify())
		w.Snapshot().Close()

		decoded = 0
		_, err = door.OpenImage(f, func(w *ecs.World) { ecs.RegisterManaged[note](w, options(&decoded)) }, []ecs.Option{
			ecs.WithUniverse(u),
		})
		require.EqualError(t, err, fmt.Sprintf("%v: section managed values: the value of managed note of %v%s",
			worldfile.ErrImage, list[2], says))
		require.ErrorIs(t, err, worldfile.ErrImage)
		require.Zero(t, u.Stats().LiveChunks)
		require.Equal(t, worlds, world.Tags.Open())
	}
	bare := func(w *ecs.World) { ecs.RegisterManaged[note](w) }
	_, err = door.OpenImage(f, bare, nil)
	require.ErrorIs(t, err, worldfile.ErrImageTypes)
	require.ErrorContains(t, err, "values of managed note are in the file: it has no codec")
	plans, err := door.PlanImage(f, bare)
	require.NoError(t, err)
	require.ErrorIs(t, plans[len(plans)-1].Err, worldfile.ErrImageTypes)
	fail, decoded = "", 0
	o, err := door.OpenImage(f, func(w *ecs.World) { ecs.RegisterManaged[note](w, options(&decoded)) }, nil)
	require.NoError(t, err)
	require.NoError(t, o.Close())
	require.NoError(t, u.Close())
}

var errTest = errors.New("refused by the test")

// TestManagedValuesOfSnapshots: a snapshot has the values of then in a file, and a world that was
// opened is forked and restored like any other.
func TestManagedValuesOfSnapshots(t *testing.T) {
	register := func(w *ecs.World) ecs.Managed[note] {
		return ecs.RegisterManaged[note](w, ecs.Codec(encodeNote, decodeNote),
			ecs.CopyWith(func(n *note) note { return *n }))
	}
	w := ecstest.NewWorld(t)
	notes := register(w)
	batch, err := ecs.NewArchetype(w, notes).CreateN(100)
	require.NoError(t, err)
	list := batch.Entities(nil)
	notes.Set(list[3], note{Text: "then"})
	notes.Set(list[90], note{Text: "then too"})
	s := w.Snapshot()
	defer s.Close()
	notes.Mut(list[3]).Text = "now"
	w.Destroy(list[90])
	notes.Set(list[0], note{Text: "new"})
	f := ecstest.NewFile(t, s)
	var there ecs.Managed[note]
	o, err := door.OpenImage(f, func(w *ecs.World) { there = register(w) }, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, o.Close()) })
	check := func() {
		require.Equal(t, "then", there.Get(list[3]).Text)
		require.Equal(t, "then too", there.Get(list[90]).Text)
		require.Nil(t, there.Get(list[0]))
		require.NoError(t, o.Verify())
	}
	check()
	then := o.Snapshot()
	defer then.Close()
	fork, err := then.Fork()
	require.NoError(t, err)
	require.NoError(t, fork.Verify())
	require.NoError(t, fork.Close())
	there.Set(list[3], note{Text: "later"})
	there.Set(list[0], note{})
	o.Destroy(list[90])
	require.NoError(t, o.Restore(then))
	check()
}

// TestDamagedManagedValues: with any byte of the section, or of a row, flipped, the file is
// refused, or the world is sound; nothing is left of what was refused.
func TestDamagedManagedValues(t *testing.T) {
	var m library
	m.register(ecstest.NewWorld(t), false)
	m.populate(t, 12)
	f := imageOfWorld(t, m.w)
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	require.NoError(t, err)
	whole := f.Meta[worldfile.ImageManaged]
	worlds, refused, opened := world.Tags.Open(), 0, 0
	attempt := func(f *worldfile.File) {
		var o library
		w, err := door.OpenImage(f, func(w *ecs.World) { o.register(w, false) }, []ecs.Option{ecs.WithUniverse(u)})
		if err != nil {
			refused++
			require.ErrorIs(t, err, worldfile.ErrImage)
			return
		}
		opened++
		for _, e := range m.all() {
			if n := o.note.Get(e); n != nil {
				require.LessOrEqual(t, len(n.Marks), len(whole))
			}
		}
		require.NoError(t, w.Close())
	}
	for at := range whole {
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := *f
			bad.Meta[worldfile.ImageManaged] = append([]byte(nil), whole...)
			bad.Meta[worldfile.ImageManaged][at] ^= flip
			attempt(&bad)
		}
		bad := *f
		bad.Meta[worldfile.ImageManaged] = whole[:at]
		before := refused
		attempt(&bad)
		require.Equal(t, before+1, refused, "cut at %d", at)
	}
	rows := make([]byte, f.Size[worldfile.ImageRows])
	require.NoError(t, f.Read(worldfile.ImageRows, 0, rows))
	for at, b := range rows {
		if b == 0 && at%509 != 0 || testing.Short() && at%3 != 0 {
			continue
		}
		bad := *f
		bad.Read = func(part, from int, dst []byte) error {
			err := f.Read(part, from, dst)
			if part == worldfile.ImageRows && at >= from && at < from+len(dst) {
				dst[at-from] ^= 3
			}
			return err
		}
		if b == 0 && at > 64<<10 {
			break
		}
		attempt(&bad)
	}
	require.Positive(t, opened)
	require.Greater(t, refused, len(whole))
	require.Equal(t, worlds, world.Tags.Open())
	require.Zero(t, u.Stats().LiveChunks)
	require.NoError(t, u.Close())
}

// all returns the entities of the world.
func (m *library) all() (list []ecs.Entity) {
	q := ecs.NewQueryOfAll(m.w)
	defer q.Close()
	for rows := range q.Rows() {
		list = append(list, rows.Entities()...)
	}
	return list
}
