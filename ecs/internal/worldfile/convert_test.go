package worldfile_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

// Types of a file and of a program, by name: by the rules, oldX in a world that is saved is newX in
// the one that is opened.
type (
	oldPlace struct {
		X, Y  float32
		Lost  int64
		Owner ecs.Entity
		N     int8
		U     uint16
		List  [3]int32
	}
	newPlace struct {
		N     int64
		Mana  uint16
		List  [3]int32
		Owner ecs.Entity
		Lat   float64
		Y     float32
		U     uint32
	}
	oldMood struct{ Level int16 }
	newMood struct{ Level int32 }
	oldHit  struct {
		Damage int16
		By     ecs.Entity
	}
	newHit struct {
		By     ecs.Entity
		Damage int64
		Extra  uint8
	}
	oldZone struct {
		Name string
		X    int8
		Gone string
	}
	newZone struct {
		X    int32
		Name string
	}
	oldTrait struct{ A, B uint8 }
	newTrait struct {
		B uint64
		A uint8
	}
	oldSum  struct{ Total int32 }
	newSum  struct{ Total, Count int64 }
	oldOnly struct{ A int32 }
	stayed  struct{ A, B int32 }
)

// changeRules are for those types.
func changeRules() *worldfile.Rules {
	r := &worldfile.Rules{
		Fields: []worldfile.FieldRename{{Type: "oldPlace", Old: "X", New: "Lat"}}, Drop: []string{"oldOnly"},
	}
	for _, name := range []string{"Place", "Mood", "Hit", "Zone", "Trait", "Sum"} {
		r.Types = append(r.Types, worldfile.Rename{Old: "old" + name, New: "new" + name})
	}
	return r
}

// then is a world with the types of the file, now one with those of the program.
type then struct {
	w     *ecs.World
	place ecs.Component[oldPlace]
	mood  ecs.Component[oldMood]
	hits  ecs.Buffer[oldHit]
	zone  ecs.Shared[oldZone]
	trait ecs.Sparse[oldTrait]
	sum   ecs.Chunk[oldSum]
	only  ecs.Component[oldOnly]
	stay  ecs.Component[stayed]
}

type now struct {
	w     *ecs.World
	place ecs.Component[newPlace]
	mood  ecs.Component[newMood]
	hits  ecs.Buffer[newHit]
	zone  ecs.Shared[newZone]
	trait ecs.Sparse[newTrait]
	sum   ecs.Chunk[newSum]
	stay  ecs.Component[stayed]
}

