package query_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/query"

	"github.com/stretchr/testify/require"
)

// TestBorrowMisuse: wrong calls of borrows and accessors are named.
func TestBorrowMisuse(t *testing.T) {
	m := ecstest.NewMisuse(t)
	wait := func(string) {}
	const q = "query(Write Position, Read []Hit, With Stun)"
	const twice = " twice, and one of the two writes: by " + q + " and as a use, or as two uses"
	l := ecstest.Lend(m.Query, "job move", ecs.Read(m.Velocity))
	strange := ecs.Register[ecstest.Position](m.Other)
	closed := ecs.NewQuery(m.World)
	ofClosed := ecstest.Lend(closed, "job closed")
	closed.Close()
	sparse := ecstest.Lend(ecs.NewQuery(m.World, ecs.Read(m.Position)), "job sparse")
	ecstest.Begin(sparse.Borrow)
	part := ecstest.Split(sparse.Borrow, nil, 64)[0]
	past := ecstest.AccessorOf(sparse.Borrow)
	kept, _ := ecstest.RowsOf(past, part)
	look := m.Position.Lookup(past)
	sparse.Borrow.End()
	for text, f := range map[string]func(){
		"ecs: query.NewBorrow: the query is nil or the zero value; queries come from NewQuery": func() { door.NewBorrow(nil, "", wait) },
		"ecs: query.NewBorrow: wait is nil; it ends the borrow when a structural change asks for it": func() {
			door.NewBorrow(m.Query, "", nil)
		},
		"ecs: uses of job: a use is neither Read nor Write of a type": func() {
			door.NewBorrow(m.Query, "job", wait, ecs.With(m.Position))
		},
		"ecs: uses of job: Position was registered in another world": func() {
			door.NewBorrow(m.Query, "job", wait, ecs.Read(strange))
		},
		"ecs: uses of job: Position is declared" + twice: func() { door.NewBorrow(m.Query, "job", wait, ecs.Read(m.Position)) },
		"ecs: uses of job: []Hit is declared" + twice:    func() { door.NewBorrow(m.Query, "job", wait, ecs.Write(m.Hits)) },
		"ecs: uses of job: Velocity is declared" + twice: func() { door.NewBorrow(m.Query, "job", wait, ecs.Write(m.Velocity), ecs.Read(m.Velocity)) },
		"ecs: Borrow.Begin: the borrow is nil or the zero value; borrows come from World.Lend": func() {
			func() { ecstest.Begin(new(ecs.Borrow)) }()
		},
		"ecs: Borrow.Begin: query() is closed":                                                 func() { ecstest.Begin(ofClosed.Borrow) },
		"ecs: Borrow.Begin: job move: inside a loop over " + q + "; begin it outside of loops": m.InLoop(func(ecs.Rows) { ecstest.Begin(l.Borrow) }),
		"ecs: Borrow.End: job move is not out: it has not begun, or has ended":                 l.Borrow.End,
		"ecs: Borrow.Split: job move is not out: it has not begun, or has ended":               func() { ecstest.Split(l.Borrow, nil, 64) },
		"ecs: Accessor.Rows: job sparse is not out: it has not begun, or has ended":            func() { ecstest.RowsOf(past, part) },
		"ecs: Lookup.Get: Position: job sparse is not out: it has not begun, or has ended":     func() { look.Get(m.Entity) },
		"ecs: Component.Lookup: job sparse is not out: it has not begun, or has ended":         func() { m.Position.Lookup(past) },
		"ecs: Component.Slice: the rows are no longer current: the loop that gave them has gone on or ended": func() {
			m.Position.Slice(kept)
		},
		"ecs: Accessor.Rows: the accessor is nil or the zero value; accessors come from Borrow.Accessor": func() {
			ecstest.RowsOf(new(ecs.Accessor), part)
		},
		"ecs: Lookup.Mut: the look-up is the zero value; look-ups come from Lookup of a handle":  func() { ecs.Lookup[ecstest.Position]{}.Mut(m.Entity) },
		"ecs: Lookup.Get: the look-up is the zero value; look-ups come from Lookup of a handle":  func() { ecs.Lookup[ecstest.Position]{}.Get(m.Entity) },
		"ecs: BufferLookup.Mut: the look-up is the zero value; look-ups come from Buffer.Lookup": func() { ecs.BufferLookup[ecstest.Hit]{}.Mut(m.Entity) },
	} {
		ecstest.RequirePanicText(t, text, f)
		require.False(t, ecstest.Out(l.Borrow))
	}
	require.NoError(t, m.World.Verify())
}

