package command

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// The slow twin: each command is done at once, by the call of ecs that it stands for, in a
// world that began alike. What a buffer makes of the same commands must be the same.

type pointer struct {
	To ecs.Entity
	N  uint32
}
type hit struct {
	By ecs.Entity
	N  int32
}
type slow struct{}
type socket struct{ Port int32 }
type file struct{ FD int32 }
type team string

// yard is a world with some of each kind of type.
type yard struct {
	w      *ecs.World
	pos    ecs.Component[position]
	ptr    ecs.Component[pointer]
	slow   ecs.Component[slow]
	walk   ecs.Component[health] // Enableable
	socket ecs.Component[socket] // Cleanup
	file   ecs.Component[file]   // Cleanup
	hits   ecs.Buffer[hit]
	group  ecs.Buffer[ecs.LinkedEntity]
	team   ecs.Shared[team]
	aim    ecs.Sparse[aim] // Enableable
	notes  ecs.Buffer[int32]
	plain  *ecs.Archetype
	full   *ecs.Archetype
	change *ecs.Change
	swap   *ecs.Change // of the Cleanup types
	q      *ecs.Query
	qwalk  *ecs.Query
}

func newYard(t testing.TB, options ...ecs.Option) *yard {
	w, err := ecs.NewWorld(options...)
	require.NoError(t, err)
	return yardOf(w)
}

func yardOf(w *ecs.World) *yard {
	y := &yard{w: w, pos: ecs.Register[position](w), ptr: ecs.Register[pointer](w), slow: ecs.Register[slow](w),
		walk: ecs.Register[health](w, ecs.Enableable), socket: ecs.Register[socket](w, ecs.Cleanup), file: ecs.Register[file](w, ecs.Cleanup),
		hits: ecs.RegisterBuffer[hit](w, ecs.Inline(2)), group: ecs.RegisterBuffer[ecs.LinkedEntity](w), team: ecs.RegisterShared[team](w),
		aim: ecs.RegisterSparse[aim](w, ecs.Enableable), notes: ecs.RegisterBuffer[int32](w, ecs.Inline(3))}
	y.plain = ecs.NewArchetype(w, y.pos)
	y.full = ecs.NewArchetype(w, y.pos, y.ptr, y.walk, y.hits, y.team.Of("red"))
	y.change = ecs.NewChange(w, ecs.Add(y.slow, y.walk), ecs.Remove(y.ptr))
	y.swap = ecs.NewChange(w, ecs.Add(y.file), ecs.Remove(y.socket))
	y.q = ecs.NewQuery(w, ecs.With(y.ptr))
	y.qwalk = ecs.NewQuery(w, ecs.With(y.walk))
	return y
}

// openYard makes a yard whose world must be sound at the test's end and return its memory.
func openYard(t testing.TB, options ...ecs.Option) *yard {
	y := newYard(t, options...)
	t.Cleanup(func() {
		require.NoError(t, y.w.Verify())
		require.NoError(t, y.w.Close())
	})
	return y
}

// open makes a buffer that is closed before the yard.
func (y *yard) open(t testing.TB, options ...Option) *Buffer {
	cb := NewBuffer(y.w, options...)
	t.Cleanup(cb.Close)
	return cb
}

func (y *yard) lend(t testing.TB, options ...Option) *Lender {
	l := NewLender(y.w, options...)
	t.Cleanup(l.Close)
	return l
}

// populate makes n entities, of five archetypes.
func (y *yard) populate(n int, groups bool) (list []ecs.Entity) {
	for i := range n {
		switch i % 5 {
		case 0, 1:
			list = append(list, y.plain.Create())
		case 2:
			list = append(list, y.full.Create())
		case 3:
			list = append(list, y.full.With(y.team.Of("blue")).Create())
		default:
			e := y.plain.Create()
			y.socket.Add(e, socket{int32(i)})
			if i%10 == 9 { // copies lack it, and those that get it have it anew
				y.file.Add(e, file{int32(i)})
			}
			list = append(list, e)
		}
		y.pos.Set(list[i], position{float64(i), 1})
		if i%4 == 3 {
			y.aim.Add(list[i], aim{At: list[i-2], N: int32(i)})
			if i%8 == 7 {
				y.aim.Disable(list[i])
			}
		}
		if groups && i%7 == 6 {
			give(y.group, list[i], ecs.LinkedEntity{Entity: list[i]}, ecs.LinkedEntity{Entity: list[i-3]},
				ecs.LinkedEntity{Entity: list[i-1]})
		}
	}
	return list
}

// give makes an entity's buffer hold some elements.
func give[T any](b ecs.Buffer[T], e ecs.Entity, v ...T) {
	b.Add(e)
	d, _ := b.Mut(e)
	d.CopyFrom(v)
}

