package world_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// The look-ups are held to a model in Go memory: what each entity that is alive has,
// by handle. zoo is a world and the model of it.
type zoo struct {
	w        *ecs.World
	position ecs.Component[ecstest.Position]
	health   ecs.Component[ecstest.Health]
	lopsided ecs.Component[lopsided]
	tag      ecs.Component[ecstest.Tag]
	hits     ecs.Buffer[ecstest.Hit]
	model    map[ecs.Entity]*creature
	alive    []ecs.Entity
	dead     []ecs.Entity
	rnd      *rand.Rand
	serial   int32
}

// lopsided has a size that is no power of two and no multiple of a line.
type lopsided struct {
	A int32
	B [5]int32
}

type creature struct {
	position *ecstest.Position
	health   *ecstest.Health
	lopsided *lopsided
	tag      bool
	hits     bool
}

func newZoo(t testing.TB, growth alloc.Growth) *zoo {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(growth))
	return &zoo{
		w: w, position: ecs.Register[ecstest.Position](w), health: ecs.Register[ecstest.Health](w, ecs.Enableable),
		lopsided: ecs.Register[lopsided](w), tag: ecs.Register[ecstest.Tag](w), hits: ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(2)),
		model: map[ecs.Entity]*creature{}, rnd: rand.New(rand.NewPCG(3, 5)),
	}
}

func (z *zoo) pick() ecs.Entity { return z.alive[z.rnd.IntN(len(z.alive))] }

// step makes, changes or ends some entities.
func (z *zoo) step() {
	z.serial++
	switch what := z.rnd.IntN(12); {
	case what < 2 || len(z.alive) < 10:
		types := []ecs.Type{z.position, z.health, z.lopsided, z.tag, z.hits}
		z.rnd.Shuffle(len(types), func(i, j int) { types[i], types[j] = types[j], types[i] })
		z.create(types[:z.rnd.IntN(len(types)+1)])
	case what < 4:
		z.destroy(z.rnd.IntN(len(z.alive)))
	case what < 6:
		e, v := z.pick(), ecstest.Position{X: float64(z.serial), Y: 1}
		if z.position.Add(e, v) {
			z.model[e].position = &v
		} else {
			z.position.Remove(e)
			z.model[e].position = nil
		}
	case what < 8:
		e, v := z.pick(), lopsided{A: z.serial}
		if z.lopsided.Add(e, v) {
			z.model[e].lopsided = &v
		} else {
			z.lopsided.Remove(e)
			z.model[e].lopsided = nil
		}
	case what < 10:
		e := z.pick()
		z.model[e].tag = z.tag.Add(e, ecstest.Tag{})
		if !z.model[e].tag {
			z.tag.Remove(e)
		}
	default:
		z.health.Disable(z.pick()) // a look-up does not care
	}
}

func (z *zoo) create(types []ecs.Type) {
	n := 1 + z.rnd.IntN(4)
	if z.rnd.IntN(8) == 0 {
		n = 3000
	}
	batch, err := ecs.NewArchetype(z.w, types...).CreateN(n)
	if err != nil {
		panic(err)
	}
	for rows := range batch.Rows() {
		for i, e := range rows.Entities() {
			c := &creature{}
			for _, t := range types {
				switch t {
				case z.position:
					c.position = &ecstest.Position{X: float64(z.serial), Y: float64(i)}
					z.position.Slice(rows)[i] = *c.position
				case z.health:
					c.health = &ecstest.Health{HP: z.serial, Max: int32(i)}
					z.health.Slice(rows)[i] = *c.health
				case z.lopsided:
					c.lopsided = &lopsided{A: z.serial, B: [5]int32{4: int32(i)}}
					z.lopsided.Slice(rows)[i] = *c.lopsided
				case z.tag:
					c.tag = true
				case z.hits:
					c.hits = true
				}
			}
			z.model[e] = c
			z.alive = append(z.alive, e)
		}
	}
}