// What accessors and look-ups of borrows that are out refuse.
func TestMisuseInBorrows(t *testing.T) {
	m := ecstest.NewMisuse(t)
	const q = "query(Write Position, Read []Hit, With Stun)"
	l := ecstest.Lend(m.Query, "job move", ecs.Read(m.Velocity))
	strange := ecs.Register[ecstest.Position](m.Other)
	reads := ecstest.Lend(ecs.NewQuery(m.World, ecs.Read(m.Position)), "job read")
	p := m.World.Lend()
	require.PanicsWithValue(t, "ecs: Borrow.Begin: the world is lent; call Borrow.End first",
		func() { ecstest.Begin(l.Borrow) })
	p.End()
	ecstest.Begin(l.Borrow)
	ecstest.Begin(reads.Borrow)
	require.PanicsWithValue(t, "ecs: Borrow.Begin: job move is out already", func() { ecstest.Begin(l.Borrow) })
	r, accessor := ecstest.AccessorOf(l.Borrow), ecstest.AccessorOf(reads.Borrow)
	rows, _ := ecstest.RowsOf(accessor, ecstest.Split(reads.Borrow, nil, 64)[0])
	view := ecs.NewView[lentView](m.World)
	for text, f := range map[string]func(){
		"ecs: Borrow.Split: grain=0 is less than 1": func() { ecstest.Split(l.Borrow, nil, 0) },
		"ecs: Component.Lookup: " + q + " of job move writes Position: rows of others may be being written": func() {
			m.Position.Lookup(r)
		},
		"ecs: Component.Lookup: job read does not use Velocity: declare it":            func() { m.Velocity.Lookup(accessor) },
		"ecs: Component.Lookup: Position and job read belong to different worlds":      func() { strange.Lookup(accessor) },
		"ecs: Lookup.Mut: job move declares Velocity to read: use ecs.Write":           func() { m.Velocity.Lookup(r).Mut(m.Entity) },
		"ecs: BufferLookup.Mut: job move declares []Hit to read: use ecs.Write":        func() { m.Hits.Lookup(r).Mut(m.Entity) },
		"ecs: Lookup.Get: entity " + m.Stranger.String() + " belongs to another world": func() { m.Velocity.Lookup(r).Get(m.Stranger) },
		"ecs: Component.Slice: query(Read Position) does not declare Velocity: add ecs.Read or ecs.Write": func() {
			m.Velocity.Slice(rows)
		},
		"ecs: Component.Mark: query(Read Position) declares Position to read: use ecs.Write": func() { m.Position.Mark(rows) },
		"ecs: View.At: query(Read Position) declares Position to read: use ecs.Write":        func() { view.At(rows) },
		"ecs: Component.Get: Position is lent to job move, which writes it: complete it first; inside it use its rows": func() {
			m.Position.Get(m.Entity)
		},
	} {
		ecstest.RequirePanicText(t, text, f)
	}
	elements, _ := m.Hits.Lookup(r).Get(m.Entity)
	require.Zero(t, elements.Len())
	l.End()
	reads.End()
	require.PanicsWithValue(t, "ecs: DynamicBuffer.Len: []Hit: job move is not out: it has not begun, or has ended",
		func() { elements.Len() })
	require.PanicsWithValue(t,
		"ecs: Component.Slice: the rows are no longer current: the loop that gave them has gone on or ended",
		func() { m.Position.Slice(rows) })
	require.NoError(t, m.World.Verify())
}

