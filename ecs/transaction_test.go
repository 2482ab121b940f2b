package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/internal/seam"
)

func TestTransactionMoves(t *testing.T) {
	w := newWorld(t)
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	a, b := ecs.NewArchetype(w, position), ecs.NewArchetype(w, position, velocity)
	e := a.Create()
	b.Create()
	out, err := seam.After(seam.OutcomeOf(a), ecs.NewChange(w, ecs.Add(velocity)))
	require.NoError(t, err)
	require.Same(t, b, seam.At(&out))
	var tx seam.Transaction
	seam.Begin(&tx, w, "test")
	seam.Move(&tx, []ecs.Entity{e}, &out)
	require.NoError(t, seam.Reserve(&tx))
	require.Equal(t, 1, seam.Run(&tx, 0).Len())
	seam.Finish(&tx)
	require.True(t, velocity.Has(e))
	require.NoError(t, w.Verify())
}

// after works out what changes, one after the other, make of an outcome.
func after(t *testing.T, o seam.Outcome, changes ...*ecs.Change) seam.Outcome {
	t.Helper()
	for _, c := range changes {
		var err error
		o, err = seam.After(o, c)
		require.NoError(t, err)
	}
	return o
}

// outcomeOfCopies is seam.OutcomeOfCopies, and what changes make of the copies.
func outcomeOfCopies(t *testing.T, a *ecs.Archetype, changes ...*ecs.Change) seam.Outcome {
	t.Helper()
	o, err := seam.OutcomeOfCopies(a)
	require.NoError(t, err)
	return after(t, o, changes...)
}

// TestTransactionCopiesLoseCleanup: copies have no Cleanup types of their source, so one that a
// change gives them begins anew: a component as zero, a buffer without elements, a managed type
// without a value.
func TestTransactionCopiesLoseCleanup(t *testing.T) {
	w := newWorld(t)
	socket := ecs.Register[Socket](w, ecs.Cleanup)
	hits := ecs.RegisterBuffer[Hit](w, ecs.Inline(2), ecs.Cleanup)
	name := ecs.RegisterManaged[string](w, ecs.Cleanup)
	a := ecs.NewArchetype(w, socket, hits, name)
	e := a.Create()
	socket.Set(e, Socket{7})
	name.Set(e, "mine")
	for i := range 5 {
		hits.Append(e, Hit{Damage: int32(i)})
	}
	out := outcomeOfCopies(t, a, ecs.NewChange(w, ecs.Add(socket, hits, name)))
	require.Same(t, a, seam.At(&out))
	var tx seam.Transaction
	seam.Begin(&tx, w, "test")
	seam.Copy(&tx, e, &out, 2)
	require.NoError(t, seam.Reserve(&tx))
	copies := seam.Run(&tx, 0).Entities(nil)
	seam.Finish(&tx)
	require.NoError(t, w.Verify())
	for _, c := range copies {
		require.Equal(t, Socket{}, *socket.Get(c))
		require.Empty(t, hits.Slice(c))
		require.Nil(t, name.Get(c))
	}
	require.Equal(t, 5, len(hits.Slice(e)))
	require.Equal(t, "mine", *name.Get(e))
}

// TestTransactionTakesAnEntityOnce: an entity that is twice in the list of a group moves once, and
// is once in the batch.
func TestTransactionTakesAnEntityOnce(t *testing.T) {
	w := newWorld(t)
	position, tag := ecs.Register[Position](w), ecs.Register[Tag](w)
	a := ecs.NewArchetype(w, position)
	e, f := a.Create(), a.Create()
	out := after(t, seam.OutcomeOf(a), ecs.NewChange(w, ecs.Add(tag)))
	var tx seam.Transaction
	seam.Begin(&tx, w, "test")
	seam.Move(&tx, []ecs.Entity{e, f, e}, &out)
	require.NoError(t, seam.Reserve(&tx))
	b := seam.Run(&tx, 0)
	require.ElementsMatch(t, []ecs.Entity{e, f}, b.Entities(nil))
	require.Equal(t, 2, b.Len())
	seam.Finish(&tx)
	require.NoError(t, w.Verify())
}