// destroy ends an entity, and often thousands, so that chunks go and others come in
// their place.
func (z *zoo) destroy(at int) {
	for n := max(1, (z.rnd.IntN(8)-6)*3000); n > 0 && len(z.alive) > 0; n-- {
		at %= len(z.alive)
		e, last := z.alive[at], len(z.alive)-1
		z.w.Destroy(e)
		delete(z.model, e)
		z.alive[at] = z.alive[last]
		z.alive = z.alive[:last]
		z.dead = append(z.dead, e)
	}
}

// sample returns entities in random order: alive, dead, some twice, and null.
func (z *zoo) sample(n int) []ecs.Entity {
	some := []ecs.Entity{ecs.Null}
	for range n {
		some = append(some, z.pick(), z.pick())
		if len(z.dead) > 0 {
			some = append(some, z.dead[z.rnd.IntN(len(z.dead))])
		}
	}
	some = append(some, some[n/2], some[n/3])
	z.rnd.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	return some
}

// getter is a look-up that is tested: values of entities, nil where there is none.
type getter[T any] func(entities []ecs.Entity) []*T

func eachOf[T any](get func(ecs.Entity) *T) getter[T] {
	return func(entities []ecs.Entity) (found []*T) {
		for _, e := range entities {
			found = append(found, get(e))
		}
		return found
	}
}

// getters lists all ways to look up. All but Gather give pointers into the world.
func getters[T any](t *testing.T, c ecs.Component[T]) map[string]getter[T] {
	if2 := func(has bool, p *T) *T {
		require.Equal(t, has, p != nil)
		return p
	}
	return map[string]getter[T]{
		"Get":     eachOf(func(e ecs.Entity) *T { return if2(c.Has(e), c.Get(e)) }),
		"Mut":     eachOf(c.Mut),
		"GetList": func(s []ecs.Entity) []*T { return c.GetList(nil, s) },
		"MutList": func(s []ecs.Entity) []*T { return c.MutList(make([]*T, 3, 5), s)[3:] },
	}
}

// check holds every look-up of one type to the model.
func check[T comparable](t *testing.T, z *zoo, c ecs.Component[T], want func(*creature) *T) {
	t.Helper()
	some := z.sample(50)
	for name, get := range getters(t, c) {
		found := get(some)
		require.Len(t, found, len(some), name)
		for i, e := range some {
			compare(t, name, z, e, found[i], want)
		}
	}
	values, missing := make([]T, len(some)), 0
	for _, e := range some { // what was there must go
		if p := c.Get(e); p != nil {
			for i := range values {
				values[i] = *p
			}
			break
		}
	}
	got := c.CopyList(values, some)
	for i, e := range some {
		p := c.Get(e)
		if p == nil {
			missing++
			p = new(T)
		}
		require.Equal(t, *p, values[i])
	}
	require.Equal(t, missing, got)
}

func compare[T comparable](t *testing.T, name string, z *zoo, e ecs.Entity, got *T, want func(*creature) *T) {
	t.Helper()
	var w *T
	if m := z.model[e]; m != nil {
		w = want(m)
	}
	if (got == nil) != (w == nil) || got != nil && *got != *w {
		t.Fatalf("%s of %v: got %v want %v", name, e, got, w)
	}
}

func TestLookupsAgreeWithAModel(t *testing.T) {
	for _, g := range append(chunkPolicies, alloc.Fixed(1), alloc.Doubling().Capped(64)) {
		t.Run(fmt.Sprint(g), func(t *testing.T) {
			z := newZoo(t, g)
			steps := ecstest.StepsOf(1500)
			for i := range steps {
				z.step()
				if i%25 != 24 || len(z.alive) == 0 {
					continue
				}
				check(t, z, z.position, func(c *creature) *ecstest.Position { return c.position })
				check(t, z, z.health, func(c *creature) *ecstest.Health { return c.health })
				check(t, z, z.tag, func(c *creature) *ecstest.Tag {
					if c.tag {
						return new(ecstest.Tag)
					}
					return nil
				})
				if i > steps/2 { // not looked up while there is little
					check(t, z, z.lopsided, func(c *creature) *lopsided { return c.lopsided })
				}
				require.NoError(t, z.w.Verify())
				for e, c := range z.model {
					require.Equal(t, c.hits, z.hits.Has(e))
					break
				}
			}
			require.Greater(t, z.w.Stats().Archetypes, 20)
			require.NoError(t, z.w.Verify())
		})
	}
}