// TestBorrowWaits: each call that borrows must not see waits for them; in a loop a structural
// change panics without waiting, and other calls may wait.
func TestBorrowWaits(t *testing.T) {
	m := ecstest.NewMisuse(t)
	l := ecstest.Lend(m.Query, "job move")
	free := ecs.NewQuery(m.World, ecs.Read(m.Velocity))
	for op, f := range map[string]func(){
		"Archetype.Create": func() { m.Archetype.Create() },
		"NewArchetype":     func() { ecs.NewArchetype(m.World, m.Velocity) },
		"Register[Health]": func() { ecs.Register[ecstest.Health](m.World) },
		"World.Hash":       func() { m.World.Hash() },
		"World.Verify":     func() { _ = m.World.Verify() },
		"World.Trim":       func() { m.World.Trim() },
		"World.Shrink":     func() { m.World.Shrink(0) },
		"World.Lend":       func() { m.World.Lend().End() },
		"World.MoveAll":    func() { _, _ = m.Other.MoveAll(m.World) },
		"World.Clear":      m.World.Clear,
		"Query.Close":      func() { ecs.NewQuery(m.World).Close() },
	} {
		l.Ops = nil
		ecstest.Begin(l.Borrow)
		f()
		require.Equal(t, []string{op}, l.Ops)
		require.False(t, ecstest.Out(l.Borrow))
	}
	m.Archetype.Create()
	l.Ops = nil
	ecstest.Begin(l.Borrow)
	for range free.Rows() {
		require.PanicsWithValue(t,
			"ecs: Archetype.Create: structural change inside a loop over query(Read Velocity); gather the entities and change them after the loop",
			func() { m.Archetype.Create() })
		require.Empty(t, l.Ops)
		ecs.NewArchetype(m.World, m.Position, m.Velocity)
		require.Equal(t, []string{"NewArchetype"}, l.Ops)
	}
	stuck := door.NewBorrow(m.Query, "job stuck", func(string) {})
	ecstest.Begin(stuck)
	require.PanicsWithValue(t, "ecs: Archetype.Create: job stuck is still out after its wait",
		func() { m.Archetype.Create() })
	stuck.End()
	ecstest.Begin(l.Borrow)
	require.NoError(t, m.World.Close())
	require.Equal(t, "World.Close", l.Ops[len(l.Ops)-1])
	require.PanicsWithValue(t, "ecs: Borrow.Begin: the world is closed", func() { ecstest.Begin(l.Borrow) })
}

// TestBorrowManagedValuesAreNotMade: others read the pages of the store.
func TestBorrowManagedValuesAreNotMade(t *testing.T) {
	w := ecstest.NewWorld(t)
	conn := ecs.RegisterManaged[ecstest.Weapon](w)
	ids := ecstest.CreateEach(ecs.NewArchetype(w, conn), 2)
	conn.Set(ids[0], ecstest.Weapon{Damage: 3})
	l := ecstest.Lend(ecs.NewQuery(w, ecs.Write(conn)), "job talk")
	ecstest.Begin(l.Borrow)
	rows, _ := ecstest.RowsOf(ecstest.AccessorOf(l.Borrow), ecstest.Split(l.Borrow, nil, 64)[0])
	conn.At(rows, 0).Damage++
	require.PanicsWithValue(t,
		"ecs: Managed.At: a row of job talk has no value of managed Weapon yet, and none is made in a borrow: make it before, with Managed.Set",
		func() { conn.At(rows, 1) })
	l.End()
	require.Equal(t, int32(4), conn.Get(ids[0]).Damage)
	require.NoError(t, w.Verify())
}

