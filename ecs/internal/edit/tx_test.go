package edit_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"

	"github.com/stretchr/testify/require"
)

func TestTransactionMoves(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	a, b := ecs.NewArchetype(w, position), ecs.NewArchetype(w, position, velocity)
	e := a.Create()
	b.Create()
	out, err := edit.OutcomeOf(door.Archetype(a)).After(door.Change(ecs.NewChange(w, ecs.Add(velocity))))
	require.NoError(t, err)
	require.Same(t, b, door.At(&out))
	var tx edit.Tx
	tx.Begin(door.World(w), "test")
	tx.Move(door.IDs([]ecs.Entity{e}), &out)
	require.NoError(t, tx.Reserve())
	require.Equal(t, 1, door.Batch(tx.Run(0)).Len())
	tx.Finish()
	require.True(t, velocity.Has(e))
	require.NoError(t, w.Verify())
}

// after works out what changes, one after the other, make of an outcome.
func after(t *testing.T, o edit.Outcome, changes ...*ecs.Change) edit.Outcome {
	t.Helper()
	for _, c := range changes {
		var err error
		o, err = o.After(door.Change(c))
		require.NoError(t, err)
	}
	return o
}

// outcomeOfCopies is door.OutcomeOfCopies, and what changes make of the copies.
func outcomeOfCopies(t *testing.T, a *ecs.Archetype, changes ...*ecs.Change) edit.Outcome {
	t.Helper()
	o, err := edit.OutcomeOfCopies(door.Archetype(a))
	require.NoError(t, err)
	return after(t, o, changes...)
}

// TestTransactionCopiesLoseCleanup: copies have no Cleanup types of their source, so one that a
// change gives them begins anew: a component as zero, a buffer without elements, a managed type
// without a value.
func TestTransactionCopiesLoseCleanup(t *testing.T) {
	w := ecstest.NewWorld(t)
	socket := ecs.Register[ecstest.Socket](w, ecs.Cleanup)
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(2), ecs.Cleanup)
	name := ecs.RegisterManaged[string](w, ecs.Cleanup)
	a := ecs.NewArchetype(w, socket, hits, name)
	e := a.Create()
	socket.Set(e, ecstest.Socket{FD: 7})
	name.Set(e, "mine")
	for i := range 5 {
		hits.Append(e, ecstest.Hit{Damage: int32(i)})
	}
	out := outcomeOfCopies(t, a, ecs.NewChange(w, ecs.Add(socket, hits, name)))
	require.Same(t, a, door.At(&out))
	var tx edit.Tx
	tx.Begin(door.World(w), "test")
	tx.Copy(entity.ID(e), &out, 2)
	require.NoError(t, tx.Reserve())
	copies := door.Batch(tx.Run(0)).Entities(nil)
	tx.Finish()
	require.NoError(t, w.Verify())
	for _, c := range copies {
		require.Equal(t, ecstest.Socket{}, *socket.Get(c))
		require.Empty(t, hits.Slice(c))
		require.Nil(t, name.Get(c))
	}
	require.Equal(t, 5, len(hits.Slice(e)))
	require.Equal(t, "mine", *name.Get(e))
}

// TestTransactionTakesAnEntityOnce: an entity that is twice in the list of a group moves once, and
// is once in the batch.
func TestTransactionTakesAnEntityOnce(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, tag := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Tag](w)
	a := ecs.NewArchetype(w, position)
	e, f := a.Create(), a.Create()
	out := after(t, edit.OutcomeOf(door.Archetype(a)), ecs.NewChange(w, ecs.Add(tag)))
	var tx edit.Tx
	tx.Begin(door.World(w), "test")
	tx.Move(door.IDs([]ecs.Entity{e, f, e}), &out)
	require.NoError(t, tx.Reserve())
	b := door.Batch(tx.Run(0))
	require.ElementsMatch(t, []ecs.Entity{e, f}, b.Entities(nil))
	require.Equal(t, 2, b.Len())
	tx.Finish()
	require.NoError(t, w.Verify())
}