// order is a command of a test: numbers of entities and not handles, those of placeholders are
// behind those of the entities that there are.
type order struct {
	what  int
	who   int
	other int // in a value, and what is instantiated
	n     int
}

const (
	doCreate = iota
	doCreateFull
	doInstantiate
	doDestroy
	doAddPos
	doPutPos
	doSetPos
	doPutPtr
	doRemovePos
	doRemovePtr
	doAddSlow
	doRemoveSlow
	doRemoveSocket
	doAddWalk
	doApply
	doSwap
	doAddFile
	doRemoveFile
	doEnable
	doDisable
	doAddHits
	doPutHits
	doSetHits
	doAppend
	doRemoveHits
	doAddTeam
	doPutTeam
	doSetTeam
	doRemoveTeam
	doPutGroup
	doAppendList
	doSetTeamList
	doAddAim
	doPutAim
	doPutAimList
	doRemoveAim
	doAddNotes
	doPutNotes
	doAppendNotes
	doDestroyQuery
	doAddQuery
	doPutQuery
	doSetQuery
	doRemoveQuery
	doDisableQuery
	doTeamQuery
	doAddWalkQuery
	doAddHitsQuery
	doPutHitsQuery
	doAppendQuery
	doSetTeamQuery
	orders
)

var orderNames = [orders]string{
	"Create", "CreateFull", "Instantiate", "Destroy", "AddPos", "PutPos", "SetPos", "PutPtr", "RemovePos", "RemovePtr",
	"AddSlow", "RemoveSlow", "RemoveSocket", "AddWalk", "Apply", "Swap", "AddFile", "RemoveFile", "Enable", "Disable",
	"AddHits", "PutHits", "SetHits", "Append", "RemoveHits", "AddTeam", "PutTeam", "SetTeam", "RemoveTeam", "PutGroup",
	"AppendList", "SetTeamList", "AddAim", "PutAim", "PutAimList", "RemoveAim", "AddNotes", "PutNotes", "AppendNotes", "DestroyQuery", "AddQuery", "PutQuery",
	"SetQuery", "RemoveQuery", "DisableQuery", "TeamQuery", "AddWalkQuery", "AddHitsQuery", "PutHitsQuery",
	"AppendQuery", "SetTeamQuery",
}

var teams = []team{"red", "blue", "green"}

// record gives the orders to a buffer; known grows by the placeholders.
func (o order) record(y *yard, cb Recorder, known []ecs.Entity) []ecs.Entity {
	w := cb.writer()
	at := func(i int) ecs.Entity { return known[i%len(known)] }
	e := at(o.who)
	p := position{float64(o.n), 2}
	hits := []hit{{at(o.other), int32(o.n)}, {ecs.Null, 2}, {e, 3}}[:o.n%4]
	switch o.what {
	case doCreate:
		known = append(known, w.Create(y.plain))
	case doCreateFull:
		known = append(known, w.Create(y.full))
	case doInstantiate:
		known = append(known, w.Instantiate(at(o.other)))
	case doDestroy:
		w.Destroy(e)
	case doAddPos:
		Add(cb, e, y.pos, p)
	case doPutPos:
		Put(cb, []ecs.Entity{e, at(o.other)}, y.pos, p)
	case doSetPos:
		Set(cb, e, y.pos, p)
	case doPutPtr:
		Put(cb, e, y.ptr, pointer{at(o.other), uint32(o.n)})
	case doRemovePos:
		w.Remove(e, y.pos)
	case doRemovePtr:
		w.RemoveList([]ecs.Entity{e, e}, y.ptr)
	case doAddSlow:
		w.Add(e, y.slow)
	case doRemoveSlow:
		w.Remove(e, y.slow, y.walk)
	case doRemoveSocket:
		w.Remove(e, y.socket)
	case doAddWalk:
		w.Add(e, y.walk)
	case doApply:
		w.Apply(e, y.change)
	case doSwap:
		w.Apply(e, y.swap)
	case doAddFile:
		w.Add(e, y.file)
	case doRemoveFile:
		w.Remove(e, y.file)
	case doEnable:
		w.Enable(e, y.walk)
	case doDisable:
		w.Disable(e, y.walk)
	case doAddHits:
		AddBuffer(cb, e, y.hits, hits...)
	case doPutHits:
		PutBuffer(cb, e, y.hits, hits...)
	case doSetHits:
		SetBuffer(cb, e, y.hits, hits...)
	case doAppend:
		Append(cb, e, y.hits, hits...)
	case doRemoveHits:
		w.Remove(e, y.hits)
	case doAddTeam:
		AddShared(cb, e, y.team, teams[o.n%3])
	case doPutTeam:
		PutShared(cb, e, y.team, teams[o.n%3])
	case doSetTeam:
		SetShared(cb, e, y.team, teams[o.n%3])
	case doRemoveTeam:
		w.Remove(e, y.team)
	case doPutGroup:
		PutBuffer(cb, e, y.group, ecs.LinkedEntity{Entity: at(o.other)})
	case doAppendList:
		Append(cb, []ecs.Entity{e, at(o.other)}, y.hits, hits...)
	case doSetTeamList:
		SetShared(cb, []ecs.Entity{e, at(o.other)}, y.team, teams[o.n%3])
	case doAddAim, doPutAim, doPutAimList, doRemoveAim:
		o.recordAim(y, cb, e, at(o.other))
	case doAddNotes, doPutNotes, doAppendNotes:
		o.recordNotes(y, cb, e)
	default:
		o.recordQuery(y, cb, e)
	}
	return known
}

