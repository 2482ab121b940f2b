package command

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// TestRefusedPlayChangesNothing: a buffer with commands that cannot apply leaves the world as it
// is; PlayRest makes of it what the twin makes of the others.
func TestRefusedPlayChangesNothing(t *testing.T) {
	y := openYard(t)
	y.populate(60, true)
	refusals := 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		cb := NewBuffer(y.w)
		known := y.populate(10, false)
		for range 1 + r.IntN(40) {
			known = order{r.IntN(orders), r.IntN(1000), r.IntN(1000), r.IntN(20)}.record(y, cb, known)
		}
		hash, stats, n := y.w.Hash(), y.w.Stats().Alive, cb.Len()
		if err := cb.Play(); err != nil {
			var refused *PlayError
			require.ErrorAs(t, err, &refused)
			if !refused.Applied { // else a query was in it, and behind it what could not be known
				refusals++
				require.Equal(t, hash, y.w.Hash())
				require.Equal(t, stats, y.w.Stats().Alive)
				require.Equal(t, n, cb.Len())
				require.Contains(t, err.Error(), "nothing was changed")
				require.ErrorAs(t, cb.PlayRest(), &refused)
				require.True(t, refused.Applied)
			}
		}
		require.NoError(t, y.w.Verify())
		cb.Close()
	}
	require.Positive(t, refusals)
}

// TestFailureSaysWhere: a failure has the line that recorded it, its place in the order of
// playback, and the reason.
func TestFailureSaysWhere(t *testing.T) {
	y := openYard(t)
	cb := y.open(t, Trace)
	e, dead := y.plain.Create(), y.plain.Create()
	y.w.Destroy(dead)
	w := cb.Parallel(partOf{3, 9, 70})
	w.Key(-2)
	var lines []string
	here := func() {
		_, file, line, _ := runtime.Caller(1)
		lines = append(lines, fmt.Sprintf("%s:%d", file, line+1))
	}
	w.Remove(e, y.socket) // no failure: number 0
	here()
	Set(w, e, y.walk, health{1})
	here()
	w.Enable(e, y.walk)
	here()
	Add(w, []ecs.Entity{e, dead, dead}, y.ptr, pointer{})
	here()
	Append(w, e, y.hits, hit{})
	here()
	w.Instantiate(dead)
	here()
	SetShared(cb, e, y.team, "red")
	lines = slices.Insert(lines, 3, lines[2]) // two of the list
	var refused *PlayError
	require.ErrorAs(t, cb.Play(), &refused)
	require.Equal(t, len(lines), refused.Count)
	why := []reason{lacksType, lacksType, isDead, isDead, lacksType, hasNoCopy, lacksType}
	numbers := []int{1, 2, 3, 3, 4, 5, 0}
	for i, f := range refused.Failures {
		require.Equal(t, lines[i], f.Line)
		require.Equal(t, reasons[why[i]], f.Why)
		require.Equal(t, numbers[i], f.Number)
		require.Contains(t, f.String(), f.Line)
		if i == len(lines)-1 {
			require.Equal(t, [3]int64{0, 0, 0}, [3]int64{f.Key, int64(f.Flight), int64(f.Ordinal)})
			continue
		}
		require.Equal(t, [3]int64{-2, 9, 70}, [3]int64{f.Key, int64(f.Flight), int64(f.Ordinal)})
	}
	require.Contains(t, refused.Error(), "command: Buffer.Play: 7 commands cannot apply, nothing was changed:")
}

// TestManyFailures: all are counted, the first are described.
func TestManyFailures(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.plain.Create()
	for range 1000 {
		Set(cb, e, y.walk, health{1})
		Set(cb, e, y.pos, position{1, 1})
	}
	var refused *PlayError
	require.ErrorAs(t, cb.PlayRest(), &refused)
	require.Equal(t, 1000, refused.Count)
	require.Len(t, refused.Failures, MostFailures)
	require.Equal(t, 198, refused.Failures[99].Number)
	require.Contains(t, refused.Error(), "and 990 others")
	require.Equal(t, position{1, 1}, *y.pos.Get(e))
}

