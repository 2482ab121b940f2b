package query_test

import (
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lentWorld is a world with a borrow, and all that the owner can do with the types of it.
type lentWorld struct {
	*ecstest.Misuse
	conn      ecs.Managed[ecstest.Weapon]
	batch     ecs.Batch
	view      *ecs.View[lentView]
	bundle    *ecs.Bundle[lentBundle]
	before    ecs.DynamicBuffer[ecstest.Hit] // views that were taken before the borrow began
	toRead    ecs.DynamicBuffer[ecstest.Hit]
	positions *ecs.Query // reads Position
	stunned   *ecs.Query // by bits of Stun
	allStun   *ecs.Query // by those bits, with rows that match
	fresh     *ecs.Query // with Changed Position
}

type lentView struct {
	P ecs.W[ecstest.Position]
	S ecs.Bits[ecstest.Stun]
}

type lentBundle struct {
	P ecstest.Position
	H *[]ecstest.Hit
}

func newLentWorld(t *testing.T) *lentWorld {
	m := &lentWorld{Misuse: ecstest.NewMisuse(t)}
	m.conn = ecs.RegisterManaged[ecstest.Weapon](m.World)
	m.Archetype = ecs.NewArchetype(m.World, m.Position, m.Velocity, m.Hits, m.Stun, m.conn)
	var err error
	m.batch, err = m.Archetype.CreateN(3)
	require.NoError(t, err)
	m.Entity = m.batch.Entities(nil)[0]
	m.conn.Set(m.Entity, ecstest.Weapon{Damage: 1})
	m.view = ecs.NewView[lentView](m.World)
	m.positions, m.stunned = ecs.NewQuery(m.World, ecs.Read(m.Position)), ecs.NewQuery(m.World, ecs.Without(m.Stun))
	m.allStun = ecs.NewQuery(m.World, ecs.With(m.Stun))
	m.fresh = ecs.NewQuery(m.World, ecs.Changed(m.Position))
	m.fresh.SetSince(m.World.Version())
	m.Position.GetList(nil, []ecs.Entity{m.Entity})
	m.before, _ = m.Hits.Mut(m.Entity)
	m.toRead, _ = m.Hits.Get(m.Entity)
	return m
}

// while a borrow reads all types, others may read and may not write.
func (m *lentWorld) reading() map[string]func() {
	ids := []ecs.Entity{m.Entity}
	return map[string]func(){
		"Component.Get Position":      func() { m.Position.Get(m.Entity) },
		"Component.GetList Position":  func() { m.Position.GetList(nil, ids) },
		"Component.CopyList Position": func() { m.Position.CopyList(make([]ecstest.Position, 1), ids) },
		"Component.Values Position":   func() { m.Position.Values(m.positions, nil) },
		"Query.Rows Position":         func() { eachRows(m.positions) },
		"Query.Rows Stun":             func() { eachRows(m.stunned) },
		"Query.Rows Position ":        func() { eachRows(m.fresh) },
		"Query.Count Stun":            func() { m.stunned.Count() },
		"Query.Count Position":        func() { m.fresh.Count() },
		"Query.Empty Stun":            func() { m.stunned.Empty() },
		"Query.Matches Stun":          func() { m.stunned.Matches(m.Entity) },
		"Query.At Stun":               func() { m.allStun.At(0) },
		"Query.Single Stun":           func() { _, _ = m.stunned.Single() },
		"Query.Entities Stun":         func() { m.stunned.Entities(nil) },
		"Component.Enabled Stun":      func() { m.Stun.Enabled(m.Entity) },
		"Buffer.Get []Hit":            func() { m.Hits.Get(m.Entity) },
		"Buffer.Slice []Hit":          func() { m.Hits.Slice(m.Entity) },
		"DynamicBuffer.Len []Hit":     func() { m.toRead.Len() },
		"DynamicBuffer.Slice []Hit":   func() { m.before.Slice() },
		"Managed.Get managed Weapon":  func() { m.conn.Get(m.Entity) },
		"Bundle.Get Position":         func() { m.bundle.Get(m.Entity) },
	}
}

func (m *lentWorld) writing() map[string]func() {
	ids := []ecs.Entity{m.Entity}
	return map[string]func(){
		"Component.Mut Position":     func() { m.Position.Mut(m.Entity) },
		"Component.Set Position":     func() { m.Position.Set(m.Entity, ecstest.Position{X: 9}) },
		"Component.MutList Position": func() { m.Position.MutList(nil, ids) },
		"Component.SetValues Position": func() {
			_ = m.Position.SetValues(m.Query, make([]ecstest.Position, 3))
		},
		"Query.Rows Position":         func() { eachRows(m.Query) },
		"Component.Slice Position":    func() { eachRow(m.batch, func(r ecs.Rows) { m.Position.Slice(r) }) },
		"Component.ReadOnly Position": func() { eachRow(m.batch, func(r ecs.Rows) { m.Position.ReadOnly(r) }) },
		"View.At Position":            func() { eachRow(m.batch, func(r ecs.Rows) { m.view.At(r) }) },
		"Buffer.At []Hit":             func() { eachRow(m.batch, func(r ecs.Rows) { m.Hits.At(r, 0) }) },
		"Managed.At managed Weapon":   func() { eachRow(m.batch, func(r ecs.Rows) { m.conn.At(r, 0) }) },
		"Component.EnableAt Stun":     func() { eachRow(m.batch, func(r ecs.Rows) { m.Stun.EnableAt(r, 0) }) },
		"Component.Enable Stun":       func() { m.Stun.Enable(m.Entity) },
		"Component.Disable Stun":      func() { m.Stun.Disable(m.Entity) },
		"Component.EnableQuery Stun":  func() { m.Stun.EnableQuery(m.stunned) },
		"Component.DisableList Stun":  func() { m.Stun.DisableList(ids) },
		"Buffer.Mut []Hit":            func() { m.Hits.Mut(m.Entity) },
		"Buffer.Append []Hit":         func() { m.Hits.Append(m.Entity, ecstest.Hit{}) },
		"DynamicBuffer.Append []Hit":  func() { m.before.Append(ecstest.Hit{}) },
		"DynamicBuffer.Clear []Hit":   func() { m.before.Clear() },
		"Managed.Mut managed Weapon":  func() { m.conn.Mut(m.Entity) },
		"Managed.Set managed Weapon":  func() { m.conn.Set(m.Entity, ecstest.Weapon{}) },
		"View.Get Position":           func() { m.view.Get(m.Entity) },
		"Bundle.Set Position":         func() { m.bundle.Set(m.Entity, lentBundle{}) },
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
// reads them the owner does not write them; each call panics with the type and the borrow, and
// changes nothing. All goes when the borrow has ended.
func TestBorrowGuards(t *testing.T) {
	m := newLentWorld(t)
	m.bundle = ecs.NewBundle[lentBundle](m.World)
	lendAll := func(write bool) *ecstest.Lender {
		term := ecs.Read
		if write {
			term = ecs.Write
		}
		return ecstest.Lend(ecs.NewQuery(m.World, term(m.Position), term(m.Hits), term(m.conn),
			ecs.Present(term(m.Stun))), "job all")
	}
	reads, writes := lendAll(false), lendAll(true)
	hash := m.World.Hash()
	refuses := func(calls map[string]func(), does string) {
		for name, f := range calls {
			op, of, _ := strings.Cut(strings.TrimSpace(name), " ")
			want := "ecs: " + op + ": " + of + " is lent to job all, which " + does +
				" it: complete it first; inside it use its rows"
			if does == "reads" {
				want += " or a look-up"
			}
			ecstest.RequirePanicText(t, want, f)
		}
	}
	allows := func(calls map[string]func()) {
		for name, f := range calls {
			require.NotPanics(t, f, name)
		}
	}
	for range 2 {
		ecstest.Begin(reads.Borrow)
		refuses(m.writing(), "reads")
		allows(m.reading())
		reads.Borrow.End()
		ecstest.Begin(writes.Borrow)
		refuses(m.writing(), "writes")
		refuses(m.reading(), "writes")
		ecstest.Begin(reads.Borrow)
		refuses(m.reading(), "writes")
		writes.Borrow.End()
		allows(m.reading())
		refuses(m.writing(), "reads")
		reads.Borrow.End()
		require.Equal(t, hash, m.World.Hash())
	}
	allows(m.reading())
	allows(m.writing())
	require.NoError(t, m.World.Verify())
}

// TestBorrowGoroutinesAreGuarded: a goroutine of a borrow that uses the world's own functions of
// a type that is lent to be written gets the same panic.
func TestBorrowGoroutinesAreGuarded(t *testing.T) {
	m := newLentWorld(t)
	l := ecstest.Lend(ecs.NewQuery(m.World, ecs.Write(m.Position)), "job move", ecs.Write(m.Velocity))
	ecstest.Begin(l.Borrow)
	l.Each(1, 1000, func(*ecs.Accessor, ecs.Rows) {
		for of, f := range map[string]func(){
			"Component.Set: Position": func() { m.Position.Set(m.Entity, ecstest.Position{}) },
			"Component.Get: Position": func() { m.Position.Get(m.Entity) },
			"Component.Mut: Velocity": func() { m.Velocity.Mut(m.Entity) },
		} {
			want := "ecs: " + of + " is lent to job move, which writes it: complete it first; inside it use its rows"
			if strings.HasSuffix(of, "Velocity") {
				want += " or a look-up"
			}
			assert.Equal(t, want, ecstest.PanicText(f))
		}
	})
	l.End()
	require.NoError(t, m.World.Verify())
}

// TestBorrowLeaves: what the owner may do while a borrow writes some types.
func TestBorrowLeaves(t *testing.T) {
	m := newLentWorld(t)
	l := ecstest.Lend(ecs.NewQuery(m.World, ecs.Write(m.Position), ecs.With(m.Stun)), "job move")
	ecstest.Begin(l.Borrow)
	require.True(t, m.Position.Has(m.Entity), "who has what only structural changes change")
	m.Velocity.Set(m.Entity, ecstest.Velocity{X: 1})
	m.Velocity.Mut(m.Entity).Y = 2
	m.Hits.Append(m.Entity, make([]ecstest.Hit, 40)...)
	m.conn.Mut(m.Entity).Damage = 2
	velocities := ecs.NewQuery(m.World, ecs.Write(m.Velocity), ecs.With(m.Position))
	require.Equal(t, 4, velocities.Count())
	for rows := range velocities.Rows() {
		m.Velocity.Slice(rows)[0].X = 3
		require.True(t, m.Stun.Enabled(rows.Entities()[0]), "the borrow only reads these bits")
	}
	for rows := range m.batch.Rows() {
		require.True(t, m.Position.In(rows))
		m.Velocity.Slice(rows)[0].Y = 4
	}
	require.Equal(t, 4, m.positions.Count(), "no bit or version decides")
	require.True(t, ecstest.Out(l.Borrow), "nothing had to wait")
	l.End()
	require.Equal(t, ecstest.Velocity{X: 3, Y: 4}, *m.Velocity.Get(m.Entity))
	require.NoError(t, m.World.Verify())
}
