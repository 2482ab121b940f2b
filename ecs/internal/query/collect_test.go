package query_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestBehaviour35CountAndAt: Count and At agree with the loop; an index out of range
// panics, where the peers do too.
func TestBehaviour35CountAndAt(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, stun := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Stun](w, ecs.Enableable)
	for i, e := range ecstest.CreateEach(ecs.NewArchetype(w, position, stun), 1500) {
		if i%3 == 0 || i < 700 { // whole chunks without a match, and a part of one
			stun.Disable(e)
		}
	}
	ecstest.CreateEach(ecs.NewArchetype(w, stun), 1)
	for _, q := range []*ecs.Query{
		ecs.NewQuery(w, ecs.Read(stun)), ecs.NewQuery(w, ecs.Without(stun)), ecs.NewQuery(w, ecs.With(position)),
		ecs.NewQuery(w), ecs.NewQuery(w, ecs.Absent(stun)), ecs.NewQuery(w, ecs.Read(stun), ecs.Changed(position)),
	} {
		var list []ecs.Entity
		for rows := range q.Rows() {
			for i := range rows.Each() {
				list = append(list, rows.Entities()[i])
			}
		}
		q.SetSince(0)
		n := len(list)
		require.Equal(t, n, q.Count(), "%v", q)
		require.Equal(t, n == 0, q.Empty())
		require.Equal(t, append([]ecs.Entity{ecs.Null}, list...), q.Entities([]ecs.Entity{ecs.Null}), "appended")
		_, err := q.Single()
		require.ErrorIs(t, err, ecs.ErrNotSingle)
		require.EqualError(t, err, fmt.Sprintf("ecs: Query.Single: %v matches %d: not exactly one entity", q, n))
	}
}

// TestSingle finds the only one that matches, in whichever row it is.
func TestSingle(t *testing.T) {
	w := ecstest.NewWorld(t)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	ids := ecstest.CreateEach(ecs.NewArchetype(w, stun), 200)
	q := ecs.NewQuery(w, ecs.Disabled(stun))
	for _, e := range []ecs.Entity{ids[0], ids[63], ids[64], ids[199]} {
		stun.Disable(e)
		got, err := q.Single()
		require.NoError(t, err)
		require.Equal(t, e, got)
		stun.Enable(e)
	}
	got, err := q.Single()
	require.Equal(t, ecs.Null, got)
	require.EqualError(t, err, "ecs: Query.Single: query(Disabled Stun) matches 0: not exactly one entity")
}

// TestValues copies a component out and in, one value an entity that matches.
func TestValues(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	health, stun := ecs.Register[ecstest.Health](w), ecs.Register[ecstest.Stun](w, ecs.Enableable)
	ids := ecstest.CreateEach(ecs.NewArchetype(w, health, stun), 2000)
	ids = append(ids, ecstest.CreateEach(ecs.NewArchetype(w, health), 70)...)
	for i, e := range ids {
		health.Set(e, ecstest.Health{HP: int32(i)})
		if i%4 == 0 {
			stun.Disable(e)
		}
	}
	q := ecs.NewQuery(w, ecs.Write(health), ecs.Without(stun))
	values := health.Values(q, []ecstest.Health{{HP: -1}})
	require.Equal(t, ecstest.Health{HP: -1}, values[0])
	values = values[1:]
	require.Len(t, values, 500+70)
	for i, e := range q.Entities(nil) {
		require.Equal(t, *health.Get(e), values[i])
		values[i].Max = 9
	}
	changed := ecs.NewQuery(w, ecs.Changed(health))
	passed(changed)
	hash := w.Hash()
	require.EqualError(t, health.SetValues(q, values[1:]),
		"ecs: Component.SetValues: query(Write Health, Without Stun) matches 570 entities, there are 569 values")
	require.Equal(t, hash, w.Hash())
	require.True(t, changed.Empty(), "a refused call marks nothing")
	require.NoError(t, health.SetValues(q, values))
	require.False(t, changed.Empty())
	for i, e := range ids {
		want := ecstest.Health{HP: int32(i)}
		if i%4 == 0 || i >= 2000 {
			want.Max = 9
		}
		require.Equal(t, want, *health.Get(e))
	}
	none := ecs.NewQuery(w, ecs.Write(health), ecs.Disabled(stun), ecs.Changed(stun))
	none.SetSince(w.Version())
	require.Empty(t, health.Values(none, nil))
	require.NoError(t, health.SetValues(none, nil))
}

