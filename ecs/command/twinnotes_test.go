package command

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// Orders about a buffer whose elements name nobody, so that they are written with the columns, and
// entities of many archetypes that are created in turn.

// noteList returns the elements of an order: up to five, of which three fit the chunk.
func (o order) noteList() []int32 {
	return []int32{int32(o.n), 2, 3, 4, 5}[:o.n%6]
}

// recordNotes gives an order about notes to a buffer.
func (o order) recordNotes(y *yard, cb Recorder, e ecs.Entity) {
	switch o.what {
	case doAddNotes:
		AddBuffer(cb, e, y.notes, o.noteList()...)
	case doPutNotes:
		PutBuffer(cb, e, y.notes, o.noteList()...)
	case doAppendNotes:
		Append(cb, e, y.notes, o.noteList()...)
	}
}

// doNotes is do of the orders about notes.
func (o order) doNotes(y *yard, e ecs.Entity) (failed int) {
	d, has := y.notes.Mut(e)
	switch {
	case !y.w.Alive(e), !has && o.what == doAppendNotes:
		return 1
	case !has:
		give(y.notes, e, o.noteList()...)
	case o.what == doAppendNotes:
		d.Append(o.noteList()...)
	case o.what == doPutNotes:
		d.CopyFrom(o.noteList())
	}
	return 0
}

// mixed makes the same entities by a buffer in one world and by calls in another.
type mixed struct {
	r          *rand.Rand
	a, b       *yard
	cb         *Buffer
	known      []ecs.Entity // in a, placeholders until they are made
	real       []ecs.Entity // in b
	inA, inB   []*ecs.Archetype
	odds, sort int // of commands that are not those of the others; of entities that end or change
}

// spawn makes an entity of a kind, whose commands are mostly the same.
func (m *mixed) spawn(kind int) {
	a, b, cb, i := m.a, m.b, m.cb, len(m.known)
	e, f := cb.Create(m.inA[kind]), m.inB[kind].Create()
	p := position{float64(i), float64(kind)}
	Set(cb, e, a.pos, p)
	b.pos.Set(f, p)
	orders := []order{{what: doAppendNotes, n: i}}
	if kind%2 == 1 {
		orders = []order{{what: doPutNotes, n: 1 + kind}, {what: doAppendNotes, n: i / 2}}
	}
	if m.r.IntN(m.odds) == 0 {
		orders = append(orders, order{what: doPutNotes + m.r.IntN(2), n: m.r.IntN(20)})
	}
	for _, o := range orders {
		o.recordNotes(a, cb, e)
		o.doNotes(b, f)
	}
	if kind%3 == 1 || m.r.IntN(m.odds) == 0 {
		Put(cb, e, a.walk, health{float64(i)})
		if !b.walk.Add(f, health{float64(i)}) {
			b.walk.Set(f, health{float64(i)})
		}
		cb.Disable(e, a.walk)
		b.walk.Disable(f)
	}
	m.known, m.real = append(m.known, e), append(m.real, f)
	if m.r.IntN(m.sort) == 0 { // one of all, now or when it was made before
		j := m.r.IntN(len(m.known))
		switch m.r.IntN(3) {
		case 0:
			cb.Destroy(m.known[j])
			b.w.Destroy(m.real[j])
		default:
			if b.w.Alive(m.real[j]) {
				Append(cb, m.known[j], a.notes, 7, 8)
				b.notes.Append(m.real[j], 7, 8)
			}
		}
	}
}

// TestMixedSpawns spawns entities of several archetypes in turn, with elements that fit the chunk
// or do not, over the ends of pages; some end, or take more elements, when they are made or later.
func TestMixedSpawns(t *testing.T) {
	for seed := range twins() / 2 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := &mixed{r: rand.New(rand.NewPCG(seed, 9)), a: openYard(t), b: openYard(t), odds: 40, sort: 50}
			if seed%4 == 2 {
				m.odds, m.sort = 3, 4
			}
			m.cb = m.a.open(t)
			if seed%4 == 3 {
				m.cb = m.a.open(t, Trace)
			}
			for kind := range 5 {
				team := teams[kind%3]
				m.inA = append(m.inA, ecs.NewArchetype(m.a.w, m.a.pos, m.a.notes, m.a.team.Of(team)))
				m.inB = append(m.inB, ecs.NewArchetype(m.b.w, m.b.pos, m.b.notes, m.b.team.Of(team)))
			}
			m.inA[4] = ecs.NewArchetype(m.a.w, m.a.pos, m.a.notes, m.a.walk)
			m.inB[4] = ecs.NewArchetype(m.b.w, m.b.pos, m.b.notes, m.b.walk)
			for range 3 {
				for i := range 200 + m.r.IntN(2000) {
					kind := i % 5
					if m.r.IntN(4) == 0 {
						kind = m.r.IntN(5)
					}
					m.spawn(kind)
				}
				require.NoError(t, m.cb.Play())
				resolve(m.cb, m.known)
				for i := range m.known {
					if !m.b.w.Alive(m.real[i]) {
						require.False(t, m.a.w.Alive(m.known[i]))
						m.known[i] = ecs.Null
					}
				}
				require.NoError(t, m.a.w.Verify())
				require.Equal(t, m.b.describeAll(m.real), m.a.describeAll(m.known))
				for i := len(m.known) - 1; i >= 0; i-- {
					if m.known[i] == ecs.Null {
						m.known[i], m.real[i] = m.known[len(m.known)-1], m.real[len(m.real)-1]
						m.known, m.real = m.known[:len(m.known)-1], m.real[:len(m.real)-1]
					}
				}
			}
		})
	}
}
