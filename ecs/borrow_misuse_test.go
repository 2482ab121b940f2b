package ecs_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"

	"github.com/stretchr/testify/require"
)

// TestBorrowMisuse: wrong calls of borrows and accessors are named.
func TestBorrowMisuse(t *testing.T) {
	m := newMisuse(t)
	wait := func(string) {}
	l := lend(m.q, "job move", ecs.Read(m.velocity))
	strange := ecs.Register[Position](m.other)
	reads := lend(ecs.NewQuery(m.w, ecs.Read(m.position)), "job read")
	closed := ecs.NewQuery(m.w)
	ofClosed := lend(closed, "job closed")
	closed.Close()
	sparse := lend(ecs.NewQuery(m.w, ecs.Read(m.position)), "job sparse")
	sparse.borrow.Begin()
	part := sparse.borrow.Split(nil, 64)[0]
	past := sparse.borrow.Accessor()
	kept, _ := past.Rows(part)
	look := m.position.Lookup(past)
	sparse.borrow.End()
	for text, f := range map[string]func(){
		"ecs: query.NewBorrow: the query is nil or the zero value; queries come from NewQuery":                                                                  func() { door.NewBorrow(nil, "", wait) },
		"ecs: query.NewBorrow: wait is nil; it ends the borrow when a structural change asks for it":                                                            func() { door.NewBorrow(m.q, "", nil) },
		"ecs: uses of job: a use is neither Read nor Write of a type":                                                                                           func() { door.NewBorrow(m.q, "job", wait, ecs.With(m.position)) },
		"ecs: uses of job: Position was registered in another world":                                                                                            func() { door.NewBorrow(m.q, "job", wait, ecs.Read(strange)) },
		"ecs: uses of job: Position is declared twice, and one of the two writes: by query(Write Position, Read []Hit, With Stun) and as a use, or as two uses": func() { door.NewBorrow(m.q, "job", wait, ecs.Read(m.position)) },
		"ecs: uses of job: []Hit is declared twice, and one of the two writes: by query(Write Position, Read []Hit, With Stun) and as a use, or as two uses":    func() { door.NewBorrow(m.q, "job", wait, ecs.Write(m.hits)) },
		"ecs: uses of job: Velocity is declared twice, and one of the two writes: by query(Write Position, Read []Hit, With Stun) and as a use, or as two uses": func() { door.NewBorrow(m.q, "job", wait, ecs.Write(m.velocity), ecs.Read(m.velocity)) },
		"ecs: Borrow.Begin: the borrow is nil or the zero value; borrows come from World.Share":                                                                 func() { new(ecs.Borrow).Begin() },
		"ecs: Borrow.Begin: query() is closed": ofClosed.borrow.Begin,
		"ecs: Borrow.Begin: job move: inside a loop over query(Write Position, Read []Hit, With Stun); begin it outside of loops": m.inLoop(func(ecs.Rows) { l.borrow.Begin() }),
		"ecs: Borrow.End: job move is not out: it has not begun, or has ended":                                                    l.borrow.End,
		"ecs: Borrow.Split: job move is not out: it has not begun, or has ended":                                                  func() { l.borrow.Split(nil, 64) },
		"ecs: Accessor.Rows: job sparse is not out: it has not begun, or has ended":                                               func() { past.Rows(part) },
		"ecs: Lookup.Get: Position: job sparse is not out: it has not begun, or has ended":                                        func() { look.Get(m.e) },
		"ecs: Component.Lookup: job sparse is not out: it has not begun, or has ended":                                            func() { m.position.Lookup(past) },
		"ecs: Component.Slice: the rows are no longer current: the loop that gave them has gone on or ended":                      func() { m.position.Slice(kept) },
		"ecs: Accessor.Rows: the accessor is nil or the zero value; accessors come from Borrow.Accessor":                          func() { new(ecs.Accessor).Rows(part) },
		"ecs: Lookup.Mut: the look-up is the zero value; look-ups come from Component.Lookup":                                     func() { ecs.Lookup[Position]{}.Mut(m.e) },
		"ecs: Lookup.Get: the look-up is the zero value; look-ups come from Component.Lookup":                                     func() { ecs.Lookup[Position]{}.Get(m.e) },
		"ecs: BufferLookup.Mut: the look-up is the zero value; look-ups come from Buffer.Lookup":                                  func() { ecs.BufferLookup[Hit]{}.Mut(m.e) },
	} {
		requirePanicText(t, text, f)
		require.False(t, l.borrow.Active())
	}
	p := m.w.Share()
	require.PanicsWithValue(t, "ecs: Borrow.Begin: the world is shared; call Borrow.End first", l.borrow.Begin)
	p.End()
	l.borrow.Begin()
	reads.borrow.Begin()
	require.PanicsWithValue(t, "ecs: Borrow.Begin: job move is out already", l.borrow.Begin)
	r, accessor := l.borrow.Accessor(), reads.borrow.Accessor()
	rows, _ := accessor.Rows(reads.borrow.Split(nil, 64)[0])
	view := ecs.NewView[lentView](m.w)
	for text, f := range map[string]func(){
		"ecs: Borrow.Split: grain=0 is less than 1": func() { l.borrow.Split(nil, 0) },
		"ecs: Component.Lookup: query(Write Position, Read []Hit, With Stun) of job move writes Position: rows of others may be being written": func() { m.position.Lookup(r) },
		"ecs: Component.Lookup: job read does not use Velocity: declare it":                                                                    func() { m.velocity.Lookup(accessor) },
		"ecs: Component.Lookup: Position and job read belong to different worlds":                                                              func() { strange.Lookup(accessor) },
		"ecs: Lookup.Mut: job move declares Velocity to read: use ecs.Write":                                                                   func() { m.velocity.Lookup(r).Mut(m.e) },
		"ecs: Lookup.Set: job move declares Velocity to read: use ecs.Write":                                                                   func() { m.velocity.Lookup(r).Set(m.e, Velocity{}) },
		"ecs: BufferLookup.Mut: job move declares []Hit to read: use ecs.Write":                                                                func() { m.hits.Lookup(r).Mut(m.e) },
		"ecs: Lookup.Get: entity " + m.stranger.String() + " belongs to another world":                                                         func() { m.velocity.Lookup(r).Get(m.stranger) },
		"ecs: Component.Slice: query(Read Position) does not declare Velocity: add ecs.Read or ecs.Write":                                      func() { m.velocity.Slice(rows) },
		"ecs: Component.Mark: query(Read Position) declares Position to read: use ecs.Write":                                                   func() { m.position.Mark(rows) },
		"ecs: View.At: query(Read Position) declares Position to read: use ecs.Write":                                                          func() { view.At(rows) },
		"ecs: Component.Get: Position is lent to job move, which writes it: complete it first; inside it use its rows":                         func() { m.position.Get(m.e) },
	} {
		requirePanicText(t, text, f)
	}
	elements, _ := m.hits.Lookup(r).Get(m.e)
	require.Zero(t, elements.Len())
	l.end()
	reads.end()
	require.PanicsWithValue(t, "ecs: DynamicBuffer.Len: []Hit: job move is not out: it has not begun, or has ended", func() { elements.Len() })
	require.PanicsWithValue(t, "ecs: Component.Slice: the rows are no longer current: the loop that gave them has gone on or ended", func() { m.position.Slice(rows) })
	require.NoError(t, m.w.Verify())
}