// TestQueryMisuseIsNamed: misuse of queries panics with the cause, the place and what to do, and
// leaves the world as it was. A misuse is a call and the text that it must panic with.
type misuse struct {
	text string
	call func()
}

func TestQueryMisuseIsNamed(t *testing.T) {
	m := ecstest.NewMisuse(t)
	query := func(terms ...ecs.Term) func() { return func() { ecs.NewQuery(m.World, terms...) } }
	within := "; only types, Read and Write may stand there"
	requireMisuse(t, m, []misuse{
		{"ecs: NewQuery: Disabled Position: it was not registered with ecs.Enableable", query(ecs.Disabled(m.Position))},
		{"ecs: NewQuery: Disabled Position: it was not registered with ecs.Enableable", query(ecs.Disabled(m.Stun, ecs.Read(m.Position)))},
		{"ecs: NewQuery: Position is in two terms", query(ecs.Read(m.Position), ecs.Write(m.Position))},
		{"ecs: NewQuery: Position is in two terms", query(ecs.Any(m.Position, m.Velocity), ecs.Optional(m.Position))},
		{"ecs: NewQuery: Position is in two terms", query(ecs.With(m.Velocity, m.Position), ecs.With(m.Position))},
		{"ecs: NewQuery: With names Position twice", query(ecs.With(m.Position, m.Velocity, m.Position))},
		{"ecs: NewQuery: Any names Position twice", query(ecs.Any(ecs.Read(m.Position), m.Position))},
		{"ecs: NewQuery: Changed names Position twice", query(ecs.Changed(m.Position, m.Position))},
		{"ecs: NewQuery: Position is in two Changed terms", query(ecs.Changed(m.Position), ecs.Changed(m.Position))},
		{"ecs: NewQuery: With names no type", query(ecs.With())},
		{"ecs: NewQuery: Without names no type", query(ecs.Without())},
		{"ecs: NewQuery: Any names no type", query(ecs.Any())},
		{"ecs: NewQuery: Optional names no type", query(ecs.Optional())},
		{"ecs: NewQuery: Disabled names no type", query(ecs.Disabled())},
		{"ecs: NewQuery: Present names no type", query(ecs.Present())},
		{"ecs: NewQuery: Absent names no type", query(ecs.Absent())},
		{"ecs: NewQuery: Changed names no type", query(ecs.Changed())},
		{"ecs: NewQuery: a term is the zero value; terms come from Read, Write, With and so on", query(ecs.Term{})},
		{"ecs: Any: With inside another term" + within, func() { ecs.Any(ecs.With(m.Position)) }},
		{"ecs: Optional: Any inside another term" + within, func() { ecs.Optional(ecs.Any(m.Position)) }},
		{"ecs: Present: Ordered inside another term" + within, func() { ecs.Present(ecs.Ordered()) }},
		{"ecs: Any: a type is nil", func() { ecs.Any(m.Position, nil) }},
		{"ecs: Read: a type is nil", func() { ecs.Read(nil) }},
		{"ecs: Without: a type is nil", func() { ecs.Without(m.Position, nil) }},
		{"ecs: Write: a type is nil", func() { ecs.Any(ecs.Write(nil)) }},
		{"ecs: NewQuery: the handle is the zero value; handles come from Register and RegisterBuffer", query(ecs.Absent(ecs.Component[ecstest.Tag]{}))},
		{"ecs: NewQuery: the handle is the zero value; handles come from Register and RegisterBuffer", query(ecs.Any(ecs.Buffer[ecstest.Hit]{}))},
		{"ecs: NewQuery: Tag was registered in another world", query(ecs.Changed(ecs.Register[ecstest.Tag](m.Other)))},
	})
}