// TestBorrowAccess: what a query's loops look at, and which accesses go together.
func TestBorrowAccess(t *testing.T) {
	m := ecstest.NewMisuse(t)
	accessOf := func(terms ...ecs.Term) *ecs.Access {
		a := ecs.NewQuery(m.World, terms...).Access()
		return &a
	}
	readsPosition, writesPosition := accessOf(ecs.Read(m.Position)), accessOf(ecs.Optional(ecs.Write(m.Position)))
	writesStun := accessOf(ecs.Present(ecs.Write(m.Stun)))
	for _, x := range []struct {
		a, b      *ecs.Access
		conflicts bool
	}{
		{readsPosition, readsPosition, false},
		{readsPosition, writesPosition, true},
		{writesPosition, writesPosition, true},
		{accessOf(ecs.With(m.Position)), writesPosition, false},
		{accessOf(ecs.Changed(m.Position)), writesPosition, true},
		{accessOf(ecs.Any(ecs.Read(m.Position), m.Velocity)), writesPosition, true},
		{accessOf(ecs.Without(m.Stun)), writesStun, true},
		{accessOf(ecs.With(m.Stun)), writesStun, true},
		{accessOf(ecs.Disabled(m.Stun)), writesStun, true},
		{accessOf(ecs.Any(m.Stun, m.Velocity)), writesStun, true},
		{accessOf(ecs.Present(m.Stun)), writesStun, true}, // loops may ask for the bits
		{accessOf(ecs.Absent(m.Stun)), writesStun, false},
		{accessOf(ecs.Optional(m.Stun), ecs.Ordered()), writesStun, false},
		{new(ecs.Access), writesStun, false},
	} {
		require.Equal(t, x.conflicts, door.Conflicts(x.a, x.b))
		require.Equal(t, x.conflicts, door.Conflicts(x.b, x.a))
		both := new(ecs.Access)
		door.Join(both, x.a)
		door.Join(both, accessOf(ecs.Read(m.Velocity)))
		require.Equal(t, x.conflicts, door.Conflicts(both, x.b))
	}
	l := door.NewBorrow(m.Query, "job", func(string) {}, ecs.Write(m.Velocity))
	access := door.Access(l)
	require.True(t, door.Conflicts(&access, accessOf(ecs.Read(m.Velocity))))
	require.True(t, door.Conflicts(&access, readsPosition))
	require.True(t, door.Conflicts(&access, writesStun))
}

// TestLooks: what Empty and the like look at, and nothing that only loops read.
func TestLooks(t *testing.T) {
	m := ecstest.NewMisuse(t)
	for _, x := range []struct {
		terms []ecs.Term
		looks []string
	}{
		{[]ecs.Term{ecs.Write(m.Position), ecs.Read(m.Velocity), ecs.With(m.Hits)}, nil},
		{[]ecs.Term{ecs.Write(m.Stun)}, []string{"Stun"}},
		{[]ecs.Term{ecs.Without(m.Stun), ecs.Ordered()}, []string{"Stun"}},
		{[]ecs.Term{ecs.Disabled(m.Stun), ecs.Write(m.Velocity), ecs.Changed(m.Velocity, m.Position)}, []string{"Position", "Velocity", "Stun"}},
		{[]ecs.Term{ecs.Any(ecs.Write(m.Position), m.Stun)}, []string{"Stun"}},
		{[]ecs.Term{ecs.Present(ecs.Write(m.Stun)), ecs.Optional(ecs.Read(m.Position))}, nil},
		{[]ecs.Term{ecs.Absent(m.Stun)}, nil},
	} {
		q := ecs.NewQuery(m.World, x.terms...)
		all := ecs.NewQuery(m.World, ecs.Optional(ecs.Write(m.Position), ecs.Write(m.Velocity), ecs.Write(m.Hits),
			ecs.Write(m.Stun))).Access()
		require.Equal(t, x.looks, m.World.Conflicts(door.Looks(q), all), "%v", q)
		require.Empty(t, m.World.Conflicts(door.Looks(q), door.Looks(q)), "%v only reads them", q)
	}
	closed := ecs.NewQuery(m.World)
	closed.Close()
	require.PanicsWithValue(t, "ecs: door.Looks: query() is closed", func() { door.Looks(closed) })
	require.PanicsWithValue(t, "ecs: door.Looks: the query is nil or the zero value; queries come from NewQuery",
		func() { door.Looks((*ecs.Query)(nil)) })
}

// TestLocked: loops and shares lock, borrows do not.
func TestLocked(t *testing.T) {
	m := ecstest.NewMisuse(t)
	require.False(t, door.Locked(m.World))
	m.InLoop(func(ecs.Rows) { require.True(t, door.Locked(m.World)) })()
	p := m.World.Lend()
	require.True(t, door.Locked(m.World))
	p.End()
	l := door.NewBorrow(ecs.NewQuery(m.World, ecs.Read(m.Velocity)), "job", func(string) { panic("nobody waits") })
	ecstest.Begin(l)
	require.False(t, door.Locked(m.World))
	m.InLoop(func(ecs.Rows) { require.True(t, door.Locked(m.World)) })()
	l.End()
	require.False(t, door.Locked(m.World))
}