// TestBorrowWaits: each call that borrows must not see waits for them; in a loop a structural
// change panics and waits for nobody, and what is no structural change may wait in a loop.
func TestBorrowWaits(t *testing.T) {
	m := newMisuse(t)
	l := lend(m.q, "job move")
	free := ecs.NewQuery(m.w, ecs.Read(m.velocity))
	for op, f := range map[string]func(){
		"Archetype.Create": func() { m.a.Create() },
		"NewArchetype":     func() { ecs.NewArchetype(m.w, m.velocity) },
		"Register[Health]": func() { ecs.Register[Health](m.w) },
		"World.Hash":       func() { m.w.Hash() },
		"World.Verify":     func() { _ = m.w.Verify() },
		"World.Trim":       func() { m.w.Trim() },
		"World.Shrink":     func() { m.w.Shrink(0) },
		"World.Share":      func() { m.w.Share().End() },
		"World.MoveAll":    func() { _, _ = m.other.MoveAll(m.w) },
		"World.Clear":      m.w.Clear,
		"Query.Close":      func() { ecs.NewQuery(m.w).Close() },
	} {
		l.ops = nil
		l.borrow.Begin()
		f()
		require.Equal(t, []string{op}, l.ops)
		require.False(t, l.borrow.Active())
	}
	m.a.Create()
	l.ops = nil
	l.borrow.Begin()
	for range free.Rows() {
		require.PanicsWithValue(t, "ecs: Archetype.Create: structural change inside a loop over query(Read Velocity); gather the entities and change them after the loop",
			func() { m.a.Create() })
		require.Empty(t, l.ops)
		ecs.NewArchetype(m.w, m.position, m.velocity)
		require.Equal(t, []string{"NewArchetype"}, l.ops)
	}
	stuck := door.NewBorrow(m.q, "job stuck", func(string) {})
	stuck.Begin()
	require.PanicsWithValue(t, "ecs: Archetype.Create: job stuck is still out after its wait", func() { m.a.Create() })
	stuck.End()
	l.borrow.Begin()
	require.NoError(t, m.w.Close())
	require.Equal(t, "World.Close", l.ops[len(l.ops)-1])
	require.PanicsWithValue(t, "ecs: Borrow.Begin: the world is closed", l.borrow.Begin)
}

