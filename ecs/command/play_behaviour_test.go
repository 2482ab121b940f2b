package command

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// Behaviours 65 to 67 of the list of what entity systems agree on: playing twice, what queries are
// about, and when nothing may be recorded or played.

// TestBehaviour65Once: a buffer is played once; what is recorded behind begins anew.
func TestBehaviour65Once(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	require.NoError(t, cb.Play(), "nothing recorded, nothing to do")
	require.NoError(t, cb.PlayRest())
	e := cb.Create(y.plain)
	require.NoError(t, cb.Play())
	made := cb.Made(e)
	hash := y.w.Hash()
	for range 3 {
		require.NoError(t, cb.Play(), "as at first, nothing is recorded")
		require.NoError(t, cb.PlayRest())
	}
	require.Zero(t, cb.Len())
	require.Equal(t, hash, y.w.Hash())
	require.Equal(t, made, cb.Made(e), "until something is recorded")
	Set(cb, made, y.pos, position{3, 3})
	require.Equal(t, ecs.Null, cb.Made(e))
	require.Equal(t, 1, cb.Len())
	require.NoError(t, cb.Play())
	require.Equal(t, 1, y.w.Stats().Alive)
	require.Equal(t, position{3, 3}, *y.pos.Get(made))
	cb.Clear()
	require.NoError(t, cb.Play(), "cleared: it is new")
}

// TestBehaviour65Keep: a kept buffer is played many times, with new entities each time, and more
// can be recorded behind.
func TestBehaviour65Keep(t *testing.T) {
	y := openYard(t)
	cb := y.open(t, Keep)
	e := cb.Create(y.full)
	Set(cb, e, y.ptr, pointer{e, 1})
	Append(cb, e, y.hits, hit{e, 1})
	PutShared(cb, e, y.team, "green")
	seen := map[ecs.Entity]bool{}
	for i := range 5 {
		require.NoError(t, cb.Play())
		made := cb.Made(e)
		require.False(t, seen[made])
		seen[made] = true
		require.Equal(t, pointer{made, 1}, *y.ptr.Get(made))
		require.Equal(t, []hit{{made, 1}}, y.hits.Slice(made))
		require.Equal(t, i+1, y.w.Stats().Alive)
		require.Equal(t, 4, cb.Len())
	}
	other := cb.Create(y.plain)
	Set(cb, e, y.ptr, pointer{other, 2})
	require.NoError(t, cb.Play())
	require.Equal(t, 7, y.w.Stats().Alive)
	require.Equal(t, pointer{cb.Made(other), 2}, *y.ptr.Get(cb.Made(e)))
	cb.Clear()
	require.Zero(t, cb.Len())
	require.NoError(t, cb.Play())
	require.Equal(t, 7, y.w.Stats().Alive)
}

// TestBehaviour65AfterAFailure: Play that is refused keeps the commands, and can be called again
// when they can apply; PlayRest does not keep them. Close gives all back.
func TestBehaviour65AfterAFailure(t *testing.T) {
	y := openYard(t)
	for _, keep := range []bool{false, true} {
		var options []Option
		if keep {
			options = append(options, Keep)
		}
		cb := y.open(t, options...)
		there := y.plain.Create()
		alive, e := y.w.Stats().Alive, cb.Create(y.plain)
		Set(cb, there, y.ptr, pointer{e, 1})
		for range 3 {
			var refused *PlayError
			require.ErrorAs(t, cb.Play(), &refused)
			require.False(t, refused.Applied)
			require.Equal(t, 1, refused.Count)
			require.Equal(t, 2, cb.Len())
			require.Equal(t, alive, y.w.Stats().Alive)
			require.Equal(t, ecs.Null, cb.Made(e))
		}
		y.ptr.Add(there, pointer{})
		require.NoError(t, cb.Play())
		require.Equal(t, pointer{cb.Made(e), 1}, *y.ptr.Get(there))
		Set(cb, there, y.walk, health{1})
		var refused *PlayError
		require.ErrorAs(t, cb.PlayRest(), &refused)
		require.True(t, refused.Applied)
		if !keep {
			require.NoError(t, cb.PlayRest())
		}
		require.Positive(t, cb.Bytes())
		cb.Close()
		require.Zero(t, cb.Bytes())
		cb.Close()
	}
}

