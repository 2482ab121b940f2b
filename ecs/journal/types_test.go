package journal_test

import (
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/journal"

	"github.com/stretchr/testify/require"
)

// Types of a journal as an older program had them; registerNewTown registers the newer ones.
type (
	oldHouse struct {
		Rooms int16
		At    [2]float32
		Owner ecs.Entity
	}
	newHouse struct {
		Owner  ecs.Entity
		Floors int8
		Rooms  int32
		Place  [2]float32
	}
	oldLamp struct{ Watts uint8 }
	newLamp struct{ Watts uint32 }
	oldWard struct {
		Name string
		Head ecs.Entity
	}
	newWard struct {
		Head  ecs.Entity
		Name  string
		Ratio float64
	}
	oldGuest struct{ Nights int8 }
	newGuest struct{ Nights int64 }
	heads    struct {
		List [2]struct{ E ecs.Entity }
	}
)

// townRules are for files of the older one.
func townRules() []image.Option {
	return []image.Option{
		image.Renamed("oldHouse", "House"), image.Renamed("House", "newHouse"),
		image.RenamedField("House", "At", "Place"),
		image.Renamed("oldLamp", "newLamp"), image.Renamed("oldWard", "newWard"), image.Renamed("oldGuest", "newGuest"),
		image.Drop("heads"),
	}
}

func registerNewTown(w *ecs.World) {
	ecs.RegisterSparse[newGuest](w)
	ecs.Register[newHouse](w, ecs.Enableable)
	ecs.RegisterShared[newWard](w)
	ecs.RegisterBuffer[newLamp](w, ecs.Inline(1))
	ecs.RegisterChunk[int64](w)
}

// oldTown is the world of the older program.
type oldTown struct {
	w     *ecs.World
	house ecs.Component[oldHouse]
	lamps ecs.Buffer[oldLamp]
	ward  ecs.Shared[oldWard]
	guest ecs.Sparse[oldGuest]
	heads ecs.Component[heads]
	sum   ecs.Chunk[int64]
	all   []ecs.Entity
}

func (m *oldTown) register(w *ecs.World) {
	*m = oldTown{w: w, house: ecs.Register[oldHouse](w, ecs.Enableable), lamps: ecs.RegisterBuffer[oldLamp](w,
		ecs.Inline(2)), ward: ecs.RegisterShared[oldWard](w),
		guest: ecs.RegisterSparse[oldGuest](w), heads: ecs.Register[heads](w), sum: ecs.RegisterChunk[int64](w)}
}

// frame changes something of everything.
func (m *oldTown) frame(t *testing.T, number int) {
	var head ecs.Entity
	if len(m.all) > 0 {
		head = m.all[number]
	}
	for i, a := range []*ecs.Archetype{
		ecs.NewArchetype(m.w, m.house, m.lamps, m.sum, m.ward.Of(oldWard{[]string{"north", "south"}[number%2], head})),
		ecs.NewArchetype(m.w, m.house, m.heads), ecs.NewArchetype(m.w, m.lamps),
	} {
		batch, err := a.CreateN(100 + i)
		require.NoError(t, err)
		m.all = append(m.all, batch.Entities(nil)...)
	}
	for i, e := range m.all {
		if !m.w.Alive(e) || (i+number)%7 > 2 {
			continue
		}
		switch (i + number) % 20 {
		case 0:
			m.w.Destroy(e)
			continue
		case 1:
			m.w.SetName(e, []string{"", "inn"}[i%2])
		case 2:
			m.guest.Add(e, oldGuest{int8(-number)})
		case 3:
			m.house.Disable(e)
		}
		m.house.Set(e, oldHouse{int16(i - 50), [2]float32{float32(number), 0.5}, m.all[i/2]})
		m.lamps.Append(e, oldLamp{uint8(i)}, oldLamp{200})
	}
}

// TestJournalUpgrade: a journal that an older program left, with records of any state behind its
// base, opens in a program whose types have changed. The world is that of a file which the older
// program saved, and a new base has the new types.
func TestJournalUpgrade(t *testing.T) {
	for _, frames := range []int{0, 1, 5} {
		folder, file := filepath.Join(t.TempDir(), "town"), filepath.Join(t.TempDir(), "town.world")
		var m oldTown
		j, err := journal.Open(folder, m.register)
		require.NoError(t, err)
		require.True(t, j.Opened().New)
		for number := range frames {
			m.frame(t, number)
			require.NoError(t, j.Commit())
			require.NoError(t, j.Sync())
			require.Zero(t, j.Status().Base, "all frames are records")
		}
		require.NoError(t, image.SaveFile(m.w, file))
		require.NoError(t, j.Close())
		require.NoError(t, m.w.Close())

		want, err := image.Open(file, registerNewTown, townRules()...)
		require.NoError(t, err)
		j, err = journal.Open(folder, registerNewTown, journal.Base(townRules()...))
		require.NoError(t, err)
		w := j.World()
		require.NoError(t, w.Verify())
		require.Equal(t, want.Hash(), w.Hash())
		require.Equal(t, journal.Opened{
			Base: uint64(frames) + 1, Records: frames, Commit: uint64(frames) + 1, Converted: true,
		}, j.Opened())
		require.EqualValues(t, frames+1, j.Acknowledged())
		require.EqualValues(t, frames+1, j.Status().Base)
		require.Equal(t, frames > 0, len(w.Archetypes()) > 1)
		w.Advance()
		require.NoError(t, j.Commit())
		hash := w.Hash()
		require.NoError(t, want.Close())
		require.NoError(t, j.Close())
		require.NoError(t, w.Close())

		for _, rules := range [][]image.Option{nil, townRules()} { // which the new base does not need
			j, err = journal.Open(folder, registerNewTown, journal.Base(rules...))
			require.NoError(t, err)
			require.Equal(t, journal.Opened{Base: uint64(frames) + 1, Records: 1, Commit: uint64(frames) + 2},
				j.Opened())
			require.Equal(t, hash, j.World().Hash())
			require.NoError(t, j.Close())
			require.NoError(t, j.World().Close())
		}
	}
}

