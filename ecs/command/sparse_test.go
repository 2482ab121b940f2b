package command

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/internal/lint"

	"github.com/stretchr/testify/require"
)

// aim is sparse in these tests, with bits; it names an entity.
type aim struct {
	At ecs.Entity
	N  int32
}

// nilOfSparse calls the functions about sparse types with nil.
func nilOfSparse(y *yard, cb *Buffer) (rows []lint.NilCall) {
	s := y.aim
	e := y.full.Create()
	var gone *ecs.Query
	for name, call := range map[string][4]func(){
		"AddSparse": {func() { AddSparse(nil, e, s, aim{}) }, func() { AddSparse(nil, []ecs.Entity{e}, s, aim{}) },
			func() { AddSparse(nil, y.q, s, aim{}) }, func() { AddSparse(cb, gone, s, aim{}) }},
		"PutSparse": {func() { PutSparse(nil, e, s, aim{}) }, func() { PutSparse(nil, []ecs.Entity{e}, s, aim{}) },
			func() { PutSparse(nil, y.q, s, aim{}) }, func() { PutSparse(cb, gone, s, aim{}) }},
		"SetSparse": {func() { SetSparse(nil, e, s, aim{}) }, func() { SetSparse(nil, []ecs.Entity{e}, s, aim{}) },
			func() { SetSparse(nil, y.q, s, aim{}) }, func() { SetSparse(cb, gone, s, aim{}) }},
	} {
		for i, what := range []string{"recorder", "list", "by query", "query"} {
			rows = append(rows, lint.NilPanics(name+": "+what, "command: "+name+": ", call[i]))
		}
	}
	return rows
}

// field is a world with a sparse type, whose entities are the same as in another field.
type field struct {
	w    *ecs.World
	pos  ecs.Component[position]
	mark ecs.Component[int16]
	aim  ecs.Sparse[aim]
	kept ecs.Component[int64]
	ids  []ecs.Entity
	q    *ecs.Query
}

func newField(t *testing.T) *field {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
	})
	f := &field{w: w, pos: ecs.Register[position](w), mark: ecs.Register[int16](w), aim: ecs.RegisterSparse[aim](w,
		ecs.Enableable),
		kept: ecs.Register[int64](w, ecs.Cleanup)}
	for i := range 40 {
		types := []ecs.Type{f.pos}
		if i%3 == 0 {
			types = append(types, f.kept)
		}
		f.ids = append(f.ids, ecs.NewArchetype(w, types...).Create())
	}
	f.q = ecs.NewQuery(w, ecs.With(f.aim), ecs.Without(f.mark))
	return f
}

// state is what a field has of each entity.
func (f *field) state() (all []any) {
	for i, e := range f.ids {
		v, _ := f.w.Value(e, f.aim).(aim)
		if v.At != ecs.Null {
			v.At = ecs.Null
			v.N += 1000 * int32(f.aim.Get(e).At.Index())
		}
		all = append(all, [7]any{i, f.w.Alive(e), f.mark.Has(e), f.kept.Has(e), f.aim.Has(e), f.aim.Enabled(e), v})
	}
	return all
}

// TestSparseCommands compares commands with the calls that they stand for, one after the other.
func TestSparseCommands(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compareSeed(t, seed) })
	}
}

// compareSeed compares one stream of commands, in worlds of its own.
func compareSeed(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	a, b := newField(t), newField(t)
	cb := NewBuffer(b.w)
	defer cb.Close()
	for range 6 {
		for range r.IntN(30) {
			compareStep(r, a, b, cb)
		}
		err := cb.PlayRest() // SetSparse of what has none fails, and changes nothing
		if err != nil {
			var failed *PlayError
			require.ErrorAs(t, err, &failed)
			require.NoError(t, failed.Unwrap())
		}
		require.Equal(t, a.state(), b.state())
		require.NoError(t, b.w.Verify())
	}
}