// TestBehaviour66Captured: a list has those that matched when it was recorded; a query those that
// match when its turn comes.
func TestBehaviour66Captured(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	matched, later := y.plain.Create(), y.plain.Create()
	y.ptr.Add(matched, pointer{})
	Add(cb, y.q.Entities(nil), y.walk, health{1})
	cb.AddQuery(y.q, y.slow)
	y.ptr.Remove(matched)
	y.ptr.Add(later, pointer{})
	require.NoError(t, cb.Play())
	require.True(t, y.walk.Has(matched))
	require.False(t, y.slow.Has(matched))
	require.False(t, y.walk.Has(later))
	require.True(t, y.slow.Has(later))
}

// TestBehaviour66Turn: a query includes entities that earlier commands make match, and not those
// that later commands make match.
func TestBehaviour66Turn(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	before, behind, gone := y.plain.Create(), y.plain.Create(), y.plain.Create()
	y.ptr.Add(gone, pointer{})
	Add(cb, before, y.ptr, pointer{})
	created := cb.Create(y.full)
	cb.Remove(gone, y.ptr)
	Put(cb, y.q, y.ptr, pointer{created, 5})
	Add(cb, behind, y.ptr, pointer{})
	createdBehind := cb.Create(y.full)
	require.NoError(t, cb.Play())
	me := cb.Made(created)
	require.Equal(t, pointer{me, 5}, *y.ptr.Get(before))
	require.Equal(t, pointer{me, 5}, *y.ptr.Get(me))
	require.Equal(t, pointer{}, *y.ptr.Get(behind))
	require.Equal(t, pointer{}, *y.ptr.Get(cb.Made(createdBehind)))
	require.False(t, y.ptr.Has(gone))
}

// TestBehaviour66PassesBy: of the entities that match, commands about a query skip those that lack
// the type that Set, Append, Enable and Disable need, and those that have the type that Add gives:
// no failures.
func TestBehaviour66PassesBy(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	lacks, has := y.plain.Create(), y.full.Create()
	y.ptr.Set(has, pointer{N: 7})
	all := ecs.NewQuery(y.w, ecs.With(y.pos))
	SetShared(cb, all, y.team, "green")
	Set(cb, all, y.walk, health{5})
	Append(cb, all, y.hits, hit{N: 5})
	cb.DisableQuery(all, y.walk)
	Add(cb, ecs.NewQuery(y.w, ecs.Read(y.pos), ecs.With(y.ptr)), y.ptr, pointer{N: 8})
	require.NoError(t, cb.Play())
	at, _ := y.w.Locate(lacks)
	require.Equal(t, y.plain, at.Archetype)
	v, _ := y.team.Get(has)
	require.Equal(t, team("green"), v)
	require.Equal(t, health{5}, *y.walk.Get(has))
	require.Equal(t, []hit{{N: 5}}, y.hits.Slice(has))
	require.False(t, y.walk.Enabled(has))
	require.Equal(t, pointer{N: 7}, *y.ptr.Get(has))
}

// TestBehaviour66TermsAreTheQuerys: what a query is compared with may change after recording: Since
// does not count, archetypes that come later do.
func TestBehaviour66TermsAreTheQuerys(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.full.Create()
	cb.AddQuery(y.q, y.slow)
	y.q.SetSince(1 << 30)
	newer := ecs.NewArchetype(y.w, y.ptr, y.socket).Create()
	require.NoError(t, cb.Play())
	require.True(t, y.slow.Has(e))
	require.True(t, y.slow.Has(newer))
}

