package worldfile_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/world"
	"quarry/ecs/internal/worldfile"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// TestRefusedTypes: a type that no rule converts is refused with both layouts, and one that nobody
// registered by name; no world is left.
func TestRefusedTypes(t *testing.T) {
	w := ecstest.NewWorld(t)
	ecs.NewArchetype(w, ecs.Register[oldPlace](w, ecs.Enableable)).Create()
	s := w.Snapshot()
	defer s.Close()
	f := ecstest.NewFile(t, s)
	worlds := world.Tags.Open()
	refused := func(rules *worldfile.Rules, register func(w *ecs.World), want string) {
		g := *f
		g.Rules = rules
		_, err := door.OpenImage(&g, register, nil)
		require.ErrorIs(t, err, worldfile.ErrImageTypes)
		require.EqualError(t, err, want)
		require.Equal(t, worlds, world.Tags.Open())
		plans, err := door.PlanImage(&g, register)
		require.NoError(t, err)
		require.EqualError(t, plans[4].Err, want)
		require.Equal(t, worlds, world.Tags.Open())
	}
	type narrow struct {
		X int32
		Y float32
	}
	type other struct{ Z int32 }
	refused(nil, func(*ecs.World) {},
		"types differ: the component type quarry/ecs/internal/worldfile_test.oldPlace is not registered")
	refused(changeRules(), func(*ecs.World) {},
		"types differ: the component type quarry/ecs/internal/worldfile_test.oldPlace is newPlace in this program, by a rule, which is not registered; rules apply in their order, and Drop and Keep take that name")
	to := func(name string) *worldfile.Rules {
		return &worldfile.Rules{Types: []worldfile.Rename{
			{Old: "quarry/ecs/internal/worldfile_test.oldPlace", New: name},
		}}
	}
	refused(to("narrow"), func(w *ecs.World) { ecs.Register[narrow](w) }, `types differ: the component type quarry/ecs/internal/worldfile_test.oldPlace has changed, and no rule converts it: X float32 has become X int32
	in the file         in the program
	40 B, enableable    8 B
	  0 X float32         0 X int32
	  4 Y float32         4 Y float32
	  8 Lost int64
	 16 Owner Entity
	 24 N int8
	 26 U uint16
	 28 List [3]int32`)
	refused(to("quarry/ecs/internal/worldfile_test.other"), func(w *ecs.World) { ecs.Register[other](w) }, `types differ: the component type quarry/ecs/internal/worldfile_test.oldPlace has changed, and no rule converts it: no field is left
	in the file         in the program
	40 B, enableable    4 B
	  0 X float32         0 Z int32
	  4 Y float32
	  8 Lost int64
	 16 Owner Entity
	 24 N int8
	 26 U uint16
	 28 List [3]int32`)
}

// TestConvertsByFunction: a function makes the values, of all kinds, and one that panics leaves
// nothing behind.
func TestConvertsByFunction(t *testing.T) {
	o, all := newThen(t, 300)
	s := o.w.Snapshot()
	defer s.Close()
	f := ecstest.NewFile(t, s)
	f.Rules = changeRules()
	calls, most := 0, 1<<30
	count := func() {
		if calls++; calls > most {
			panic("the function is broken")
		}
	}
	f.Rules.Conversions = []worldfile.Conversion{
		conversion("oldMood", func(v struct{ Level int64 }) newMood { return newMood{} }), // of another version
		conversion("oldMood", func(v oldMood) newMood { count(); return newMood{1000 * int32(v.Level)} }),
		conversion("oldHit", func(v oldHit) newHit {
			count()
			return newHit{By: v.By, Damage: int64(v.Damage) / 2, Extra: 1}
		}),
		conversion("oldTrait", func(v oldTrait) newTrait { count(); return newTrait{uint64(v.A), v.B} }),
		conversion("oldSum", func(v oldSum) newSum { count(); return newSum{9, int64(v.Total)} }),
		conversion("oldZone", func(v oldZone) newZone { count(); return newZone{1, v.Name + v.Gone} }),
	}
	u, err := alloc.NewUniverse(alloc.Size(128 << 20))
	require.NoError(t, err)
	var m now
	w, err := door.OpenImage(f, m.register([4]bool{}), []ecs.Option{ecs.WithUniverse(u)})
	require.NoError(t, err)
	require.NoError(t, w.Verify())
	for _, e := range all {
		if !o.w.Alive(e) {
			continue
		}
		if c := o.mood.Get(e); c != nil {
			require.Equal(t, newMood{1000 * int32(c.Level)}, *m.mood.Get(e))
		}
		for i, h := range o.hits.Slice(e) {
			require.Equal(t, newHit{h.By, int64(h.Damage) / 2, 1}, m.hits.Slice(e)[i])
		}
		if c := o.trait.Get(e); c != nil {
			require.Equal(t, newTrait{uint64(c.A), c.B}, *m.trait.Get(e))
		}
		if c := o.sum.Get(e); c != nil {
			require.Equal(t, newSum{9, 5}, *m.sum.Get(e))
		}
		if z, ok := o.zone.Get(e); ok {
			y, _ := m.zone.Get(e)
			require.Equal(t, newZone{1, z.Name + z.Gone}, y)
		}
	}
	require.NoError(t, w.Close())
	worlds := world.Tags.Open()
	total := calls
	for most = 0; most < total; most += 1 + total/40 {
		calls = 0
		require.PanicsWithValue(t, "the function is broken", func() {
			_, _ = door.OpenImage(f, m.register([4]bool{}), []ecs.Option{ecs.WithUniverse(u)})
		})
		require.Zero(t, u.Stats().LiveChunks, "after %d calls", most)
		require.Equal(t, worlds, world.Tags.Open())
	}
	require.NoError(t, u.Close())
}