// TestConflictsAreNamed: by the types, in the order of registering, whichever side writes.
func TestConflictsAreNamed(t *testing.T) {
	m := ecstest.NewMisuse(t)
	ecstest.ManyTypes(m.World) // so that the last is not in the first word
	last := ecs.Register[ecstest.Health](m.World)
	access := func(terms ...ecs.Term) ecs.Access { return ecs.NewQuery(m.World, terms...).Access() }
	a := access(ecs.Write(m.Hits), ecs.Read(m.Position), ecs.Read(m.Velocity), ecs.Write(last))
	b := access(ecs.Write(last), ecs.Read(m.Hits), ecs.Read(m.Velocity), ecs.Write(m.Position))
	want := []string{"Position", "[]Hit", "Health"}
	require.Equal(t, want, m.World.Conflicts(a, b))
	require.Equal(t, want, m.World.Conflicts(b, a))
	require.Equal(t, want[1:], m.World.Conflicts(a, a))
	require.Nil(t, m.World.Conflicts(a, ecs.Access{}))
	require.Nil(t, m.World.Conflicts(access(ecs.Read(m.Position)), access(ecs.Read(m.Position), ecs.Write(m.Hits))))
	nobody := "ecs: World.Conflicts: the world is nil or the zero value; worlds come from NewWorld"
	require.PanicsWithValue(t, nobody, func() { (*ecs.World)(nil).Conflicts(a, b) })
	require.PanicsWithValue(t, nobody, func() { new(ecs.World).Conflicts(a, b) })
	func() {
		defer func() {
			require.Regexp(t, `ecs: World.Conflicts: .* type (\d+), the world has \d types: they are of another`,
				recover())
		}()
		m.Other.Conflicts(a, b)
	}()
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	of := ecs.NewQuery(w, ecs.Write(ecs.Register[ecstest.Position](w))).Access()
	require.NoError(t, w.Close())
	require.Equal(t, want[:1], w.Conflicts(of, of))
}

// TestBorrowAllocatesNothing: a borrow that goes round again and again.
func TestBorrowAllocatesNothing(t *testing.T) {
	m := ecstest.NewMisuse(t)
	_, err := m.Archetype.CreateN(1000)
	require.NoError(t, err)
	l := ecstest.Lend(m.Query, "job move", ecs.Read(m.Velocity))
	r := ecstest.AccessorOf(l.Borrow)
	var parts []query.RowRange
	all := m.Query.Access()
	turn := func() {
		ecstest.Begin(l.Borrow)
		parts = ecstest.Split(l.Borrow, parts[:0], 64)
		for _, part := range parts {
			if rows, ok := ecstest.RowsOf(r, part); ok {
				m.Position.Slice(rows)[0].X += m.Velocity.Lookup(r).Get(m.Entity).X
				for i := range rows.Each() {
					_ = m.Hits.At(rows, i).Len()
				}
			}
		}
		access := door.Access(l.Borrow)
		_ = door.Conflicts(&access, &all)
		l.Borrow.End()
	}
	turn()
	require.Zero(t, testing.AllocsPerRun(100, turn))
}

// TestBorrowUsesTwice: two uses of a type are one too many where one writes, in either order.
func TestBorrowUsesTwice(t *testing.T) {
	m := ecstest.NewMisuse(t)
	for _, uses := range [][]ecs.Term{
		{ecs.Write(m.Velocity), ecs.Read(m.Velocity)}, {ecs.Read(m.Velocity), ecs.Write(m.Velocity)},
	} {
		require.Panics(t, func() { door.NewBorrow(m.Query, "", func(string) {}, uses...) })
	}
	door.NewBorrow(m.Query, "", func(string) {}, ecs.Read(m.Velocity), ecs.Read(m.Velocity))
}