// TestBehaviour67NothingBefore: a world does not change while commands are recorded, and a loop
// over rows goes on.
func TestBehaviour67NothingBefore(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	list := y.populate(50, true)
	hash, seen := y.w.Hash(), 0
	q := ecs.NewQuery(y.w, ecs.Read(y.pos))
	for rows := range q.Rows() {
		for i := range rows.Each() {
			e := rows.Entities()[i]
			cb.Destroy(cb.Instantiate(e))
			Set(cb, cb.Instantiate(e), y.pos, position{9, 9})
			Put(cb, e, y.ptr, pointer{e, 1})
			cb.Remove(e, y.pos)
			cb.AddQuery(y.q, y.slow)
			require.True(t, y.pos.Has(e))
			seen++
		}
	}
	require.Equal(t, len(list), seen)
	require.Equal(t, hash, y.w.Hash())
	require.NoError(t, cb.Play())
	require.NotEqual(t, hash, y.w.Hash())
	for _, e := range list {
		require.True(t, y.slow.Has(e))
		require.False(t, y.pos.Has(e))
	}
}

// TestBehaviour67PlayInALoop: in a loop over rows and while the world is lent, Play panics and
// the buffer can be played afterwards.
func TestBehaviour67PlayInALoop(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	y.full.Create()
	for range 2 { // the first Play of a buffer, and a later one
		e := cb.Create(y.plain)
		for range y.q.Rows() {
			for _, play := range []func() error{cb.Play, cb.PlayRest} {
				said := panicOf(func() { _ = play() })
				require.Contains(t, said, "ecs: ")
				require.Contains(t, said, "loop")
			}
		}
		borrow := y.w.Lend()
		require.Contains(t, panicOf(func() { _ = cb.Play() }), "ecs: ")
		borrow.End()
		require.Equal(t, 1, cb.Len())
		require.NoError(t, cb.Play())
		require.True(t, y.w.Alive(cb.Made(e)))
	}
}

// TestBehaviour67WhilePlaying: recording into a buffer that is being played, playing, clearing or
// closing it panics.
func TestBehaviour67WhilePlaying(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.full.Create()
	kept := cb.Parallel(partOf{0, 1, 0})
	cb.Destroy(e)
	cb.state.Store(playing) // as in another goroutine
	for name, f := range map[string]func(){
		"Writer.Create":   func() { cb.Create(y.plain) },
		"Writer.Destroy":  func() { kept.Destroy(e) },
		"Writer.Key":      func() { kept.Key(1) },
		"Set":             func() { Set(kept, e, y.pos, position{}) },
		"Append":          func() { Append(cb, e, y.hits) },
		"AddShared":       func() { AddShared(cb, e, y.team, "red") },
		"Add":             func() { Add(cb, y.q, y.pos, position{}) },
		"Buffer.Parallel": func() { cb.Parallel(partOf{0, 1, 1}) },
		"Buffer.Play":     func() { _ = cb.Play() },
		"Buffer.PlayRest": func() { _ = cb.PlayRest() },
		"Buffer.Clear":    cb.Clear,
		"Buffer.Close":    cb.Close,
		"Buffer.Reserve":  func() { _ = cb.Reserve(1, 0) },
	} {
		said := panicOf(f)
		require.Contains(t, said, "command: "+name+": ", name)
		require.Contains(t, said, "being played", name)
		require.True(t, cb.mu.TryLock(), "the panic of %s keeps others out", name)
		cb.mu.Unlock()
	}
	cb.state.Store(recording)
	require.Equal(t, 1, cb.Len())
	require.NoError(t, cb.Play())
	require.False(t, y.w.Alive(e))
}

// TestBehaviour67RecordsMeanwhile: a buffer is recorded to by another goroutine, without a race,
// while the world's owner changes the world and plays another.
func TestBehaviour67RecordsMeanwhile(t *testing.T) {
	y := openYard(t)
	mine, theirs := y.open(t), y.open(t)
	list := y.populate(100, false)
	var all sync.WaitGroup
	all.Go(func() {
		for i, e := range list {
			Put(theirs, e, y.ptr, pointer{theirs.Create(y.full), uint32(i)})
			theirs.Remove(e, y.pos)
			PutShared(theirs, e, y.team, "blue")
			Append(theirs, theirs.Instantiate(e), y.hits)
			runtime.Gosched()
		}
	})
	for range 20 {
		for _, e := range list {
			Put(mine, e, y.walk, health{1})
			PutBuffer(mine, e, y.hits, hit{e, 1})
		}
		mine.Destroy(mine.Create(y.full))
		require.NoError(t, mine.Play())
	}
	all.Wait()
	require.NoError(t, theirs.Play())
	for i, e := range list {
		require.Equal(t, uint32(i), y.ptr.Get(e).N)
	}
}