// TestBorrowManagedValuesAreNotMade: others read the pages of the store.
func TestBorrowManagedValuesAreNotMade(t *testing.T) {
	w := newWorld(t)
	conn := ecs.RegisterManaged[Weapon](w)
	ids := createEach(ecs.NewArchetype(w, conn), 2)
	conn.Set(ids[0], Weapon{Damage: 3})
	l := lend(ecs.NewQuery(w, ecs.Write(conn)), "job talk")
	l.borrow.Begin()
	rows, _ := l.borrow.Accessor().Rows(l.borrow.Split(nil, 64)[0])
	conn.At(rows, 0).Damage++
	require.PanicsWithValue(t, "ecs: Managed.At: a row of job talk has no value of managed Weapon yet, and none is made in a borrow: make it before, with Managed.Set",
		func() { conn.At(rows, 1) })
	l.end()
	require.Equal(t, int32(4), conn.Get(ids[0]).Damage)
	require.NoError(t, w.Verify())
}

// TestBorrowAccess: what a query's loops look at, and which accesses go together.
func TestBorrowAccess(t *testing.T) {
	m := newMisuse(t)
	accessOf := func(terms ...ecs.Term) *ecs.Access {
		a := ecs.NewQuery(m.w, terms...).Access()
		return &a
	}
	readsPosition, writesPosition := accessOf(ecs.Read(m.position)), accessOf(ecs.Optional(ecs.Write(m.position)))
	writesStun := accessOf(ecs.Present(ecs.Write(m.stun)))
	for _, x := range []struct {
		a, b      *ecs.Access
		conflicts bool
	}{
		{readsPosition, readsPosition, false},
		{readsPosition, writesPosition, true},
		{writesPosition, writesPosition, true},
		{accessOf(ecs.With(m.position)), writesPosition, false},
		{accessOf(ecs.Changed(m.position)), writesPosition, true},
		{accessOf(ecs.Any(ecs.Read(m.position), m.velocity)), writesPosition, true},
		{accessOf(ecs.Without(m.stun)), writesStun, true},
		{accessOf(ecs.With(m.stun)), writesStun, true},
		{accessOf(ecs.Disabled(m.stun)), writesStun, true},
		{accessOf(ecs.Any(m.stun, m.velocity)), writesStun, true},
		{accessOf(ecs.Present(m.stun)), writesStun, true}, // loops may ask for the bits
		{accessOf(ecs.Absent(m.stun)), writesStun, false},
		{accessOf(ecs.Optional(m.stun), ecs.Ordered()), writesStun, false},
		{new(ecs.Access), writesStun, false},
	} {
		require.Equal(t, x.conflicts, door.Conflicts(x.a, x.b))
		require.Equal(t, x.conflicts, door.Conflicts(x.b, x.a))
		both := new(ecs.Access)
		door.Join(both, x.a)
		door.Join(both, accessOf(ecs.Read(m.velocity)))
		require.Equal(t, x.conflicts, door.Conflicts(both, x.b))
	}
	l := door.NewBorrow(m.q, "job", func(string) {}, ecs.Write(m.velocity))
	access := l.Access()
	require.True(t, door.Conflicts(&access, accessOf(ecs.Read(m.velocity))))
	require.True(t, door.Conflicts(&access, readsPosition))
	require.True(t, door.Conflicts(&access, writesStun))
}

// TestLooks: what Empty and the like look at, and nothing that only loops read.
func TestLooks(t *testing.T) {
	m := newMisuse(t)
	for _, x := range []struct {
		terms []ecs.Term
		looks []string
	}{
		{[]ecs.Term{ecs.Write(m.position), ecs.Read(m.velocity), ecs.With(m.hits)}, nil},
		{[]ecs.Term{ecs.Write(m.stun)}, []string{"Stun"}},
		{[]ecs.Term{ecs.Without(m.stun), ecs.Ordered()}, []string{"Stun"}},
		{[]ecs.Term{ecs.Disabled(m.stun), ecs.Write(m.velocity), ecs.Changed(m.velocity, m.position)}, []string{"Position", "Velocity", "Stun"}},
		{[]ecs.Term{ecs.Any(ecs.Write(m.position), m.stun)}, []string{"Stun"}},
		{[]ecs.Term{ecs.Present(ecs.Write(m.stun)), ecs.Optional(ecs.Read(m.position))}, nil},
		{[]ecs.Term{ecs.Absent(m.stun)}, nil},
	} {
		q := ecs.NewQuery(m.w, x.terms...)
		all := ecs.NewQuery(m.w, ecs.Optional(ecs.Write(m.position), ecs.Write(m.velocity), ecs.Write(m.hits), ecs.Write(m.stun))).Access()
		require.Equal(t, x.looks, m.w.Conflicts(door.Looks(q), all), "%v", q)
		require.Empty(t, m.w.Conflicts(door.Looks(q), door.Looks(q)), "%v only reads them", q)
	}
	closed := ecs.NewQuery(m.w)
	closed.Close()
	require.PanicsWithValue(t, "ecs: door.Looks: query() is closed", func() { door.Looks(closed) })
	require.PanicsWithValue(t, "ecs: door.Looks: the query is nil or the zero value; queries come from NewQuery", func() { door.Looks((*ecs.Query)(nil)) })
}