// TestTransactionMisuse: a group that cannot be is refused by a panic that names the call, and the
// transaction is over: what groups before it took is given back, and the world is as it was.
func TestTransactionMisuse(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	position, tag := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Tag](w)
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(2))
	a, b := ecs.NewArchetype(w, position, hits), ecs.NewArchetype(w, position)
	e, dead, elsewhere := a.Create(), a.Create(), b.Create()
	w.Destroy(dead)
	for i := range 5 {
		hits.Append(e, ecstest.Hit{Damage: int32(i)})
	}
	stranger := ecs.NewArchetype(other, ecs.Register[ecstest.Position](other)).Create()
	copies, tagged := outcomeOfCopies(t, a), after(t, edit.OutcomeOf(door.Archetype(a)), ecs.NewChange(w, ecs.Add(tag)))
	var tx edit.Tx
	before := w.Hash()
	for text, call := range map[string]func(){
		"ecs: test: " + dead.String() + " is not alive, there is nothing to copy": func() { tx.Copy(entity.ID(dead), &copies, 1) },
		"ecs: test: " + elsewhere.String() +
			" is of [Position], its copies were worked out for [Position []Hit]": func() {
			tx.Copy(entity.ID(elsewhere), &copies, 1)
		},
		"ecs: test: entities of [Position] are to move as those of [Position []Hit]": func() { tx.Move(door.IDs([]ecs.Entity{elsewhere}), &tagged) },
		"ecs: test: entity 1 of the list, " + dead.String() + ", is not alive; nothing was changed": func() {
			tx.Move(door.IDs([]ecs.Entity{e, dead}), &tagged)
		},
		"ecs: test: entity 0 of the list, " + stranger.String() +
			", belongs to another world; nothing was changed": func() {
			tx.Move(door.IDs([]ecs.Entity{stranger}), &tagged)
		},
		"ecs: test: entity 0 of the list is " + door.Placeholder(1, 1).String() +
			", which names an entity in its command buffer only": func() {
			tx.Move(door.IDs([]ecs.Entity{door.Placeholder(1, 1)}), &tagged)
		},
	} {
		tx.Begin(door.World(w), "test")
		tx.Copy(entity.ID(e), &copies, 3)
		tx.Create(&tagged, 4)
		require.Contains(t, ecstest.PanicText(call), text)
		require.NoError(t, w.Verify(), text)
		require.Equal(t, before, w.Hash(), text)
		require.True(t, w.Destroy(a.Create()), "the world takes changes")
		before = w.Hash()
	}
}

// TestTransactionOutcomesThatDoNotFit: outcomes that are zero, of another world, or the end of what
// is made.
func TestTransactionOutcomesThatDoNotFit(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	position, alien := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Position](other)
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(2))
	a, b := ecs.NewArchetype(w, position, hits), ecs.NewArchetype(other, alien)
	e := a.Create()
	hits.Append(e, make([]ecstest.Hit, 5)...)
	foreign, zero := edit.OutcomeOf(door.Archetype(b)), edit.Outcome{}
	ended, copies := after(t, edit.OutcomeOf(door.Archetype(a)), door.Destruction(w)), outcomeOfCopies(t, a)
	endedCopies := after(t, copies, door.Destruction(w))
	before := w.Hash()
	var tx edit.Tx
	for name, call := range map[string]func(){
		"create foreign": func() { tx.Create(&foreign, 2) },
		"create zero":    func() { tx.Create(&zero, 2) },
		"create ended":   func() { tx.Create(&ended, 2) },
		"copy foreign":   func() { tx.Copy(entity.ID(e), &foreign, 2) },
		"copy zero":      func() { tx.Copy(entity.ID(e), &zero, 2) },
		"copy ended":     func() { tx.Copy(entity.ID(e), &endedCopies, 2) },
		"move foreign":   func() { tx.Move(nil, &foreign) },
		"move zero":      func() { tx.Move(nil, &zero) },
	} {
		tx.Begin(door.World(w), "test")
		tx.Copy(entity.ID(e), &copies, 3)
		require.Equal(t, "ecs: test: the archetype is nil or belongs to another world", ecstest.PanicText(call), name)
		require.NoError(t, w.Verify(), name)
		require.Equal(t, before, w.Hash(), name)
	}
	require.NoError(t, other.Verify())
}