// TestJournalUpgradeRefused: where a rule is missing, a conversion function panics, or a record
// cannot be applied to the types of the base, nothing is open, and the older program goes on.
func TestJournalUpgradeRefused(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "town")
	var m oldTown
	j, err := journal.Open(folder, m.register)
	require.NoError(t, err)
	for number := range 3 {
		m.frame(t, number)
		require.NoError(t, j.Commit())
	}
	require.NoError(t, j.Sync())
	hash := m.w.Hash()
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	again := func() {
		j, err := journal.Open(folder, m.register)
		require.NoError(t, err)
		require.Equal(t, hash, m.w.Hash())
		require.Equal(t, 3, j.Opened().Records)
		require.NoError(t, j.Close())
		require.NoError(t, m.w.Close())
	}
	_, err = journal.Open(folder, registerNewTown, journal.Base(townRules()[2:]...))
	require.ErrorIs(t, err, image.ErrTypes)
	require.ErrorContains(t, err, "oldHouse is not registered")
	again()
	require.PanicsWithValue(t, "no lamp", func() {
		_, _ = journal.Open(folder, registerNewTown,
			journal.Base(append(townRules(), image.Convert("oldLamp", func(oldLamp) newLamp { panic("no lamp") }))...))
	})
	again()

	type late struct{ N int32 }
	j, err = journal.Open(folder, m.register)
	require.NoError(t, err)
	ecs.NewArchetype(m.w, ecs.Register[late](m.w)).Create() // the base does not have it
	require.NoError(t, j.Commit())
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	_, err = journal.Open(folder, registerNewTown, journal.Base(townRules()...))
	require.ErrorIs(t, err, journal.ErrLog)
	require.ErrorIs(t, err, image.ErrTypes)
	require.ErrorContains(t, err, "late is not registered")
	require.ErrorContains(t, err, "Journal.Rebase")
	j, err = journal.Open(folder, func(w *ecs.World) { m.register(w); ecs.Register[late](w) })
	require.NoError(t, err)
	require.True(t, j.Opened().Converted)
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
	j, err = journal.Open(folder, registerNewTown, journal.Base(append(townRules(), image.Drop("late"))...))
	require.NoError(t, err)
	require.NoError(t, j.World().Verify())
	require.NoError(t, j.Close())
	require.NoError(t, j.World().Close())
}

// TestJournalOfRenamedFields: a journal whose types differ in the names of fields alone maps them
// as they are, and its new base has the new names.
func TestJournalOfRenamedFields(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "counts")
	type count struct{ N int64 }
	var counts ecs.Component[count]
	j, err := journal.Open(folder, func(w *ecs.World) { counts = ecs.Register[count](w) })
	require.NoError(t, err)
	e := ecs.NewArchetype(j.World(), counts).Create()
	counts.Set(e, count{7})
	require.NoError(t, j.Commit())
	require.NoError(t, j.Close())
	require.NoError(t, j.World().Close())
	newer := func(rules ...journal.Option) *journal.Journal {
		type count struct{ Times int64 }
		var counts ecs.Component[count]
		j, err := journal.Open(folder, func(w *ecs.World) { counts = ecs.Register[count](w) }, rules...)
		require.NoError(t, err)
		require.Equal(t, count{7}, *counts.Get(e))
		require.NoError(t, j.Close())
		require.NoError(t, j.World().Close())
		return j
	}
	require.True(t, newer(journal.Base(image.RenamedField("count", "N", "Times"))).Opened().Converted)
	require.False(t, newer().Opened().Converted)
}

// TestYoungJournal: a journal whose base has no rows yet judges types by what the records have.
func TestYoungJournal(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "counts")
	type count struct{ N int32 }
	type idle struct{ N int32 }
	register := func(w *ecs.World) { ecs.Register[count](w); ecs.Register[idle](w) }
	j, err := journal.Open(folder, register)
	require.NoError(t, err)
	ecs.NewArchetype(j.World(), ecs.Register[count](j.World())).Create()
	require.NoError(t, j.Commit())
	require.NoError(t, j.Close())
	require.NoError(t, j.World().Close())
	for want, register := range map[string]func(*ecs.World){
		"N int32 would lose bits as N int8": func(w *ecs.World) { type count struct{ N int8 }; ecs.Register[count](w) },
		"is a buffer type in this program":  func(w *ecs.World) { ecs.RegisterBuffer[count](w) },
		"count is not registered":           func(w *ecs.World) { ecs.Register[idle](w) },
	} {
		_, err := journal.Open(folder, register)
		require.ErrorIs(t, err, image.ErrTypes)
		require.NotErrorIs(t, err, journal.ErrLog)
		require.ErrorContains(t, err, want)
	}
	j, err = journal.Open(folder, func(w *ecs.World) { ecs.Register[count](w) }) // nothing has an idle
	require.NoError(t, err)
	require.True(t, j.Opened().Converted)
	require.Equal(t, 1, j.World().Stats().Alive)
	require.NoError(t, j.Close())
	require.NoError(t, j.World().Close())
}