// passing are orders of entities that pass through archetypes which they leave again, behind one of
// a single entity, which finds room and leaves none.
var passing = [][]int{
	{doRemovePos, doAddPos},
	{doAddSlow, doRemovePos, doPutPos},
	{doAddSlow, doAddWalk, doDestroy},
	{doCreateFull, doRemovePos, doAddPos},
}

// scarcePlay plays random orders of one run in a universe with so many free chunks. It reports
// whether there was room; a Play for which there is none must have changed nothing.
func scarcePlay(t *testing.T, u *alloc.Universe, seed uint64, free int) bool {
	const block = 300
	w, err := ecs.NewWorld(ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(1)))
	require.NoError(t, err)
	y := yardOf(w)
	known := y.populate(4*block, seed%2 == 1)
	cb := NewBuffer(w, Keep)
	r := rand.New(rand.NewPCG(seed, 5))
	handles := known
	var told []string
	for i := range 4 { // blocks with the same commands, of which each needs chunks
		n := 1 + r.IntN(4)
		if seed < uint64(len(passing)) {
			n = len(passing[seed])
		}
		for k := range n {
			o := order{r.IntN(doDestroyQuery), r.IntN(1000), r.IntN(1000), r.IntN(20)}
			many := block
			if seed < uint64(len(passing)) {
				if o.what = passing[seed][k]; i == 0 {
					o.what, many = doApply, 1
				}
			}
			if o.what >= doAddHits && o.what <= doAppend || o.what == doAppendList { // written when all is moved
				o.what = doRemoveHits
			}
			if o.what == doInstantiate && (i > 0 || seed%2 == 1 || len(handles) > len(known)) { // which would end a run
				o.what = doCreateFull
			}
			told = append(told, orderNames[o.what])
			made := len(handles)
			for j := range many {
				o.who = i*block + j
				if i == 3 && made > len(known) {
					o.who = len(known) + j // about placeholders
				}
				handles = o.record(y, cb, handles[:len(handles):len(handles)])
			}
		}
	}
	w.Trim()
	taken := drain(u)
	for range min(free, len(taken)) {
		u.Free(taken[0], 1)
		taken = taken[1:]
	}
	before, alive := w.Hash(), w.Stats().Alive
	err = cb.PlayRest()
	var limit *ecs.LimitError
	refused := errors.As(err, &limit)
	if refused {
		require.Equal(t, before, w.Hash(), "%d free: %v: %v", free, told, err)
		require.Equal(t, alive, w.Stats().Alive)
	}
	require.NoError(t, w.Verify())
	for _, c := range taken {
		u.Free(c, 1)
	}
	if refused { // and there is nothing that keeps it from being played now
		err = cb.PlayRest()
		require.False(t, errors.As(err, &limit), "%v", err)
		require.NoError(t, w.Verify())
	}
	cb.Close()
	require.NoError(t, w.Close())
	return !refused
}

// TestScarceMemory: however few chunks are free, a Play of a buffer of one run is all or nothing.
func TestScarceMemory(t *testing.T) {
	seeds := uint64(long.N(4, 30)) // each with every number of free chunks
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	refusals := 0
	for seed := range seeds {
		for free := 0; !scarcePlay(t, u, seed, free); free++ {
			refusals++
		}
	}
	require.Greater(t, refusals, int(seeds))
	require.NoError(t, u.Verify())
	require.NoError(t, u.Close())
}