// compareStep makes one change of a, and records it for b.
func compareStep(r *rand.Rand, a, b *field, cb *Buffer) {
	i, j := r.IntN(len(a.ids)), r.IntN(len(a.ids))
	e, f := a.ids[i], b.ids[i]
	alive := a.pos.Has(e)
	v, u := aim{At: a.ids[j], N: r.Int32N(100)}, aim{At: b.ids[j]}
	u.N = v.N
	switch op := r.IntN(12); {
	case !alive && op < 8, !alive && op == 11:
	case op < 2:
		a.aim.Add(e, v)
		AddSparse(cb, f, b.aim, u)
	case op == 2:
		if !a.aim.Set(e, v) {
			a.aim.Add(e, v)
		}
		PutSparse(cb, f, b.aim, u)
	case op == 3:
		a.aim.Set(e, v)
		SetSparse(cb, f, b.aim, u)
	case op == 4:
		a.aim.Disable(e) // of what has none fails, too
		cb.Disable(f, b.aim)
	case op == 5:
		if a.mark.Has(e) {
			a.mark.Remove(e)
			cb.Remove(f, b.mark)
		} else {
			a.mark.Add(e, 1)
			Add(cb, f, b.mark, 1)
		}
	case op == 6:
		c, d := ecs.NewChange(a.w, ecs.Add(a.aim, a.mark)), ecs.NewChange(b.w, ecs.Add(b.aim, b.mark))
		_, _ = c.Apply(e)
		cb.Apply(f, d)
	case op == 7:
		a.w.Destroy(e)
		cb.Destroy(f)
	case op == 8:
		a.aim.Remove(e)
		cb.Remove(f, b.aim)
	case op == 9:
		for _, e := range a.q.Entities(nil) {
			a.aim.Set(e, v)
		}
		SetSparse(cb, b.q, b.aim, u)
	case op == 10:
		_, _ = ecs.NewChange(a.w, ecs.Remove(a.aim)).ApplyQuery(a.q)
		cb.RemoveQuery(b.q, b.aim)
	case op == 11:
		a.aim.Add(e, v)
		AddSparse(cb, []ecs.Entity{f, f}, b.aim, u)
	}
}

// TestSparsePlaceholders: entities that a buffer makes get entries, which name others that it
// makes; copies have the entries of their source.
func TestSparsePlaceholders(t *testing.T) {
	f := newField(t)
	cb := NewBuffer(f.w)
	defer cb.Close()
	first := cb.Create(ecs.NewArchetype(f.w, f.pos))
	second := cb.Create(ecs.NewArchetype(f.w, f.pos))
	AddSparse(cb, first, f.aim, aim{At: second, N: 1})
	AddSparse(cb, second, f.aim, aim{At: first, N: 2})
	f.aim.Add(f.ids[5], aim{At: f.ids[5], N: 3})
	copied := cb.Instantiate(f.ids[5])
	cb.Disable(copied, f.aim)
	require.NoError(t, cb.Play())
	a, b, c := cb.Made(first), cb.Made(second), cb.Made(copied)
	require.Equal(t, aim{b, 1}, *f.aim.Get(a))
	require.Equal(t, aim{a, 2}, *f.aim.Get(b))
	require.Equal(t, aim{c, 3}, *f.aim.Get(c))
	require.False(t, f.aim.Enabled(c))
	require.True(t, f.aim.Enabled(f.ids[5]))
}

// TestSparseOfTheDying: commands by query leave entities alone that were destroyed and are kept by
// Cleanup types.
func TestSparseOfTheDying(t *testing.T) {
	f := newField(t)
	f.w.Destroy(f.ids[0])
	f.w.Destroy(f.ids[1]) // has no Cleanup type
	q := ecs.NewQuery(f.w, ecs.With(f.kept))
	cb := NewBuffer(f.w)
	defer cb.Close()
	AddSparse(cb, q, f.aim, aim{N: 1})
	PutSparse(cb, q, f.aim, aim{N: 2})
	require.NoError(t, cb.Play())
	require.True(t, q.Matches(f.ids[0]))
	require.False(t, f.aim.Has(f.ids[0]))
	require.Equal(t, q.Count()-1, f.aim.Len())
	require.EqualValues(t, 2, f.aim.Get(f.ids[3]).N)
}