func TestColumnMisuseIsNamed(t *testing.T) {
	m := ecstest.NewMisuse(t)
	health, tag := ecs.Register[ecstest.Health](m.World), ecs.Register[ecstest.Tag](m.World)
	ecs.NewArchetype(m.World, m.Position).Create()
	opt := ecs.NewQuery(m.World, ecs.Optional(ecs.Write(m.Stun)), ecs.Read(m.Position))
	none := ecs.NewQuery(m.World, ecs.Read(health), ecs.Write(tag))
	either := ecs.NewQuery(m.World, ecs.Any(ecs.Read(m.Position), m.Stun))
	two := make([]ecstest.Stun, 2)
	requireMisuse(t, m, []misuse{
		{"ecs: Component.Values: query(Write Position, Read []Hit, With Stun) does not declare Stun: add ecs.Read or ecs.Write",
			func() { m.Stun.Values(m.Query, nil) }},
		{"ecs: Component.Values: query(Read Health, Write Tag) does not declare Position: add ecs.Read or ecs.Write", func() { m.Position.Values(none, nil) }},
		{"ecs: Component.Values: [Position] of query(Optional Write Stun, Read Position) has no Stun", func() { m.Stun.Values(opt, nil) }},
		{"ecs: Component.Values: Position and the query belong to different worlds", func() { ecs.Register[ecstest.Position](m.Other).Values(m.Query, nil) }},
		{"ecs: Component.Values: the handle is the zero value; handles come from Register and RegisterBuffer",
			func() { ecs.Component[ecstest.Position]{}.Values(m.Query, nil) }},
		{"ecs: Component.SetValues: query(Optional Write Stun, Read Position) does not declare Velocity: add ecs.Read or ecs.Write",
			func() { _ = m.Velocity.SetValues(opt, nil) }},
		{"ecs: Component.SetValues: query(Optional Write Stun, Read Position) declares Position to read: use ecs.Write",
			func() { _ = m.Position.SetValues(opt, nil) }},
		{"ecs: Component.SetValues: query(Read Health, Write Tag) declares Health to read: use ecs.Write", func() { _ = health.SetValues(none, nil) }},
		{"ecs: Component.SetValues: [Position] of query(Optional Write Stun, Read Position) has no Stun", func() { _ = m.Stun.SetValues(opt, two) }},
		{"ecs: Query.At: index 1 is not in [0, 1) of query(Write Position, Read []Hit, With Stun)", func() { m.Query.At(1) }},

		{"ecs: Component.Mark: query(Optional Write Stun, Read Position) declares Position to read: use ecs.Write",
			ecstest.InLoop(opt, func(r ecs.Rows) { m.Position.Mark(r) })},
		{"ecs: Component.Mark: query(Optional Write Stun, Read Position) does not declare Velocity: add ecs.Read or ecs.Write",
			ecstest.InLoop(opt, func(r ecs.Rows) { m.Velocity.Mark(r) })},
		{"ecs: Component.ReadOnly: query(Write Position, Read []Hit, With Stun) does not declare Velocity: add ecs.Read or ecs.Write",
			ecstest.InLoop(m.Query, func(r ecs.Rows) { m.Velocity.ReadOnly(r) })},
		{"ecs: Component.In: query(Write Position, Read []Hit, With Stun) does not declare Stun: add ecs.Read or ecs.Write",
			ecstest.InLoop(m.Query, func(r ecs.Rows) { m.Stun.In(r) })},
		{"ecs: Component.Changed: query(Write Position, Read []Hit, With Stun) does not declare Stun: add ecs.Read or ecs.Write",
			ecstest.InLoop(m.Query, func(r ecs.Rows) { m.Stun.Changed(r, 0) })},
		{"ecs: Component.EnableAt: query(Write Position, Read []Hit, With Stun) does not declare Stun: add ecs.Write",
			ecstest.InLoop(m.Query, func(r ecs.Rows) { m.Stun.EnableAt(r, 0) })},
		{"ecs: Component.Slice: query(Any(Read Position, Stun)) does not declare Stun: say ecs.Any(ecs.Read(Stun)), or ecs.Any(ecs.Write(Stun)) to write, in its term Any(Read Position, Stun)",
			ecstest.InLoop(either, func(r ecs.Rows) { m.Stun.Slice(r) })},
		{"ecs: Component.Mark: query(Write Position, Read []Hit, With Stun) declares []Hit to read: use ecs.Write",
			ecstest.InLoop(m.Query, func(r ecs.Rows) { m.Hits.Mark(r) })},
	})
}

// requireMisuse makes each call: it must panic with its text and change nothing.
func requireMisuse(t *testing.T, m *ecstest.Misuse, list []misuse) {
	t.Helper()
	for _, c := range list {
		hash, matchings, version := m.World.Hash(), matchingsOf(m.World), m.World.Version()
		require.PanicsWithValue(t, c.text, c.call)
		require.NoError(t, m.World.Verify(), "after %s", c.text)
		require.Equal(t, hash, m.World.Hash(), "after %s", c.text)
		require.Equal(t, matchings, matchingsOf(m.World), "after %s", c.text)
		require.Equal(t, version, m.World.Version(), "after %s", c.text)
	}
	m.Archetype.Create() // unlocked
}