// TestLookupWritesMark: which look-ups mark, and which do not.
func TestLookupWritesMark(t *testing.T) {
	for name, c := range map[string]struct {
		marks bool
		touch func(ecs.Component[ecstest.Position], ecs.Entity)
	}{
		"Component.Get": {false, func(c ecs.Component[ecstest.Position], e ecs.Entity) { c.Get(e) }},
		"Component.Has": {false, func(c ecs.Component[ecstest.Position], e ecs.Entity) { c.Has(e) }},
		"Component.Mut": {true, func(c ecs.Component[ecstest.Position], e ecs.Entity) { c.Mut(e) }},
		"Component.Set": {true, func(c ecs.Component[ecstest.Position], e ecs.Entity) { c.Set(e, ecstest.Position{}) }},
		"GetList":       {false, func(c ecs.Component[ecstest.Position], e ecs.Entity) { c.GetList(nil, []ecs.Entity{e}) }},
		"MutList":       {true, func(c ecs.Component[ecstest.Position], e ecs.Entity) { c.MutList(nil, []ecs.Entity{e}) }},
		"Gather": {false, func(c ecs.Component[ecstest.Position], e ecs.Entity) {
			c.CopyList(make([]ecstest.Position, 1), []ecs.Entity{e})
		}},
		"MutList, empty": {false, func(c ecs.Component[ecstest.Position], _ ecs.Entity) { c.MutList(nil, nil) }},
		"MutList, null":  {false, func(c ecs.Component[ecstest.Position], _ ecs.Entity) { c.MutList(nil, []ecs.Entity{ecs.Null}) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
			position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
			a := ecs.NewArchetype(w, velocity, position)
			var ids []ecs.Entity
			for range 3 * a.Plan().Rows { // one by one: three chunks of one unit
				ids = append(ids, a.Create())
			}
			since := w.Version()
			w.Advance()
			c.touch(position, ids[a.Plan().Rows+1])
			var got []bool
			for rows := range ecs.NewQuery(w, ecs.Read(position), ecs.Read(velocity)).Rows() {
				got = append(got, position.Changed(rows, since))
				require.False(t, velocity.Changed(rows, since))
			}
			require.Equal(t, []bool{false, c.marks, false}, got)
		})
	}
}

// TestLookupSurvivesAForgottenArchetype: an Add that fails for lack of memory takes the
// archetype it made out again, and the next one gets its number.
func TestLookupSurvivesAForgottenArchetype(t *testing.T) {
	u := ecstest.NewUniverse(t, 2<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(1)))
	position := ecs.Register[ecstest.Position](w)
	velocity := ecs.Register[ecstest.Velocity](w)
	health := ecs.Register[ecstest.Health](w)
	a := ecs.NewArchetype(w, position)
	var ids []ecs.Entity
	for { // until the universe is full
		var e ecs.Entity
		err := ecs.Try(func() { e = a.Create() })
		if err != nil {
			break
		}
		ids = append(ids, e)
	}
	last := ids[len(ids)-1]
	n := w.Stats().Archetypes
	err := ecs.Try(func() { velocity.Add(last, ecstest.Velocity{X: 1, Y: 2}) })
	require.Error(t, err)
	require.Equal(t, n, w.Stats().Archetypes)
	require.NotNil(t, position.Get(last))
	require.Nil(t, velocity.Get(last))
	require.NoError(t, w.Verify())
	for _, e := range ids[:len(ids)/2] {
		require.True(t, w.Destroy(e))
	}
	require.True(t, health.Add(last, ecstest.Health{HP: 7, Max: 8})) // its archetype has the number that Velocity's had
	require.Equal(t, n+1, w.Stats().Archetypes)
	require.NotNil(t, position.Get(last))
	require.Nil(t, velocity.Get(last))
	require.Equal(t, ecstest.Health{HP: 7, Max: 8}, *health.Get(last))
	require.NoError(t, w.Verify())
}