// TestTransactionMisuse: a group that cannot be is refused by a panic that names the call, and the
// transaction is over: what groups before it took is given back, and the world is as it was.
func TestTransactionMisuse(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	position, tag := ecs.Register[Position](w), ecs.Register[Tag](w)
	hits := ecs.RegisterBuffer[Hit](w, ecs.Inline(2))
	a, b := ecs.NewArchetype(w, position, hits), ecs.NewArchetype(w, position)
	e, dead, elsewhere := a.Create(), a.Create(), b.Create()
	w.Destroy(dead)
	for i := range 5 {
		hits.Append(e, Hit{Damage: int32(i)})
	}
	stranger := ecs.NewArchetype(other, ecs.Register[Position](other)).Create()
	copies, tagged := outcomeOfCopies(t, a), after(t, seam.OutcomeOf(a), ecs.NewChange(w, ecs.Add(tag)))
	var tx seam.Transaction
	before := w.Hash()
	for text, call := range map[string]func(){
		"ecs: test: " + dead.String() + " is not alive, there is nothing to copy":                                   func() { seam.Copy(&tx, dead, &copies, 1) },
		"ecs: test: " + elsewhere.String() + " is of [Position], its copies were worked out for [Position []Hit]":   func() { seam.Copy(&tx, elsewhere, &copies, 1) },
		"ecs: test: entities of [Position] are to move as those of [Position []Hit]":                                func() { seam.Move(&tx, []ecs.Entity{elsewhere}, &tagged) },
		"ecs: test: entity 1 of the list, " + dead.String() + ", is not alive; nothing was changed":                 func() { seam.Move(&tx, []ecs.Entity{e, dead}, &tagged) },
		"ecs: test: entity 0 of the list, " + stranger.String() + ", belongs to another world; nothing was changed": func() { seam.Move(&tx, []ecs.Entity{stranger}, &tagged) },
		"ecs: test: entity 0 of the list is " + seam.Placeholder(1, 1).String() + ", which names an entity in its command buffer only": func() {
			seam.Move(&tx, []ecs.Entity{seam.Placeholder(1, 1)}, &tagged)
		},
	} {
		seam.Begin(&tx, w, "test")
		seam.Copy(&tx, e, &copies, 3)
		seam.Create(&tx, &tagged, 4)
		require.Contains(t, panicText(call), text)
		require.NoError(t, w.Verify(), text)
		require.Equal(t, before, w.Hash(), text)
		require.True(t, w.Destroy(a.Create()), "the world takes changes")
		before = w.Hash()
	}
}

// TestTransactionOutcomesThatDoNotFit: outcomes that are zero, of another world, or the end of what
// is made.
func TestTransactionOutcomesThatDoNotFit(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	position, alien := ecs.Register[Position](w), ecs.Register[Position](other)
	hits := ecs.RegisterBuffer[Hit](w, ecs.Inline(2))
	a, b := ecs.NewArchetype(w, position, hits), ecs.NewArchetype(other, alien)
	e := a.Create()
	hits.Append(e, make([]Hit, 5)...)
	foreign, zero := seam.OutcomeOf(b), seam.Outcome{}
	ended, copies := after(t, seam.OutcomeOf(a), seam.Destruction(w)), outcomeOfCopies(t, a)
	endedCopies := after(t, copies, seam.Destruction(w))
	before := w.Hash()
	var tx seam.Transaction
	for name, call := range map[string]func(){
		"create foreign": func() { seam.Create(&tx, &foreign, 2) },
		"create zero":    func() { seam.Create(&tx, &zero, 2) },
		"create ended":   func() { seam.Create(&tx, &ended, 2) },
		"copy foreign":   func() { seam.Copy(&tx, e, &foreign, 2) },
		"copy zero":      func() { seam.Copy(&tx, e, &zero, 2) },
		"copy ended":     func() { seam.Copy(&tx, e, &endedCopies, 2) },
		"move foreign":   func() { seam.Move(&tx, nil, &foreign) },
		"move zero":      func() { seam.Move(&tx, nil, &zero) },
	} {
		seam.Begin(&tx, w, "test")
		seam.Copy(&tx, e, &copies, 3)
		require.Equal(t, "ecs: test: the archetype is nil or belongs to another world", panicText(call), name)
		require.NoError(t, w.Verify(), name)
		require.Equal(t, before, w.Hash(), name)
	}
	require.NoError(t, other.Verify())
}