// do does the order at once. It returns how many of its commands could not apply.
func (o order) do(y *yard, known []ecs.Entity) (_ []ecs.Entity, failed int) {
	at := func(i int) ecs.Entity { return known[i%len(known)] }
	e := at(o.who)
	alive := y.w.Alive(e)
	made := e != ecs.Null // else a placeholder that came to nothing
	p := position{float64(o.n), 2}
	fails := func(ok bool) {
		if !ok {
			failed++
		}
	}
	// A destroyed entity of which Cleanup types are left takes what it has, but gives no copies.
	named := func(i int) bool { return known[i%len(known)] != ecs.Null }
	switch o.what {
	case doCreate:
		known = append(known, y.plain.Create())
	case doCreateFull:
		known = append(known, y.full.Create())
	case doInstantiate:
		source := at(o.other)
		if !y.w.Alive(source) || y.dying(source) {
			return append(known, ecs.Null), 1
		}
		known = append(known, y.w.Instantiate(source))
	case doDestroy:
		if fails(made); made {
			y.w.Destroy(e)
		}
	case doAddPos:
		if fails(alive); alive {
			y.pos.Add(e, p)
		}
	case doPutPos:
		for _, e := range []ecs.Entity{e, at(o.other)} {
			if !y.w.Alive(e) {
				failed++
			} else if !y.pos.Add(e, p) {
				y.pos.Set(e, p)
			}
		}
	case doSetPos:
		fails(y.pos.Set(e, p))
	case doPutPtr:
		if ok := alive && named(o.other); !ok {
			return known, 1
		}
		if v := (pointer{at(o.other), uint32(o.n)}); !y.ptr.Add(e, v) {
			y.ptr.Set(e, v)
		}
	case doRemovePos:
		if fails(made); made {
			y.pos.Remove(e)
		}
	case doRemovePtr:
		for range 2 {
			if fails(made); made {
				y.ptr.Remove(e)
			}
		}
	default:
		return known, o.doRest(y, known)
	}
	return known, failed
}

// doRest is do of the orders that make no entity: about tags, bits and destruction by types.
func (o order) doRest(y *yard, known []ecs.Entity) (failed int) {
	e := known[o.who%len(known)]
	alive, made := y.w.Alive(e), e != ecs.Null
	fails := func(ok bool) {
		if !ok {
			failed++
		}
	}
	switch o.what {
	case doAddSlow:
		if fails(alive); alive {
			y.slow.Add(e, slow{})
		}
	case doRemoveSlow:
		if fails(made); made {
			y.slow.Remove(e)
		}
		if fails(made); made {
			y.walk.Remove(e)
		}
	case doRemoveSocket:
		if fails(made); made {
			y.socket.Remove(e)
		}
	case doAddWalk:
		if fails(alive); alive {
			y.walk.Add(e, health{})
		}
	case doApply, doSwap:
		c := y.change
		if o.what == doSwap {
			c = y.swap
		}
		if fails(alive); alive {
			_, err := c.Apply(e)
			if err != nil {
				panic(err)
			}
		}
	case doAddFile:
		if fails(alive); alive {
			y.file.Add(e, file{})
		}
	case doRemoveFile:
		if fails(made); made {
			y.file.Remove(e)
		}
	case doEnable:
		fails(y.walk.Enable(e))
	case doDisable:
		fails(y.walk.Disable(e))
	default:
		return o.doOwned(y, known)
	}
	return failed
}