// TestRefusedByMemory plays a buffer whose only run finds no room, and one whose second does: the
// first stays recorded, with nothing changed, and can be played when there is room; of the second
// the error has the commands that were applied, and the buffer counts as played.
func TestRefusedByMemory(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(8 << 20))
	require.NoError(t, err)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	pos, hp := ecs.Register[position](w), ecs.Register[health](w)
	a := ecs.NewArchetype(w, pos)
	batch, err := a.CreateN(20_000)
	require.NoError(t, err)
	list, q := batch.Entities(nil), ecs.NewQuery(w, ecs.With(pos))
	cb := NewBuffer(w)
	for i, e := range list[:15_000] {
		Add(cb, e, hp, health{float64(i)})
	}
	hash, commands := w.Hash(), cb.Len()
	var hog []alloc.ChunkIndex
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	free := func() {
		for _, c := range hog {
			u.Free(c, 1)
		}
	}
	err = cb.Play()
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.ErrorContains(t, err, "nothing was changed")
	require.Equal(t, hash, w.Hash())
	require.Equal(t, commands, cb.Len())
	free()
	require.NoError(t, cb.Play())
	require.Equal(t, 14_999.0, hp.Get(list[14_999]).V)

	plain := ecs.NewQuery(w, ecs.With(pos), ecs.Without(hp))
	cb.DestroyQuery(ecs.NewQuery(w, ecs.With(hp)))
	for i := range 60_000 {
		Set(cb, cb.Create(a), pos, position{float64(i), 1})
	}
	hog = hog[:0]
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	err = cb.Play()
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.ErrorContains(t, err, "after 1 runs of commands, which are applied")
	require.Equal(t, 5_000, q.Count())
	require.Equal(t, 5_000, plain.Count())
	require.Zero(t, cb.Len(), "what was not applied is dropped")
	require.NoError(t, cb.Play())
	free()
	require.NoError(t, w.Verify())
	cb.Close()
	require.NoError(t, w.Close())
	require.NoError(t, u.Close())
}

// TestLateFailures: what finds no room for its elements when it is played is a failure whatever
// comes behind it, is in its place in the order of playback, and costs no other command.
func TestLateFailures(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, u.Close()) })
	y := openYard(t, ecs.WithUniverse(u))
	much := make([]hit, 10_000)
	e, f, g, lacks := y.full.Create(), y.full.Create(), y.full.Create(), y.plain.Create()
	y.hits.Append(f, make([]hit, 80_000)...)
	scarce(t, u)
	checked := ecs.NewQuery(y.w, ecs.With(y.slow))
	for name, c := range map[string]struct {
		record func(cb *Buffer)
		want   []Failure // Command, Entity, Why and Number
	}{
		"one": {func(cb *Buffer) { Append(cb, f, y.hits, much...) }, []Failure{{"Append []hit", f, reasons[noRoom], 0, 0, 0, 0, ""}}},
		"before what is checked anew": {func(cb *Buffer) {
			Append(cb, f, y.hits, much...)
			cb.DestroyQuery(checked)
			Set(cb, e, y.pos, position{1, 1})
		}, []Failure{{"Append []hit", f, reasons[noRoom], 0, 0, 0, 0, ""}}},
		"between others": {func(cb *Buffer) {
			Set(cb, lacks, y.walk, health{1})
			Append(cb, f, y.hits, much...)
			Set(cb, lacks, y.walk, health{2})
			cb.DestroyQuery(checked)
			Append(cb, f, y.hits, much...)
			Set(cb, lacks, y.walk, health{3})
		}, []Failure{{"Set health", lacks, reasons[lacksType], 0, 0, 0, 0, ""},
			{"Append []hit", f, reasons[noRoom], 0, 0, 0, 1, ""},
			{"Set health", lacks, reasons[lacksType], 0, 0, 0, 2, ""}, {"Append []hit", f, reasons[noRoom], 0, 0, 0, 4, ""},
			{"Set health", lacks, reasons[lacksType], 0, 0, 0, 5, ""}}},
		"a list": {func(cb *Buffer) { Append(cb, []ecs.Entity{e, f, g}, y.hits, much...) },
			[]Failure{{"Append []hit", f, reasons[noRoom], 0, 0, 0, 0, ""}}},
		"a query": {func(cb *Buffer) { Append(cb, y.q, y.hits, much...) },
			[]Failure{{"Append []hit", f, reasons[noRoom], 0, 0, 0, 0, ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			cb := y.open(t)
			c.record(cb)
			cb.Add(g, y.slow)
			var refused *PlayError
			require.ErrorAs(t, cb.PlayRest(), &refused)
			require.ErrorIs(t, refused, ecs.ErrLimit)
			require.Equal(t, c.want, untraced(refused.Failures))
			require.Equal(t, len(c.want), refused.Count)
			require.True(t, refused.Applied)
			require.Len(t, y.hits.Slice(f), 80_000)
			require.True(t, y.slow.Remove(g), "behind it")
			if name == "a list" || name == "a query" {
				require.Equal(t, []int{10_000, 10_000}, []int{len(y.hits.Slice(e)), len(y.hits.Slice(g))})
			}
			give(y.hits, e)
			give(y.hits, g)
		})
	}
}