// TestWhyOfWhatHasEnded: a failure reports that a command ended the entity only if one did, and
// that an entity which the program destroyed, and Cleanup types keep, gets no sparse type.
func TestWhyOfWhatHasEnded(t *testing.T) {
	y := openYard(t)
	dying := func() ecs.Entity {
		e := y.plain.Create()
		y.socket.Add(e, socket{1})
		y.w.Destroy(e)
		require.True(t, y.w.Alive(e))
		return e
	}
	gone := y.plain.Create()
	y.w.Destroy(gone)
	for name, c := range map[string]struct {
		why    string
		record func(cb *Buffer)
	}{
		"add to the dying":         {reasons[isDying], func(cb *Buffer) { AddSparse(cb, dying(), y.aim, aim{}) }},
		"put to the dying":         {reasons[isDying], func(cb *Buffer) { PutSparse(cb, []ecs.Entity{dying()}, y.aim, aim{}) }},
		"destroyed by a command":   {reasons[hasEnded], func(cb *Buffer) { e := y.plain.Create(); cb.Destroy(e); Set(cb, e, y.pos, position{}) }},
		"its Cleanup type removed": {reasons[hasEnded], func(cb *Buffer) { e := dying(); cb.Remove(e, y.socket); Put(cb, e, y.pos, position{}) }},
		"dead before":              {reasons[isDead], func(cb *Buffer) { cb.Destroy(gone); Set(cb, gone, y.pos, position{}) }},
		"kept by a Cleanup type": {reasons[isDying], func(cb *Buffer) {
			e := y.plain.Create()
			y.socket.Add(e, socket{2})
			cb.Destroy(e)
			AddSparse(cb, e, y.aim, aim{})
		}},
	} {
		cb := NewBuffer(y.w)
		c.record(cb)
		var refused *PlayError
		require.ErrorAs(t, cb.PlayRest(), &refused, name)
		require.Equal(t, 1, refused.Count, name)
		require.Equal(t, c.why, refused.Failures[0].Why, name)
		cb.Close()
	}
	require.NotContains(t, reasons[isDying], "command")
	require.NotContains(t, reasons[hasEnded], "destroyed") // a Remove ends an entity too
}

// TestTogglesOfWhatIsNotThere: a command that toggles a type which the entity does not have fails
// alike, be the type the archetype's or sparse.
func TestTogglesOfWhatIsNotThere(t *testing.T) {
	f := newField(t)
	bit := ecs.Register[bit](f.w, ecs.Enableable)
	cb := NewBuffer(f.w)
	defer cb.Close()
	f.aim.Add(f.ids[1], aim{N: 1})
	failuresOf := func(of ecs.Type) (list []Failure) {
		cb.Key(3)
		cb.Enable(f.ids[0], of)
		cb.Disable(f.ids[0], of)
		cb.DisableList(f.ids[:3], of)
		var failed *PlayError
		require.ErrorAs(t, cb.PlayRest(), &failed)
		require.True(t, failed.Applied)
		require.NoError(t, failed.Unwrap())
		require.Equal(t, len(failed.Failures), failed.Count)
		for _, x := range failed.Failures {
			x.Command, _, _ = strings.Cut(x.Command, " ")
			x.Line = ""
			list = append(list, x)
		}
		return list
	}
	_, err := ecs.NewChange(f.w, ecs.Add(bit)).Apply(f.ids[1])
	require.NoError(t, err)
	want := failuresOf(bit)
	require.Len(t, want, 4)
	require.Equal(t, "the entity does not have the type then", want[0].Why)
	require.ElementsMatch(t, want, failuresOf(f.aim))
	require.False(t, f.aim.Enabled(f.ids[1]))
	require.False(t, f.aim.Has(f.ids[0]))

	e := cb.Create(ecs.NewArchetype(f.w, f.pos)) // it has what it gets before
	AddSparse(cb, e, f.aim, aim{})
	cb.Disable(e, f.aim)
	cb.Remove(e, f.aim)
	cb.Enable(e, f.aim)
	var failed *PlayError
	require.ErrorAs(t, cb.Play(), &failed)
	require.Equal(t, 1, failed.Count)
	require.Equal(t, e, failed.Failures[0].Entity)
}

type bit struct{ N int }