// TestTransactionOfNothing: groups of no entities, no copies and nothing new are groups all the
// same, and do nothing, in archetypes without rows too.
func TestTransactionOfNothing(t *testing.T) {
	w := newWorld(t)
	owner, prefab := ecs.Register[Owner](w), ecs.Register[ecs.Prefab](w)
	a := ecs.NewArchetype(w, owner, prefab)
	e := a.Create()
	hash, out, copies := w.Hash(), seam.OutcomeOf(a), outcomeOfCopies(t, a)
	var tx seam.Transaction
	seam.Begin(&tx, w, "test")
	seam.Copy(&tx, e, &copies, 0)
	seam.Create(&tx, &out, 0)
	seam.Move(&tx, nil, &out)
	require.NoError(t, seam.Reserve(&tx))
	for i := range 3 {
		require.Zero(t, seam.Run(&tx, i).Len())
	}
	seam.Finish(&tx)
	require.Equal(t, hash, w.Hash())
	require.NoError(t, w.Verify())
}

// TestTransactionEnds: batches are void when gaps have been closed, the world is locked from Begin
// on, and a group that has not run is not lost without a word.
func TestTransactionEnds(t *testing.T) {
	w := newWorld(t)
	position := ecs.Register[Position](w)
	a := ecs.NewArchetype(w, position)
	out := seam.OutcomeOf(a)
	var tx seam.Transaction
	seam.Begin(&tx, w, "test")
	require.PanicsWithValue(t, "ecs: Archetype.Create: structural change inside another one, test, which is not done yet; make it after that call", func() { a.Create() })
	seam.Create(&tx, &out, 3)
	require.NoError(t, seam.Reserve(&tx))
	require.PanicsWithValue(t, "ecs: test: 0 of 1 groups of the transaction have run", func() { seam.Finish(&tx) })
	batch := seam.Run(&tx, 0)
	require.Len(t, batch.Entities(nil), 3)
	seam.Finish(&tx)
	require.PanicsWithValue(t, "ecs: Batch.Entities: the batch of 3 rows is no longer current: the world has changed since it was made", func() { batch.Entities(nil) })
	require.NoError(t, w.Verify())
}

// TestOutcomeOfWhatWasGivenUp: the archetype that an outcome leads to may be given up before a
// change follows, and before rows move.
func TestOutcomeOfWhatWasGivenUp(t *testing.T) {
	w := newWorld(t)
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	cell := ecs.RegisterShared[int](w)
	a := ecs.NewArchetype(w, position)
	e := a.Create()
	add := ecs.NewChange(w, ecs.Add(velocity))
	out, err := seam.After(seam.OutcomeOf(a), ecs.NewChange(w, ecs.Put(cell.Of(7))))
	require.NoError(t, err)
	for range 2 {
		w.Shrink(0) // it gives up the archetype that the outcome leads to
		out, err = seam.After(out, add)
		require.NoError(t, err)
		require.NoError(t, w.Verify())
	}
	w.Shrink(0)
	var tx seam.Transaction
	seam.Begin(&tx, w, "test")
	seam.Move(&tx, []ecs.Entity{e}, &out)
	require.NoError(t, seam.Reserve(&tx))
	seam.Run(&tx, 0)
	seam.Finish(&tx)
	v, ok := cell.Get(e)
	require.True(t, ok && v == 7 && velocity.Has(e))
	require.NoError(t, w.Verify())
	w.Destroy(e)
	w.Shrink(0)
	require.NoError(t, w.Verify())
}