// scarce leaves 64 chunks of a universe free until the test ends: in a row, so that a buffer of 1
// MiB and no larger one finds room.
func scarce(t *testing.T, u *alloc.Universe) {
	room, err := u.AllocExact(alloc.ChunksPerMegachunk)
	require.NoError(t, err)
	var hog []alloc.ChunkIndex
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	u.Free(room, alloc.ChunksPerMegachunk)
	t.Cleanup(func() {
		for _, c := range hog {
			u.Free(c, 1)
		}
	})
}

// untraced returns failures without the lines that debug builds note.
func untraced(list []Failure) []Failure {
	for i := range list {
		list[i].Line = ""
	}
	return list
}

// TestElementsWithoutRoom: where elements find no memory, who was to get the buffer has it, empty,
// and who had it has the elements of before.
func TestElementsWithoutRoom(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	y := newYard(t, ecs.WithUniverse(u))
	lacks, has := y.plain.Create(), y.full.Create()
	y.hits.Append(has, hit{N: 7})
	ecs.NewArchetype(y.w, y.pos, y.hits).Create() // where the first will be
	much := make([]hit, 5000)                     // 60,000 B
	for name, c := range map[string]struct {
		record func(cb *Buffer)
		fails  int
	}{
		"AddBuffer": {func(cb *Buffer) { AddBuffer(cb, lacks, y.hits, much...); AddBuffer(cb, has, y.hits, much...) }, 1},
		"PutBuffer": {func(cb *Buffer) { PutBuffer(cb, lacks, y.hits, much...); PutBuffer(cb, has, y.hits, much...) }, 2},
		"a query":   {func(cb *Buffer) { PutBuffer(cb, ecs.NewQuery(y.w, ecs.With(y.pos)), y.hits, much...) }, 3},
		"SetBuffer": {func(cb *Buffer) { SetBuffer(cb, has, y.hits, much...) }, 1},
		"Append":    {func(cb *Buffer) { Append(cb, has, y.hits, much...) }, 1},
	} {
		cb := NewBuffer(y.w)
		c.record(cb)
		y.w.Trim()
		taken := drain(u)
		var refused *PlayError
		require.ErrorAs(t, cb.Play(), &refused, name)
		require.ErrorIs(t, refused, alloc.ErrFull, name)
		require.Equal(t, c.fails, refused.Count, name)
		require.Equal(t, c.fails == 1 && name != "AddBuffer", !y.hits.Has(lacks), name)
		require.Empty(t, y.hits.Slice(lacks), name)
		require.Equal(t, []hit{{N: 7}}, y.hits.Slice(has), name)
		y.hits.Remove(lacks)
		for _, one := range taken {
			u.Free(one, 1)
		}
		cb.Close()
	}
	require.NoError(t, y.w.Verify())
	require.NoError(t, y.w.Close())
	require.NoError(t, u.Close())
}

// TestFailuresNameWhatWasRecorded: a failure is about the placeholder that was recorded, also where
// the entity is there already when the command is checked.
func TestFailuresNameWhatWasRecorded(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	p, q := cb.Create(y.plain), cb.Create(y.full)
	cb.DestroyQuery(ecs.NewQuery(y.w, ecs.With(y.slow))) // what is behind is checked again when it is done
	cb.Enable(p, y.walk)
	Append(cb, []ecs.Entity{p, q}, y.hits, hit{N: 1})
	var refused *PlayError
	require.ErrorAs(t, cb.PlayRest(), &refused)
	require.Equal(t, []Failure{
		{"Enable health", p, reasons[lacksType], 0, 0, 0, 3, ""}, {"Append []hit", p, reasons[lacksType], 0, 0, 0, 4, ""},
	},
		untraced(refused.Failures))
}