func newThen(t testing.TB, n int) (*then, []ecs.Entity) {
	m := new(then)
	w := ecstest.NewWorld(t)
	m.register(w)
	var all []ecs.Entity
	for k, a := range []*ecs.Archetype{
		ecs.NewArchetype(w, m.stay),
		ecs.NewArchetype(w, m.place, m.stay),
		ecs.NewArchetype(w, m.place, m.mood, m.hits, m.only),
		ecs.NewArchetype(w, m.stay, m.only),
		ecs.NewArchetype(w, m.stay, m.zone.Of(oldZone{"a", 1, "x"})),
		ecs.NewArchetype(w, m.stay, m.zone.Of(oldZone{"a", 1, "y"}), m.hits, m.sum),
		ecs.NewArchetype(w, m.stay, m.zone.Of(oldZone{"a", 1, "z"}), m.hits, m.sum),
	} {
		batch, err := a.CreateN(n + k)
		require.NoError(t, err)
		all = append(all, batch.Entities(nil)...)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i, e := range all {
		m.stay.Set(e, stayed{int32(i), 7})
		m.place.Set(e, oldPlace{float32(i), -1.5, 9, all[r.IntN(len(all))], int8(r.Uint32()), uint16(r.Uint32()),
			[3]int32{1, int32(i), -3}})
		m.mood.Set(e, oldMood{int16(r.Uint32())})
		if i%3 == 0 {
			m.mood.Disable(e)
		}
		if b, ok := m.hits.Mut(e); ok {
			for range i % 9 {
				b.Append(oldHit{int16(r.Uint32()), all[i/2]})
			}
		}
		if i%4 == 0 {
			m.trait.Add(e, oldTrait{uint8(i), uint8(i >> 8)})
			if i%8 == 0 {
				m.trait.Disable(e)
			}
		}
		if i%11 == 0 {
			w.SetName(e, fmt.Sprint("number ", i))
		}
	}
	for i := 0; i < len(all); i += 5 {
		w.Destroy(all[i])
	}
	q := ecs.NewQuery(w, ecs.Write(m.sum))
	for rows := range q.Rows() {
		m.sum.At(rows).Total = 5
	}
	return m, all
}

// register registers the types of the file.
func (m *then) register(w *ecs.World) {
	*m = then{w, ecs.Register[oldPlace](w), ecs.Register[oldMood](w, ecs.Enableable),
		ecs.RegisterBuffer[oldHit](w, ecs.Inline(3)),
		ecs.RegisterShared[oldZone](w), ecs.RegisterSparse[oldTrait](w, ecs.Enableable), ecs.RegisterChunk[oldSum](w),
		ecs.Register[oldOnly](w), ecs.Register[stayed](w)}
}

// register registers the types of the program.
func (m *now) register(options [4]bool) func(w *ecs.World) {
	return func(w *ecs.World) {
		var mood, place []ecs.TypeOption
		hits, trait := []ecs.TypeOption{ecs.Inline(3)}, []ecs.TypeOption(nil)
		if options[0] {
			mood, trait = append(mood, ecs.Enableable), append(trait, ecs.Enableable)
		}
		if options[1] {
			hits = []ecs.TypeOption{ecs.Inline(1), ecs.Enableable}
		}
		if options[2] {
			place = append(place, ecs.TrackRows, ecs.MaxRows(50))
		}
		if options[3] {
			place = append(place, ecs.Cleanup)
		}
		*m = now{w, ecs.Register[newPlace](w, place...), ecs.Register[newMood](w, mood...),
			ecs.RegisterBuffer[newHit](w, hits...),
			ecs.RegisterShared[newZone](w), ecs.RegisterSparse[newTrait](w, trait...), ecs.RegisterChunk[newSum](w),
			ecs.Register[stayed](w)}
	}
}

// convertedTo is the slow twin: a value of another type, with what fields of the same name have.
func convertedTo[New any](old any, renamed map[string]string) New {
	var to New
	from, into := reflect.ValueOf(old), reflect.ValueOf(&to).Elem()
	for i := range from.NumField() {
		name := from.Type().Field(i).Name
		if other, ok := renamed[name]; ok {
			name = other
		}
		if f := into.FieldByName(name); f.IsValid() {
			f.Set(from.Field(i).Convert(f.Type()))
		}
	}
	return to
}

// same compares a world that was opened with the one that was saved, entity by entity.
func (m *now) same(t *testing.T, o *then, all []ecs.Entity, options [4]bool) {
	require.NoError(t, m.w.Verify())
	require.Equal(t, o.w.Stats().Alive, m.w.Stats().Alive)
	for i, e := range all {
		require.Equal(t, o.w.Alive(e), m.w.Alive(e))
		require.Equal(t, o.w.Name(e), m.w.Name(e))
		require.Equal(t, o.stay.Get(e), m.stay.Get(e))
		if !o.w.Alive(e) {
			continue
		}
		a, b := o.place.Get(e), m.place.Get(e)
		require.Equal(t, a != nil, b != nil)
		if a != nil {
			require.Equal(t, convertedTo[newPlace](*a, map[string]string{"X": "Lat"}), *b)
		}
		c, d := o.mood.Get(e), m.mood.Get(e)
		require.Equal(t, c != nil, d != nil)
		if c != nil {
			require.Equal(t, convertedTo[newMood](*c, nil), *d)
			if options[0] {
				require.Equal(t, o.mood.Enabled(e), m.mood.Enabled(e))
			}
		}
		h, ok := o.hits.Get(e)
		k, okNow := m.hits.Get(e)
		require.Equal(t, ok, okNow)
		if ok {
			require.Equal(t, h.Len(), k.Len(), "entity %d", i)
			for j, v := range h.Slice() {
				require.Equal(t, convertedTo[newHit](v, nil), k.Slice()[j])
			}
			require.Equal(t, options[1], options[1] && m.hits.Enabled(e))
		}
		z, ok := o.zone.Get(e)
		y, okNow := m.zone.Get(e)
		require.Equal(t, ok, okNow)
		if ok {
			require.Equal(t, newZone{int32(z.X), z.Name}, y)
		}
		p, q := o.trait.Get(e), m.trait.Get(e)
		require.Equal(t, p != nil, q != nil)
		if p != nil {
			require.Equal(t, convertedTo[newTrait](*p, nil), *q)
			if options[0] {
				require.Equal(t, o.trait.Enabled(e), m.trait.Enabled(e))
			}
		}
		require.Equal(t, o.sum.Get(e) != nil, m.sum.Get(e) != nil)
	}
}

// TestChangedTypes: a world whose types have changed is opened like a twin, which converts value by
// value, and goes on as any.
func TestChangedTypes(t *testing.T) {
	for _, n := range []int{1, 20, 400, 5_000} {
		o, all := newThen(t, n)
		s := o.w.Snapshot()
		f := ecstest.NewFile(t, s)
		f.Rules = changeRules()
		for bits := range 16 {
			if n > 1000 && bits != 0 && bits != 15 {
				continue
			}
			options := [4]bool{bits&1 != 0, bits&2 != 0, bits&4 != 0, bits&8 != 0}
			t.Run(fmt.Sprint("n=", n, "/options=", options), func(t *testing.T) {
				u, err := alloc.NewUniverse(alloc.Size(256 << 20))
				require.NoError(t, err)
				var m now
				w, err := door.OpenImage(f, m.register(options), []ecs.Option{ecs.WithUniverse(u)})
				require.NoError(t, err)
				require.Same(t, w, m.w)
				m.same(t, o, all, options)
				c := ecs.NewArchetype(m.w, m.place, m.hits, m.mood).Create()
				require.Equal(t, ecs.NewArchetype(o.w, o.place).Create(), c, "the next id")
				o.w.Destroy(c)
				again := m.w.Snapshot()
				g := ecstest.NewFile(t, again)
				var third now
				_, err = door.OpenImage(g, third.register(options), []ecs.Option{ecs.WithUniverse(u)})
				require.NoError(t, err)
				require.Equal(t, m.w.Hash(), third.w.Hash())
				again.Close()
				for _, e := range all {
					m.w.Destroy(e)
				}
				require.NoError(t, m.w.Verify())
				require.NoError(t, third.w.Close())
				require.NoError(t, m.w.Close())
				require.Zero(t, u.Stats().LiveChunks)
				require.NoError(t, u.Close())
			})
			require.NoError(t, o.w.Restore(s))
		}
		s.Close()
	}
}

// TestDestroyedAndNoLongerKept: entities that were destroyed, and outlived that by a type that is
// dropped or no longer a Cleanup type, end when the file is opened, with all that they had; those
// with another Cleanup type stay.
func TestDestroyedAndNoLongerKept(t *testing.T) {
	type socket struct{ Handle int64 }
	type lock struct{ Key int32 }
	w := ecstest.NewWorld(t)
	sockets, locks := ecs.Register[socket](w, ecs.Cleanup), ecs.Register[lock](w, ecs.Cleanup)
	hits, stay := ecs.RegisterBuffer[oldHit](w, ecs.Inline(1), ecs.Cleanup), ecs.Register[stayed](w)
	create := func(n int, types ...ecs.Type) []ecs.Entity {
		batch, err := ecs.NewArchetype(w, types...).CreateN(n)
		require.NoError(t, err)
		return batch.Entities(nil)
	}
	ones, boths, spills := create(300, stay, sockets), create(20, stay, sockets, locks), create(20, stay, sockets, hits)
	alive := create(1, stay, sockets)[0]
	for i, e := range append(append(append([]ecs.Entity{}, ones...), boths...), spills...) {
		sockets.Set(e, socket{int64(i)})
		w.SetName(e, fmt.Sprint("name ", i))
		if hits.Has(e) {
			hits.Append(e, make([]oldHit, 40)...)
		}
		w.Destroy(e)
	}
	require.Equal(t, 341, w.Stats().Alive)
	s := w.Snapshot()
	defer s.Close()
	f := ecstest.NewFile(t, s)
	for name, c := range map[string]struct {
		drop []string
		how  []ecs.TypeOption
	}{"dropped": {[]string{"socket", "oldHit"}, nil}, "no longer Cleanup": {[]string{"oldHit"}, nil}, "as it was": {
		nil, []ecs.TypeOption{ecs.Cleanup},
	}} {
		t.Run(name, func(t *testing.T) {
			g := *f
			g.Rules = &worldfile.Rules{Drop: c.drop}
			var locks ecs.Component[lock]
			x, err := door.OpenImage(&g, func(w *ecs.World) {
				locks = ecs.Register[lock](w, ecs.Cleanup)
				ecs.Register[stayed](w)
				if len(c.drop) < 2 {
					ecs.Register[socket](w, c.how...)
				}
				if len(c.drop) == 0 {
					ecs.RegisterBuffer[oldHit](w, ecs.Inline(1), ecs.Cleanup)
				}
			}, nil)
			require.NoError(t, err)
			require.NoError(t, x.Verify())
			ends := len(c.drop) > 0
			for _, list := range [][]ecs.Entity{ones, spills} {
				for _, e := range list {
					require.Equal(t, !ends, x.Alive(e))
					require.Equal(t, ends, x.Name(e) == "")
				}
			}
			if require.True(t, x.Alive(alive)); ends {
				require.Equal(t, 21, x.Stats().Alive)
			}
			for i, e := range boths {
				require.True(t, x.Alive(e))
				require.Equal(t, fmt.Sprint("name ", 300+i), x.Name(e))
				require.True(t, locks.Remove(e))
				require.Equal(t, len(c.how) > 0, x.Alive(e), "the last Cleanup type is gone")
			}
			made, err := ecs.NewArchetype(x, locks).CreateN(400)
			require.NoError(t, err)
			require.Equal(t, 400, made.Len())
			require.NoError(t, x.Verify())
			require.NoError(t, x.Close())
		})
	}
}

// TestInlineGrows: elements that lay in a block move into the row where there is room for all, and
// blocks of others stay.
func TestInlineGrows(t *testing.T) {
	w := ecstest.NewWorld(t)
	hits := ecs.RegisterBuffer[oldHit](w, ecs.Inline(2))
	batch, err := ecs.NewArchetype(w, hits).CreateN(60)
	require.NoError(t, err)
	all := batch.Entities(nil)
	for i, e := range all {
		for k := range i {
			hits.Append(e, oldHit{Damage: int16(k), By: all[k]})
		}
	}
	s := w.Snapshot()
	defer s.Close()
	for _, inline := range []int{0, 1, 2, 3, 20, 100} {
		var grown ecs.Buffer[oldHit]
		x, err := door.OpenImage(ecstest.NewFile(t, s),
			func(w *ecs.World) { grown = ecs.RegisterBuffer[oldHit](w, ecs.Inline(inline)) }, nil)
		require.NoError(t, err)
		require.NoError(t, x.Verify())
		for i, e := range all {
			require.Equal(t, hits.Slice(e), grown.Slice(e), "%d elements, %d in a row", i, inline)
		}
		grown.Append(all[7], make([]oldHit, 200)...)
		require.Len(t, grown.Slice(all[7]), 207)
		require.NoError(t, x.Verify())
		require.NoError(t, x.Close())
	}
}

// TestChunkValuesMergeInConversions: where archetypes of a file become one, the value of a chunk is
// made of those of the chunks whose rows are in it, each once.
func TestChunkValuesMergeInConversions(t *testing.T) {
	w := ecstest.NewWorld(t)
	sum, zone, stay := ecs.RegisterChunk[oldSum](w), ecs.RegisterShared[oldZone](w), ecs.Register[stayed](w)
	for i := range 5 {
		_, err := ecs.NewArchetype(w, stay, sum, zone.Of(oldZone{Name: "a", Gone: fmt.Sprint(i)})).CreateN(10)
		require.NoError(t, err)
	}
	q := ecs.NewQuery(w, ecs.Write(sum))
	for rows := range q.Rows() {
		sum.At(rows).Total = 7
	}
	s := w.Snapshot()
	defer s.Close()
	f := ecstest.NewFile(t, s)
	f.Rules = changeRules()
	var now ecs.Chunk[newSum]
	x, err := door.OpenImage(f, func(w *ecs.World) {
		ecs.RegisterShared[newZone](w)
		ecs.Register[stayed](w)
		now = ecs.RegisterChunk[newSum](w,
			ecs.Merge(func(into, from *newSum) { into.Total += from.Total; into.Count += 1 + from.Count }))
	}, nil)
	require.NoError(t, err)
	require.NoError(t, x.Verify())
	chunks := 0
	for rows := range ecs.NewQuery(x, ecs.Read(now)).Rows() {
		require.Equal(t, 50, rows.Len())
		require.Equal(t, newSum{35, 4}, *now.ReadOnly(rows))
		chunks++
	}
	require.Equal(t, 1, chunks)
	require.NoError(t, x.Close())
}

// TestConvertsToTheSameLayout: a function is called for a type whose layout has not changed.
func TestConvertsToTheSameLayout(t *testing.T) {
	w := ecstest.NewWorld(t)
	stay := ecs.Register[stayed](w)
	e := ecs.NewArchetype(w, stay).Create()
	stay.Set(e, stayed{3, 4})
	s := w.Snapshot()
	defer s.Close()
	f := ecstest.NewFile(t, s)
	f.Rules = &worldfile.Rules{Conversions: []worldfile.Conversion{
		conversion("stayed", func(v stayed) stayed { return stayed{v.B, v.A} }),
	}}
	var now ecs.Component[stayed]
	x, err := door.OpenImage(f, func(w *ecs.World) { now = ecs.Register[stayed](w) }, nil)
	require.NoError(t, err)
	require.Equal(t, stayed{4, 3}, *now.Get(e))
	require.NoError(t, x.Close())
}