// TestLocked: loops and shares lock, borrows do not.
func TestLocked(t *testing.T) {
	m := newMisuse(t)
	require.False(t, door.Locked(m.w))
	m.inLoop(func(ecs.Rows) { require.True(t, door.Locked(m.w)) })()
	p := m.w.Share()
	require.True(t, door.Locked(m.w))
	p.End()
	l := door.NewBorrow(ecs.NewQuery(m.w, ecs.Read(m.velocity)), "job", func(string) { panic("nobody waits") })
	l.Begin()
	require.False(t, door.Locked(m.w))
	m.inLoop(func(ecs.Rows) { require.True(t, door.Locked(m.w)) })()
	l.End()
	require.False(t, door.Locked(m.w))
}

// TestConflictsAreNamed: by the types, in the order of registering, whoever writes.
func TestConflictsAreNamed(t *testing.T) {
	m := newMisuse(t)
	manyTypes(m.w) // so that the last is not in the first word
	last := ecs.Register[Health](m.w)
	access := func(terms ...ecs.Term) ecs.Access { return ecs.NewQuery(m.w, terms...).Access() }
	a := access(ecs.Write(m.hits), ecs.Read(m.position), ecs.Read(m.velocity), ecs.Write(last))
	b := access(ecs.Write(last), ecs.Read(m.hits), ecs.Read(m.velocity), ecs.Write(m.position))
	want := []string{"Position", "[]Hit", "Health"}
	require.Equal(t, want, m.w.Conflicts(a, b))
	require.Equal(t, want, m.w.Conflicts(b, a))
	require.Equal(t, want[1:], m.w.Conflicts(a, a))
	require.Nil(t, m.w.Conflicts(a, ecs.Access{}))
	require.Nil(t, m.w.Conflicts(access(ecs.Read(m.position)), access(ecs.Read(m.position), ecs.Write(m.hits))))
	nobody := "ecs: World.Conflicts: the world is nil or the zero value; worlds come from NewWorld"
	require.PanicsWithValue(t, nobody, func() { (*ecs.World)(nil).Conflicts(a, b) })
	require.PanicsWithValue(t, nobody, func() { new(ecs.World).Conflicts(a, b) })
	func() {
		defer func() {
			require.Regexp(t, `ecs: World.Conflicts: .* type (\d+), the world has \d types: they are of another`, recover())
		}()
		m.other.Conflicts(a, b)
	}()
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	of := ecs.NewQuery(w, ecs.Write(ecs.Register[Position](w))).Access()
	require.NoError(t, w.Close())
	require.Equal(t, want[:1], w.Conflicts(of, of))
}

// TestBorrowAllocatesNothing: a borrow that goes round again and again.
func TestBorrowAllocatesNothing(t *testing.T) {
	m := newMisuse(t)
	_, err := m.a.CreateN(1000)
	require.NoError(t, err)
	l := lend(m.q, "job move", ecs.Read(m.velocity))
	r := l.borrow.Accessor()
	var parts []ecs.RowRange
	all := m.q.Access()
	turn := func() {
		l.borrow.Begin()
		parts = l.borrow.Split(parts[:0], 64)
		for _, part := range parts {
			if rows, ok := r.Rows(part); ok {
				m.position.Slice(rows)[0].X += m.velocity.Lookup(r).Get(m.e).X
				for i := range rows.Each() {
					_ = m.hits.At(rows, i).Len()
				}
			}
		}
		access := l.borrow.Access()
		_ = door.Conflicts(&access, &all)
		l.borrow.End()
	}
	turn()
	require.Zero(t, testing.AllocsPerRun(100, turn))
}

// TestBorrowUsesTwice: two uses of a type are one too many where one writes, in either order.
func TestBorrowUsesTwice(t *testing.T) {
	m := newMisuse(t)
	for _, uses := range [][]ecs.Term{{ecs.Write(m.velocity), ecs.Read(m.velocity)}, {ecs.Read(m.velocity), ecs.Write(m.velocity)}} {
		require.Panics(t, func() { door.NewBorrow(m.q, "", func(string) {}, uses...) })
	}
	door.NewBorrow(m.q, "", func(string) {}, ecs.Read(m.velocity), ecs.Read(m.velocity))
}