// TestChangedTypesWithoutMemory: each request for memory is refused once, and all from it on: there
// is no world then, and nothing is left in the universe.
func TestChangedTypesWithoutMemory(t *testing.T) {
	o, all := newThen(t, 60)
	s := o.w.Snapshot()
	defer s.Close()
	f := ecstest.NewFile(t, s)
	f.Rules = changeRules()
	worlds := world.Tags.Open()
	options := [4]bool{true, true, true, true}
	require.NoError(t, alloc.CheckEveryFailure(func(fail *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(32<<20), alloc.InjectFailures(fail))
		if err != nil {
			return err
		}
		var m now
		w, err := door.OpenImage(f, m.register(options), []ecs.Option{ecs.WithUniverse(u)})
		if err == nil {
			m.same(t, o, all, options)
			err = errors.Join(w.Verify(), w.Close())
		}
		if n := u.Stats().LiveChunks; n > 0 {
			err = errors.Join(err, alloc.ErrLeak)
		}
		return errors.Join(err, u.Close())
	}))
	require.Equal(t, worlds, world.Tags.Open())
}

// TestDamageOfChangedRows: a flipped byte in rows that are converted leaves a world that can be
// closed, or none: ids are compared with their records, and headers are looked at first.
func TestDamageOfChangedRows(t *testing.T) {
	o, _ := newThen(t, 6)
	s := o.w.Snapshot()
	defer s.Close()
	f := ecstest.NewFile(t, s)
	f.Rules = changeRules()
	rows := make([]byte, f.Size[worldfile.ImageRows])
	require.NoError(t, f.Read(worldfile.ImageRows, 0, rows))
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	require.NoError(t, err)
	refused, opened := 0, 0
	for at := 0; at < len(rows); at++ {
		if rows[at] == 0 && at%64 != 0 || at%7 != 0 && !long.On() { // one in seven is in each column
			continue
		}
		if rows[at] == 0 && at > 1<<17 {
			break
		}
		bad := *f
		bad.Read = func(part, from int, dst []byte) error {
			err := f.Read(part, from, dst)
			if part == worldfile.ImageRows && at >= from && at < from+len(dst) {
				dst[at-from] ^= 0x55
			}
			return err
		}
		var m now
		w, err := door.OpenImage(&bad, m.register([4]bool{true, true, true, true}), []ecs.Option{ecs.WithUniverse(u)})
		if err != nil {
			require.ErrorIs(t, err, worldfile.ErrImage)
			refused++
		} else {
			opened++
			require.NoError(t, w.Close())
		}
		require.Zero(t, u.Stats().LiveChunks, "byte %d", at)
	}
	require.Positive(t, refused)
	require.Positive(t, opened)
	require.NoError(t, u.Close())
}