// doOwned is do of the orders about buffers and shared values.
func (o order) doOwned(y *yard, known []ecs.Entity) (failed int) {
	at := func(i int) ecs.Entity { return known[i%len(known)] }
	e := at(o.who)
	alive, made := y.w.Alive(e), e != ecs.Null
	p := position{float64(o.n), 2}
	hits := []hit{{at(o.other), int32(o.n)}, {ecs.Null, 2}, {e, 3}}[:o.n%4]
	named := func(i int) bool { return at(i) != ecs.Null }
	fails := func(ok bool) {
		if !ok {
			failed++
		}
	}
	switch o.what {
	case doAddHits, doPutHits, doSetHits, doAppend:
		if o.n%4 > 0 && !named(o.other) || o.n%4 > 2 && !made || !alive {
			return 1
		}
		d, has := y.hits.Mut(e)
		switch {
		case !has && (o.what == doSetHits || o.what == doAppend):
			failed++
		case !has:
			give(y.hits, e, hits...)
		case o.what == doAppend:
			d.Append(hits...)
		case o.what != doAddHits:
			d.CopyFrom(hits)
		}
	case doAppendList:
		if o.n%4 > 0 && !named(o.other) || o.n%4 > 2 && !made {
			return 1
		}
		for _, e := range []ecs.Entity{e, at(o.other)} {
			d, has := y.hits.Mut(e)
			if fails(has); has {
				d.Append(hits...)
			}
		}
	case doSetTeamList:
		for _, e := range []ecs.Entity{e, at(o.other)} {
			fails(y.team.Set(e, teams[o.n%3]))
		}
	case doRemoveHits:
		if fails(made); made {
			y.hits.Remove(e)
		}
	case doAddTeam:
		if fails(alive); alive {
			y.team.Add(e, teams[o.n%3])
		}
	case doPutTeam:
		if fails(alive); alive && !y.team.Add(e, teams[o.n%3]) {
			y.team.Set(e, teams[o.n%3])
		}
	case doSetTeam:
		fails(y.team.Set(e, teams[o.n%3]))
	case doRemoveTeam:
		if fails(made); made {
			y.team.Remove(e)
		}
	case doPutGroup:
		if !named(o.other) || !alive {
			return 1
		}
		give(y.group, e, ecs.LinkedEntity{Entity: at(o.other)})
	case doAddAim, doPutAim, doPutAimList, doRemoveAim:
		return o.doAim(y, e, at(o.other))
	case doAddNotes, doPutNotes, doAppendNotes:
		return o.doNotes(y, e)
	default:
		if o.what == doPutQuery && !made {
			return 1
		}
		y.doQuery(o, e, p)
	}
	return failed
}

func (y *yard) dying(e ecs.Entity) bool { return ecs.Register[ecs.CleanupEntity](y.w).Has(e) }

// twins is how many seeds a test has: forty have every order in dozens of places.
func twins() uint64 { return uint64(long.N(40, 200)) }

func TestTwin(t *testing.T) {
	for seed := range twins() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runTwin(t, seed, doDestroyQuery, seed%2 == 1) })
	}
}

func TestTwinQueries(t *testing.T) {
	for seed := range twins() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runTwin(t, seed, orders, seed%2 == 1) })
	}
}

// resolve makes placeholders the entities that the last Play made for them.
func resolve(cb *Buffer, handles []ecs.Entity) {
	for i, e := range handles {
		if e.IsPlaceholder() {
			handles[i] = cb.Made(e)
		}
	}
}

func runTwin(t *testing.T, seed uint64, upTo int, groups bool) {
	runOrders(t, rand.New(rand.NewPCG(seed, 1)), upTo, groups)
}

func runOrders(t *testing.T, r *rand.Rand, upTo int, groups bool) {
	a, b := newYard(t), newYard(t)
	defer a.w.Close()
	defer b.w.Close()
	n := 1 + r.IntN(40)
	known := a.populate(n, groups)
	real := b.populate(n, groups)
	cb := NewBuffer(a.w, Trace)
	defer cb.Close()
	for range 4 {
		handles, failed := slices.Clone(known), 0
		var told []string
		for range 1 + r.IntN(60) {
			o := order{r.IntN(upTo), r.IntN(1000), r.IntN(1000), r.IntN(20)}
			told = append(told, fmt.Sprintf("%s(%d, %d, %d)",
				orderNames[o.what], o.who%len(handles), o.other%len(handles), o.n))
			handles = o.record(a, cb, handles)
			f := 0
			real, f = o.do(b, real)
			failed += f
		}
		err := cb.PlayRest()
		require.NoError(t, a.w.Verify())
		resolve(cb, handles)
		want, got := b.describeAll(real), a.describeAll(handles)
		for i := range want {
			if want[i] != got[i] {
				t.Logf("orders, by number of entity (0 to %d were there): %v", len(known)-1, told)
			}
			require.Equal(t, want[i], got[i], "of %d: %v", len(known), err)
		}
		if failed == 0 {
			require.NoError(t, err)
		} else {
			var e *PlayError
			require.ErrorAs(t, err, &e)
			require.Equal(t, failed, e.Count, "%v", err)
		}
		known = handles
		// A dead placeholder cannot be named again.
		for i := len(known) - 1; i >= 0; i-- {
			if known[i] == ecs.Null || real[i] == ecs.Null || !b.w.Alive(real[i]) {
				known, real = slices.Delete(known, i, i+1), slices.Delete(real, i, i+1)
			}
		}
		if len(known) == 0 {
			return
		}
	}
}
