package ecs_test

import (
	"strings"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lentWorld is a world with a borrow, and all that the owner can do with the types of it.
type lentWorld struct {
	*misuse
	conn      ecs.Managed[Weapon]
	batch     ecs.Batch
	view      *ecs.View[lentView]
	bundle    *ecs.Bundle[lentBundle]
	before    ecs.DynamicBuffer[Hit] // views that were taken before the borrow began
	toRead    ecs.DynamicBuffer[Hit]
	positions *ecs.Query // reads Position
	stunned   *ecs.Query // by bits of Stun
	allStun   *ecs.Query // by those bits, with rows that match
	fresh     *ecs.Query // with Changed Position
}

type lentView struct {
	P ecs.W[Position]
	S ecs.Bits[Stun]
}

type lentBundle struct {
	P Position
	H *[]Hit
}

func newLentWorld(t *testing.T) *lentWorld {
	m := &lentWorld{misuse: newMisuse(t)}
	m.conn = ecs.RegisterManaged[Weapon](m.w)
	m.a = ecs.NewArchetype(m.w, m.position, m.velocity, m.hits, m.stun, m.conn)
	var err error
	m.batch, err = m.a.CreateN(3)
	require.NoError(t, err)
	m.e = m.batch.Entities(nil)[0]
	m.conn.Set(m.e, Weapon{Damage: 1})
	m.view = ecs.NewView[lentView](m.w)
	m.positions, m.stunned = ecs.NewQuery(m.w, ecs.Read(m.position)), ecs.NewQuery(m.w, ecs.Without(m.stun))
	m.allStun = ecs.NewQuery(m.w, ecs.With(m.stun))
	m.fresh = ecs.NewQuery(m.w, ecs.Changed(m.position))
	m.fresh.SetSince(m.w.Version())
	m.position.GetList(nil, []ecs.Entity{m.e})
	m.before, _ = m.hits.Mut(m.e)
	m.toRead, _ = m.hits.Get(m.e)
	return m
}

// reading is what a borrow that reads all types leaves to others, writing what it does not.
func (m *lentWorld) reading() map[string]func() {
	ids := []ecs.Entity{m.e}
	return map[string]func(){
		"Component.Get Position":      func() { m.position.Get(m.e) },
		"Component.GetList Position":  func() { m.position.GetList(nil, ids) },
		"Component.CopyList Position": func() { m.position.CopyList(make([]Position, 1), ids) },
		"Component.Values Position":   func() { m.position.Values(m.positions, nil) },
		"Query.Rows Position":         func() { eachRows(m.positions) },
		"Query.Rows Stun":             func() { eachRows(m.stunned) },
		"Query.Rows Position ":        func() { eachRows(m.fresh) },
		"Query.Count Stun":            func() { m.stunned.Count() },
		"Query.Count Position":        func() { m.fresh.Count() },
		"Query.Empty Stun":            func() { m.stunned.Empty() },
		"Query.Matches Stun":          func() { m.stunned.Matches(m.e) },
		"Query.At Stun":               func() { m.allStun.At(0) },
		"Query.Single Stun":           func() { _, _ = m.stunned.Single() },
		"Query.Entities Stun":         func() { m.stunned.Entities(nil) },
		"Component.Enabled Stun":      func() { m.stun.Enabled(m.e) },
		"Buffer.Get []Hit":            func() { m.hits.Get(m.e) },
		"Buffer.Slice []Hit":          func() { m.hits.Slice(m.e) },
		"DynamicBuffer.Len []Hit":     func() { m.toRead.Len() },
		"DynamicBuffer.Slice []Hit":   func() { m.before.Slice() },
		"Managed.Get managed Weapon":  func() { m.conn.Get(m.e) },
		"Bundle.Get Position":         func() { m.bundle.Get(m.e) },
	}
}

func (m *lentWorld) writing() map[string]func() {
	ids := []ecs.Entity{m.e}
	return map[string]func(){
		"Component.Mut Position":     func() { m.position.Mut(m.e) },
		"Component.Set Position":     func() { m.position.Set(m.e, Position{X: 9}) },
		"Component.MutList Position": func() { m.position.MutList(nil, ids) },
		"Component.SetValues Position": func() {
			_ = m.position.SetValues(m.q, make([]Position, 3))
		},
		"Query.Rows Position":         func() { eachRows(m.q) },
		"Component.Slice Position":    func() { eachRow(m.batch, func(r ecs.Rows) { m.position.Slice(r) }) },
		"Component.ReadOnly Position": func() { eachRow(m.batch, func(r ecs.Rows) { m.position.ReadOnly(r) }) },
		"View.At Position":            func() { eachRow(m.batch, func(r ecs.Rows) { m.view.At(r) }) },
		"Buffer.At []Hit":             func() { eachRow(m.batch, func(r ecs.Rows) { m.hits.At(r, 0) }) },
		"Managed.At managed Weapon":   func() { eachRow(m.batch, func(r ecs.Rows) { m.conn.At(r, 0) }) },
		"Component.EnableAt Stun":     func() { eachRow(m.batch, func(r ecs.Rows) { m.stun.EnableAt(r, 0) }) },
		"Component.Enable Stun":       func() { m.stun.Enable(m.e) },
		"Component.Disable Stun":      func() { m.stun.Disable(m.e) },
		"Component.EnableQuery Stun":  func() { m.stun.EnableQuery(m.stunned) },
		"Component.DisableList Stun":  func() { m.stun.DisableList(ids) },
		"Buffer.Mut []Hit":            func() { m.hits.Mut(m.e) },
		"Buffer.Append []Hit":         func() { m.hits.Append(m.e, Hit{}) },
		"DynamicBuffer.Append []Hit":  func() { m.before.Append(Hit{}) },
		"DynamicBuffer.Clear []Hit":   func() { m.before.Clear() },
		"Managed.Mut managed Weapon":  func() { m.conn.Mut(m.e) },
		"Managed.Set managed Weapon":  func() { m.conn.Set(m.e, Weapon{}) },
		"View.Get Position":           func() { m.view.Get(m.e) },
		"Bundle.Set Position":         func() { m.bundle.Set(m.e, lentBundle{}) },
	}
}

func eachRows(q *ecs.Query) {
	for range q.Rows() {
		break
	}
}

func eachRow(b ecs.Batch, f func(ecs.Rows)) {
	for rows := range b.Rows() {
		f(rows)
	}
}

// TestBorrowGuards: while a borrow writes types the owner neither reads nor writes them, while it
// reads them the owner does not write them; each call says so with the type and the borrow, and
// changes nothing. All goes when the borrow has ended.
func TestBorrowGuards(t *testing.T) {
	m := newLentWorld(t)
	m.bundle = ecs.NewBundle[lentBundle](m.w)
	lendAll := func(write bool) *lender {
		term := ecs.Read
		if write {
			term = ecs.Write
		}
		return lend(ecs.NewQuery(m.w, term(m.position), term(m.hits), term(m.conn), ecs.Present(term(m.stun))), "job all")
	}
	reads, writes := lendAll(false), lendAll(true)
	hash := m.w.Hash()
	refuses := func(calls map[string]func(), does string) {
		for name, f := range calls {
			op, of, _ := strings.Cut(strings.TrimSpace(name), " ")
			want := "ecs: " + op + ": " + of + " is lent to job all, which " + does + " it: complete it first; inside it use its rows"
			if does == "reads" {
				want += " or a look-up"
			}
			requirePanicText(t, want, f)
		}
	}
	allows := func(calls map[string]func()) {
		for name, f := range calls {
			require.NotPanics(t, f, name)
		}
	}
	for range 2 {
		reads.borrow.Begin()
		refuses(m.writing(), "reads")
		allows(m.reading())
		reads.borrow.End()
		writes.borrow.Begin()
		refuses(m.writing(), "writes")
		refuses(m.reading(), "writes")
		reads.borrow.Begin()
		refuses(m.reading(), "writes")
		writes.borrow.End()
		allows(m.reading())
		refuses(m.writing(), "reads")
		reads.borrow.End()
		require.Equal(t, hash, m.w.Hash())
	}
	allows(m.reading())
	allows(m.writing())
	require.NoError(t, m.w.Verify())
}

// TestBorrowGoroutinesAreGuarded: a goroutine of a borrow that uses the world's own functions of
// a type that is lent to be written gets the same panic.
func TestBorrowGoroutinesAreGuarded(t *testing.T) {
	m := newLentWorld(t)
	l := lend(ecs.NewQuery(m.w, ecs.Write(m.position)), "job move", ecs.Write(m.velocity))
	l.borrow.Begin()
	l.each(1, 1000, func(*ecs.Accessor, ecs.Rows) {
		for of, f := range map[string]func(){
			"Component.Set: Position": func() { m.position.Set(m.e, Position{}) },
			"Component.Get: Position": func() { m.position.Get(m.e) },
			"Component.Mut: Velocity": func() { m.velocity.Mut(m.e) },
		} {
			want := "ecs: " + of + " is lent to job move, which writes it: complete it first; inside it use its rows"
			if strings.HasSuffix(of, "Velocity") {
				want += " or a look-up"
			}
			assert.Equal(t, want, panicText(f))
		}
	})
	l.end()
	require.NoError(t, m.w.Verify())
}

// TestBorrowLeaves: what the owner may do while a borrow writes some types.
func TestBorrowLeaves(t *testing.T) {
	m := newLentWorld(t)
	l := lend(ecs.NewQuery(m.w, ecs.Write(m.position), ecs.With(m.stun)), "job move")
	l.borrow.Begin()
	require.True(t, m.position.Has(m.e), "who has what only structural changes change")
	m.velocity.Set(m.e, Velocity{X: 1})
	m.velocity.Mut(m.e).Y = 2
	m.hits.Append(m.e, make([]Hit, 40)...)
	m.conn.Mut(m.e).Damage = 2
	velocities := ecs.NewQuery(m.w, ecs.Write(m.velocity), ecs.With(m.position))
	require.Equal(t, 4, velocities.Count())
	for rows := range velocities.Rows() {
		m.velocity.Slice(rows)[0].X = 3
		require.True(t, m.stun.Enabled(rows.Entities()[0]), "the borrow only reads these bits")
	}
	for rows := range m.batch.Rows() {
		require.True(t, m.position.In(rows))
		m.velocity.Slice(rows)[0].Y = 4
	}
	require.Equal(t, 4, m.positions.Count(), "no bit or version decides")
	require.True(t, l.borrow.Active(), "nothing had to wait")
	l.end()
	require.Equal(t, Velocity{X: 3, Y: 4}, *m.velocity.Get(m.e))
	require.NoError(t, m.w.Verify())
}