// TestKeptTypes: types that nobody has registered stay, with their entities, in clones and in the
// next file, which a program with the types opens as the first one.
func TestKeptTypes(t *testing.T) {
	o, all := newThen(t, 100)
	s := o.w.Snapshot()
	defer s.Close()
	f := ecstest.NewFile(t, s)
	f.Rules = &worldfile.Rules{KeepUnknown: true}
	w, err := door.OpenImage(f, func(*ecs.World) {}, nil)
	require.NoError(t, err)
	require.NoError(t, w.Verify())
	require.Equal(t, o.w.Stats().Alive, w.Stats().Alive)
	names := []string{}
	for _, c := range w.Components()[4:] {
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"oldPlace", "oldMood", "[]oldHit", "oldZone", "sparse oldTrait", "chunk oldSum",
		"oldOnly", "stayed"}, names)
	for _, e := range all {
		if p := o.place.Get(e); p != nil {
			require.Contains(t, fmt.Sprint(w.Value(e, w.Components()[4].Type)), fmt.Sprint(p.Owner))
		}
	}
	clone, err := w.Clone()
	require.NoError(t, err)
	require.NoError(t, clone.Verify())
	for _, of := range []*ecs.World{w, clone} {
		again := of.Snapshot()
		g := ecstest.NewFile(t, again)
		again.Close()
		var m then
		next, err := door.OpenImage(g, m.register, nil)
		require.NoError(t, err)
		require.NoError(t, next.Verify())
		if of == w {
			require.Equal(t, s.Hash(), next.Hash())
		}
		for _, e := range all {
			if p := o.place.Get(e); p != nil && of == clone {
				in, ok := next.Entity(e.Index(), e.Version())
				owner, live := next.Entity(p.Owner.Index(), p.Owner.Version())
				require.Equal(t, o.w.Alive(e), ok)
				if ok && live {
					require.Equal(t, owner, m.place.Get(in).Owner)
				}
			}
		}
		require.NoError(t, errors.Join(next.Close(), of.Close()))
	}
}

// TestDroppedTypes: entities lose what nobody has registered, and archetypes become one.
func TestDroppedTypes(t *testing.T) {
	o, all := newThen(t, 100)
	s := o.w.Snapshot()
	defer s.Close()
	f := ecstest.NewFile(t, s)
	f.Rules = &worldfile.Rules{DropUnknown: true}
	var stay ecs.Component[stayed]
	u, err := alloc.NewUniverse(alloc.Size(128 << 20))
	require.NoError(t, err)
	w, err := door.OpenImage(f, func(w *ecs.World) { stay = ecs.Register[stayed](w) }, []ecs.Option{
		ecs.WithUniverse(u),
	})
	require.NoError(t, err)
	require.NoError(t, w.Verify())
	require.Len(t, w.Archetypes(), 2)
	for _, e := range all {
		require.Equal(t, o.w.Alive(e), w.Alive(e))
		require.Equal(t, o.stay.Get(e), stay.Get(e))
		require.Equal(t, o.w.Name(e), w.Name(e))
	}
	require.NoError(t, w.Close())
	require.Zero(t, u.Stats().LiveChunks)
	require.NoError(t, u.Close())
}

// conversion is what image.Convert makes.
func conversion[Old, New any](of string, convert func(Old) New) worldfile.Conversion {
	return worldfile.Conversion{Name: of, Old: reflect.TypeFor[Old](), New: reflect.TypeFor[New](),
		Rows: func(to, from unsafe.Pointer, n int) {
			// Safe because n values lie at both addresses.
			olds, news := unsafe.Slice((*Old)(from), n), unsafe.Slice((*New)(to), n)
			for i := range olds {
				news[i] = convert(olds[i])
			}
		},
		Value: func(v any) any { return convert(v.(Old)) },
	}
}

// TestDamageOfChangedSections: with any byte of the described sections of a converted world
// flipped, the world can be closed, or there is none.
func TestDamageOfChangedSections(t *testing.T) {
	o, _ := newThen(t, 6)
	s := o.w.Snapshot()
	defer s.Close()
	f := ecstest.NewFile(t, s)
	f.Rules = changeRules()
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	require.NoError(t, err)
	refused, opened := 0, 0
	for section, whole := range f.Meta {
		for at := range whole {
			if !long.On() && at%13 != 0 { // still a byte of each field of most tables
				continue
			}
			for _, flip := range []byte{1, 0x80, 0xff} {
				bad := *f
				bad.Meta[section] = append([]byte(nil), whole...)
				bad.Meta[section][at] ^= flip
				var m now
				w, err := door.OpenImage(&bad, m.register([4]bool{false, true, false, true}), []ecs.Option{
					ecs.WithUniverse(u),
				})
				if err != nil {
					refused++
				} else {
					opened++
					_ = w.Close() // whose ids may be wrong
				}
				require.Zero(t, u.Stats().LiveChunks, "section %d, byte %d", section, at)
			}
		}
	}
	require.Greater(t, refused, opened/4)
	require.NoError(t, u.Close())
}