// TestEachInlines: the loop over Each and its body become part of the function that
// they stand in, so that a row costs no call.
func TestEachInlines(t *testing.T) {
	w, position, _, _ := ecstest.Movers(t, 3)
	defer w.Close()
	var frames *runtime.Frames
	for rows := range ecs.NewQuery(w, ecs.Write(position)).Rows() {
		p := position.Slice(rows)
		for i := range rows.Each() {
			p[i].X++
			if i == 2 {
				frames = callers()
			}
		}
	}
	var inlined []string
	for {
		f, more := frames.Next()
		inlined = append(inlined, f.Function)
		if f.Func != nil || !more { // nil: it was inlined
			break
		}
	}
	all := strings.Join(inlined, " ")
	require.Contains(t, all, "TestEachInlines.Rows.Each.eachBit.func",
		"the walk over the mask is a function of its own, or has another name: %s", all)
	require.Regexp(t, `TestEachInlines-range1$`, inlined[len(inlined)-1])
}

// TestEachInCopiedClosure: a loop in a closure allocates nothing if the function that returns the
// closure is not inlined. If it is, the compiler does not inline Rows and Each in its copy.
func TestEachInCopiedClosure(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	_, err := ecs.NewArchetype(w, position).CreateN(5000)
	require.NoError(t, err)
	q := ecs.NewQuery(w, ecs.Write(position))
	plain, copied := plainLoop(q, position), copiedLoop(q, position)
	require.Zero(t, testing.AllocsPerRun(10, plain))
	t.Log(testing.AllocsPerRun(10, copied), "allocations where the compiler copies the closure, see docs/semantics.md")
}

//go:noinline
func plainLoop(q *ecs.Query, c ecs.Component[ecstest.Position]) func() {
	return func() {
		for rows := range q.Rows() {
			p := c.Slice(rows)
			for i := range rows.Each() {
				p[i].X++
			}
		}
	}
}

func copiedLoop(q *ecs.Query, c ecs.Component[ecstest.Position]) func() {
	return func() {
		for rows := range q.Rows() {
			p := c.Slice(rows)
			for i := range rows.Each() {
				p[i].X++
			}
		}
	}
}

//go:noinline
func callers() *runtime.Frames {
	pcs := make([]uintptr, 32)
	return runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
}

// TestLoopsAllocateNothing: after the first loop, with masks, versions, shares, nested
// loops and all ways to walk rows.
func TestLoopsAllocateNothing(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	health := ecs.Register[ecstest.Health](w, ecs.Enableable)
	ids := ecstest.CreateEach(ecs.NewArchetype(w, position, stun, health), 5000)
	for i, e := range ids {
		if i%3 == 0 {
			stun.Disable(e)
		}
		if i%5 == 0 {
			health.Disable(e)
		}
	}
	masks := ecs.NewQuery(w, ecs.Write(position), ecs.With(stun), ecs.Without(health))
	anyOf := ecs.NewQuery(w, ecs.Any(ecs.Read(stun), ecs.Read(health)))
	versions := ecs.NewQuery(w, ecs.Read(position), ecs.Changed(position, stun), ecs.Ordered())
	buffer, entities := make([]ecstest.Position, 0, 8000), make([]ecs.Entity, 0, 8000)
	sum := 0
	for name, f := range map[string]func(){
		"masks": func() {
			for rows := range masks.Rows() {
				p := position.Slice(rows)
				for i := range rows.Each() {
					p[i].X++
				}
				for lo, hi := range rows.Runs() {
					sum += hi - lo
				}
				sum += rows.Count()
			}
		},
		"versions": func() {
			position.Mut(ids[0])
			for rows := range versions.Rows() {
				sum += len(position.ReadOnly(rows))
			}
		},
		"nested": func() {
			for range masks.Rows() {
				for rows := range anyOf.Rows() {
					sum += len(rows.Mask())
				}
			}
		},
		"toggles": func() {
			stun.Disable(ids[1])
			stun.Enable(ids[1])
		},
		"collect": func() {
			sum += masks.Count() + anyOf.Count() + versions.Count()
			entities = masks.Entities(entities[:0])
			buffer = position.Values(masks, buffer[:0])
			if err := position.SetValues(masks, buffer); err != nil || masks.Empty() || anyOf.At(17) == ecs.Null {
				t.Error(err)
			}
			w.Advance()
		},
	} {
		f()
		require.Zero(t, testing.AllocsPerRun(20, f), name)
	}
	p := w.Lend()
	loop := func() {
		for range anyOf.Rows() {
			for rows := range versions.Rows() {
				sum += rows.Len()
			}
		}
		stun.Disable(ids[2])
	}
	loop()
	require.Zero(t, testing.AllocsPerRun(20, loop), "a share")
	p.End()
	require.Positive(t, sum)
}