// TestListsOneByOne: a command about a list is one for each of its entities, in order: those that
// it cannot be made of are failures of their own, one that stands twice is two, and PlayRest makes
// it of the others, where Change.ApplyList panics and changes nobody.
func TestListsOneByOne(t *testing.T) {
	y := openYard(t)
	for _, c := range []struct {
		record func(cb *Buffer, list []ecs.Entity)
		fails  int
		done   func(e ecs.Entity) bool
	}{
		{func(cb *Buffer, list []ecs.Entity) { cb.ApplyList(list, y.change) }, 2, y.slow.Has},
		{func(cb *Buffer, list []ecs.Entity) { cb.AddList(list, y.slow) }, 2, y.slow.Has},
		{func(cb *Buffer, list []ecs.Entity) { cb.DisableList(list, y.walk) }, 2, func(e ecs.Entity) bool { return !y.walk.Enabled(e) }},
		{func(cb *Buffer, list []ecs.Entity) { Set(cb, list, y.pos, position{4, 4}) }, 2, func(e ecs.Entity) bool { return y.pos.Get(e).X == 4 }},
		{func(cb *Buffer, list []ecs.Entity) { Append(cb, list, y.hits, hit{N: 1}) }, 2, func(e ecs.Entity) bool { return len(y.hits.Slice(e)) > 0 }},
		{func(cb *Buffer, list []ecs.Entity) { PutShared(cb, list, y.team, "green") }, 2,
			func(e ecs.Entity) bool { v, _ := y.team.Get(e); return v == "green" }},
		{func(cb *Buffer, list []ecs.Entity) { cb.RemoveList(list, y.pos) }, 0, func(e ecs.Entity) bool { return !y.pos.Has(e) }},
		{func(cb *Buffer, list []ecs.Entity) { cb.DestroyList(list) }, 0, func(e ecs.Entity) bool { return !y.w.Alive(e) }},
	} {
		cb := y.open(t)
		a, dead, b := y.full.Create(), y.full.Create(), y.full.Create()
		y.w.Destroy(dead)
		list := []ecs.Entity{a, dead, b, dead, a}
		c.record(cb, list)
		text := cb.String()
		if c.fails == 0 {
			require.NoError(t, cb.Play(), text)
			require.True(t, c.done(a) && c.done(b), text)
			continue
		}
		hash := y.w.Hash()
		var refused *PlayError
		require.ErrorAs(t, cb.Play(), &refused, text)
		require.Equal(t, hash, y.w.Hash(), text)
		require.ErrorAs(t, cb.PlayRest(), &refused, text)
		require.Equal(t, c.fails, refused.Count, text)
		for _, f := range refused.Failures {
			require.Equal(t, []any{dead, reasons[isDead], 0}, []any{f.Entity, f.Why, f.Number}, text)
		}
		require.True(t, c.done(a) && c.done(b), text)
	}
	a, dead := y.full.Create(), y.full.Create()
	y.w.Destroy(dead)
	require.Contains(t, panicOf(func() { _, _ = y.change.ApplyList([]ecs.Entity{a, dead}) }), "nothing was changed")
	require.False(t, y.slow.Has(a))
}

// TestNumbersGoOn: commands of one writer with one key are numbered from 0, though others were
// recorded between them. String and failures have the same numbers; the lines of a Trace stand in
// failures alone.
func TestNumbersGoOn(t *testing.T) {
	y := openYard(t)
	cb := y.open(t, Trace)
	e := y.plain.Create()
	for _, key := range []int64{1, 0, 1, 0, 0, 1} {
		cb.Key(key)
		cb.Enable(e, y.walk)
	}
	w := cb.Parallel(partOf{0, 1, 0})
	w.Enable(e, y.walk)
	require.Equal(t, `7 commands, 32768 B
key flight  part   no.  bytes  command
  0      0     0     0     16  Enable health of 1v1
  0      0     0     1     16  Enable health of 1v1
  0      0     0     2     16  Enable health of 1v1
  0      1     0     0     16  Enable health of 1v1
  1      0     0     0     16  Enable health of 1v1
  1      0     0     1     16  Enable health of 1v1
  1      0     0     2     16  Enable health of 1v1`, cb.String())
	var refused *PlayError
	require.ErrorAs(t, cb.Play(), &refused)
	var numbers []int
	for _, f := range refused.Failures {
		numbers = append(numbers, f.Number)
		require.Contains(t, f.Line, "failures_test.go:")
	}
	require.Equal(t, []int{0, 1, 2, 0, 0, 1, 2}, numbers)
}