func TestLookupMisuseIsNamed(t *testing.T) {
	w, other, closed := ecstest.NewWorld(t), ecstest.NewWorld(t), ecstest.NewWorld(t)
	position, late := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Position](closed)
	e := ecs.NewArchetype(w, position).Create()
	stranger := ecs.NewArchetype(other, ecs.Register[ecstest.Position](other)).Create()
	gone := ecs.NewArchetype(closed, late).Create()
	require.NoError(t, closed.Close())
	zero := "the handle is the zero value; handles come from Register and RegisterBuffer"
	belongs := fmt.Sprintf("entity %v belongs to another world", stranger)
	two, null := []ecs.Entity{e, stranger}, []ecs.Entity{ecs.Null}
	for text, f := range map[string]func(){
		"ecs: Component.Get: " + zero:                                func() { ecs.Component[ecstest.Position]{}.Get(e) },
		"ecs: Component.CopyList: " + zero:                           func() { ecs.Component[ecstest.Position]{}.CopyList(nil, nil) },
		"ecs: Component.GetList: " + zero:                            func() { ecs.Component[ecstest.Position]{}.GetList(nil, nil) },
		"ecs: Component.MutList: " + zero:                            func() { ecs.Component[ecstest.Position]{}.MutList(nil, nil) },
		"ecs: Component.Get: the world is closed":                    func() { late.Get(gone) },
		"ecs: Component.GetList: the world is closed":                func() { late.GetList(nil, null) },
		"ecs: Component.Has: " + belongs:                             func() { position.Has(stranger) },
		"ecs: Component.Mut: " + belongs:                             func() { position.Mut(stranger) },
		"ecs: Component.Set: " + belongs:                             func() { position.Set(stranger, ecstest.Position{}) },
		"ecs: Component.GetList: " + belongs:                         func() { position.GetList(nil, two) },
		"ecs: Component.MutList: " + belongs:                         func() { position.MutList(nil, two) },
		"ecs: Component.CopyList: " + belongs:                        func() { position.CopyList(make([]ecstest.Position, 2), two) },
		"ecs: Component.CopyList: len(dst)=1 is not len(entities)=2": func() { position.CopyList(make([]ecstest.Position, 1), two) },
		"ecs: World.Locate: " + belongs:                              func() { w.Locate(stranger) },
		"ecs: World.Locate: the world is closed":                     func() { closed.Locate(ecs.Null) },
	} {
		ecstest.RequirePanicText(t, text, f)
	}
	require.Equal(t, ecstest.Position{}, *position.Get(e), "nothing was written")
}

func TestGetManyReusesRoom(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	ids := make([]ecs.Entity, 100)
	for i := range ids {
		ids[i] = a.Create()
	}
	room, values := make([]*ecstest.Position, 1, 101), make([]ecstest.Position, 100)
	got := position.GetList(room, ids)
	require.Same(t, &room[0], &got[0])
	require.Nil(t, got[0])
	for i, e := range ids {
		require.Same(t, position.Get(e), got[1+i])
	}
	probe := testing.AllocsPerRun(20, func() {
		var v [8]byte
		*(*byte)(unsafe.Pointer(&v))++
	})
	if debug.On || probe > 0 {
		return // debug builds and those that check pointers may allocate
	}
	require.Zero(t, testing.AllocsPerRun(20, func() {
		position.GetList(room, ids)
		position.MutList(room, ids)
		position.CopyList(values, ids)
		position.Set(ids[3], ecstest.Position{})
	}))
}

func TestLookupSets(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	e, dead := ecs.NewArchetype(w, position).Create(), ecs.NewArchetype(w, velocity).Create()
	require.True(t, position.Set(e, ecstest.Position{X: 3, Y: 4}))
	require.Equal(t, ecstest.Position{X: 3, Y: 4}, *position.Get(e))
	position.Mut(e).X = 5
	require.Equal(t, ecstest.Position{X: 5, Y: 4}, *position.Get(e))
	require.False(t, velocity.Set(e, ecstest.Velocity{}))
	require.True(t, velocity.Set(dead, ecstest.Velocity{X: 1, Y: 2}))
	require.True(t, w.Destroy(dead))
	require.False(t, velocity.Set(dead, ecstest.Velocity{}))
}