// TestBehaviour67DestroyTwice: the second of two is no failure, in one buffer, in two, in a list
// and of what a query has destroyed.
func TestBehaviour67DestroyTwice(t *testing.T) {
	y := openYard(t)
	one, two := y.open(t), y.open(t)
	e, f := y.full.Create(), y.full.Create()
	one.Destroy(e)
	one.DestroyList([]ecs.Entity{e, e, f})
	one.DestroyQuery(y.q)
	one.Destroy(f)
	two.Destroy(e)
	two.Remove(e, y.pos)
	require.NoError(t, one.Play())
	require.NoError(t, two.Play())
	require.Zero(t, y.w.Stats().Alive)
}

// TestBehaviour67Long: twenty or a hundred thousand commands of one entity, and as many sort keys,
// are played in a time that grows with their number.
func TestBehaviour67Long(t *testing.T) {
	n := long.N(20_000, 100_000) // a square of the few would take a minute too
	y := openYard(t)
	elements := min(n, 80_000) // of 12 B: a buffer has a MiB
	var e ecs.Entity
	var chain []ecs.Entity
	for name, c := range map[string]struct {
		record func(cb *Buffer, i int)
		check  func(cb *Buffer)
	}{
		"sets": {func(cb *Buffer, i int) { Set(cb, e, y.pos, position{float64(i), 0}) },
			func(*Buffer) { require.Equal(t, position{float64(n - 1), 0}, *y.pos.Get(e)) }},
		"appends": {func(cb *Buffer, i int) {
			if i < elements {
				Append(cb, e, y.hits, hit{N: int32(i)})
			}
		}, func(*Buffer) { require.Equal(t, elements, len(y.hits.Slice(e))) }},
		"linked appends": {func(cb *Buffer, i int) {
			if i == 0 {
				chain = append(chain, cb.Create(y.full))
			}
			if i < elements {
				Append(cb, chain[0], y.hits, hit{chain[0], int32(i)})
			}
		}, func(cb *Buffer) {
			made := cb.Made(chain[0])
			require.Equal(t, hit{made, int32(elements - 1)}, y.hits.Slice(made)[elements-1])
		}},
		"bits": {func(cb *Buffer, i int) { cb.Disable(e, y.walk); cb.Enable(e, y.walk) },
			func(*Buffer) { require.True(t, y.walk.Enabled(e)) }},
		"one set before others": {func(cb *Buffer, i int) {
			if i == 0 {
				Set(cb, e, y.ptr, pointer{N: 7})
			}
			Set(cb, e, y.pos, position{float64(i), 0})
			cb.Disable(e, y.walk)
		}, func(*Buffer) { require.Equal(t, pointer{N: 7}, *y.ptr.Get(e)) }},
		"there and back": {func(cb *Buffer, i int) { cb.Add(e, y.slow); cb.Remove(e, y.slow) },
			func(*Buffer) { require.False(t, y.slow.Has(e)) }},
		"keys": {func(cb *Buffer, i int) { cb.Key(int64(-i)); Set(cb, e, y.pos, position{float64(i), 0}) },
			func(*Buffer) { require.Equal(t, position{0, 0}, *y.pos.Get(e)) }},
		"a chain": {func(cb *Buffer, i int) {
			chain = append(chain, cb.Create(y.full))
			Set(cb, chain[i], y.ptr, pointer{chain[max(0, i-1)], uint32(i)})
			PutBuffer(cb, chain[i], y.group, ecs.LinkedEntity{Entity: chain[max(0, i-1)]})
		}, func(cb *Buffer) {
			e := cb.Made(chain[n-1])
			for i := n - 1; i >= 0; i-- {
				require.Equal(t, uint32(i), y.ptr.Get(e).N)
				e = y.ptr.Get(e).To
			}
		}},
		"copies of copies": {func(cb *Buffer, i int) {
			if i >= n/100 {
				return
			}
			if i == 0 {
				chain = append(chain, cb.Create(y.plain))
			}
			chain = append(chain, cb.Instantiate(chain[i]))
		}, func(cb *Buffer) { require.True(t, y.w.Alive(cb.Made(chain[len(chain)-1]))) }},
	} {
		t.Run(name, func(t *testing.T) {
			cb := NewBuffer(y.w)
			defer cb.Close()
			e, chain = y.full.Create(), nil
			for i := range n {
				c.record(cb, i)
			}
			start := time.Now()
			require.NoError(t, cb.Play())
			t.Log(time.Since(start))
			c.check(cb)
		})
	}
}