// TestTransactionOfNothing: groups of no entities, no copies and nothing new are groups all the
// same, and do nothing, in archetypes without rows too.
func TestTransactionOfNothing(t *testing.T) {
	w := ecstest.NewWorld(t)
	owner, prefab := ecs.Register[ecstest.Owner](w), ecs.Register[ecs.Prefab](w)
	a := ecs.NewArchetype(w, owner, prefab)
	e := a.Create()
	hash, out, copies := w.Hash(), edit.OutcomeOf(door.Archetype(a)), outcomeOfCopies(t, a)
	var tx edit.Tx
	tx.Begin(door.World(w), "test")
	tx.Copy(entity.ID(e), &copies, 0)
	tx.Create(&out, 0)
	tx.Move(nil, &out)
	require.NoError(t, tx.Reserve())
	for i := range 3 {
		require.Zero(t, door.Batch(tx.Run(i)).Len())
	}
	tx.Finish()
	require.Equal(t, hash, w.Hash())
	require.NoError(t, w.Verify())
}

// TestTransactionEnds: batches are void when gaps have been closed, the world is locked from Begin
// on, and a group that has not run is not lost without a word.
func TestTransactionEnds(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	out := edit.OutcomeOf(door.Archetype(a))
	var tx edit.Tx
	tx.Begin(door.World(w), "test")
	require.PanicsWithValue(t,
		"ecs: Archetype.Create: structural change inside another one, test, which is not done yet; make it after that call",
		func() { a.Create() })
	tx.Create(&out, 3)
	require.NoError(t, tx.Reserve())
	require.PanicsWithValue(t, "ecs: test: 0 of 1 groups of the transaction have run", func() { tx.Finish() })
	batch := door.Batch(tx.Run(0))
	require.Len(t, batch.Entities(nil), 3)
	tx.Finish()
	require.PanicsWithValue(t,
		"ecs: Batch.Entities: the batch of 3 rows is no longer current: the world has changed since it was made",
		func() { batch.Entities(nil) })
	require.NoError(t, w.Verify())
}

// TestOutcomeOfWhatWasGivenUp: the archetype that an outcome leads to may be given up before a
// change follows, and before rows move.
func TestOutcomeOfWhatWasGivenUp(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	cell := ecs.RegisterShared[int](w)
	a := ecs.NewArchetype(w, position)
	e := a.Create()
	add := ecs.NewChange(w, ecs.Add(velocity))
	out, err := edit.OutcomeOf(door.Archetype(a)).After(door.Change(ecs.NewChange(w, ecs.Put(cell.Of(7)))))
	require.NoError(t, err)
	for range 2 {
		w.Shrink(0) // it gives up the archetype that the outcome leads to
		out, err = out.After(door.Change(add))
		require.NoError(t, err)
		require.NoError(t, w.Verify())
	}
	w.Shrink(0)
	var tx edit.Tx
	tx.Begin(door.World(w), "test")
	tx.Move(door.IDs([]ecs.Entity{e}), &out)
	require.NoError(t, tx.Reserve())
	door.Batch(tx.Run(0))
	tx.Finish()
	v, ok := cell.Get(e)
	require.True(t, ok && v == 7 && velocity.Has(e))
	require.NoError(t, w.Verify())
	w.Destroy(e)
	w.Shrink(0)
	require.NoError(t, w.Verify())
}