// TestBehaviour66GoneBefore: what was made and destroyed before a query is known to have been
// there: behind it, it is null, and may be destroyed again.
func TestBehaviour66GoneBefore(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	there, lacks := y.full.Create(), y.plain.Create()
	e := cb.Create(y.plain)
	cb.Destroy(e)
	cb.DestroyQuery(y.q)
	Put(cb, lacks, y.ptr, pointer{e, 1})
	cb.Destroy(e)
	require.NoError(t, cb.Play())
	require.False(t, y.w.Alive(there))
	require.Equal(t, pointer{ecs.Null, 1}, *y.ptr.Get(lacks))
}

// TestBehaviour66EndedByAQuery: an entity that a query destroys has no copies, though its Cleanup
// types are left: that is known before anything is changed.
func TestBehaviour66EndedByAQuery(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := ecs.NewArchetype(y.w, y.ptr, y.socket).Create()
	cb.DestroyQuery(y.q)
	cb.Instantiate(e)
	hash := y.w.Hash()
	var refused *PlayError
	require.ErrorAs(t, cb.Play(), &refused)
	require.False(t, refused.Applied)
	require.Equal(t, hash, y.w.Hash())
}

// TestBehaviour66EarlierBits: whether a query matches an entity is decided by bits that a command
// before the query changes, so the commands behind it are checked again when their turn comes.
func TestBehaviour66EarlierBits(t *testing.T) {
	y := openYard(t)
	walkers := ecs.NewQuery(y.w, ecs.With(y.walk)) // the enabled ones
	t.Cleanup(walkers.Close)
	everyone := ecs.NewQuery(y.w, ecs.Present(y.walk))
	t.Cleanup(everyone.Close)
	e := ecs.NewArchetype(y.w, y.walk).Create()
	cb := y.open(t)
	cb.DisableQuery(everyone, y.walk)
	cb.AddQuery(walkers, y.pos) // none is left
	Set(cb, e, y.pos, position{})
	var failed *PlayError
	require.ErrorAs(t, cb.Play(), &failed)
	require.Len(t, failed.Failures, 1)
	require.False(t, y.walk.Has(e) && y.pos.Has(e))
}

// TestBehaviour62BufferAnew: the elements of a buffer that is removed and added again in one run
// are freed.
func TestBehaviour62BufferAnew(t *testing.T) {
	y := newYard(t)
	e := y.full.Create()
	y.hits.Append(e, make([]hit, 100)...)
	require.Equal(t, 1, y.w.Stats().Buffers)
	cb := NewBuffer(y.w)
	cb.Remove(e, y.hits)
	cb.Add(e, y.hits)
	require.NoError(t, cb.Play())
	require.True(t, y.hits.Has(e))
	require.Empty(t, y.hits.Slice(e))
	require.Zero(t, y.w.Stats().Buffers)
	require.NoError(t, y.w.Verify())
}

// TestCopiesGetCleanupAnew: copies lack the Cleanup types of what they are copies of; one that gets
// such a type has it zero, as by calls one after the other.
func TestCopiesGetCleanupAnew(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.plain.Create()
	y.file.Add(e, file{7})
	c := cb.Instantiate(e)
	cb.Add(c, y.file)
	require.NoError(t, cb.Play())
	require.Equal(t, file{}, *y.file.Get(cb.Made(c)))
	require.Equal(t, file{7}, *y.file.Get(e))
}
