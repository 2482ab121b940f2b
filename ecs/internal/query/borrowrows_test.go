package query_test

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

type loanView struct {
	P ecs.W[ecstest.Position]
	H ecs.BufferW[ecstest.Hit]
	S ecs.Bits[ecstest.Stun]
	T ecs.W[ecstest.Stun]
}

// TestBorrowRowsGiveWhatRowsGive: rows of an accessor, of parts that begin inside a chunk, have all
// that the rows of a loop have.
func TestBorrowRowsGiveWhatRowsGive(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(64)))
	position := ecs.Register[ecstest.Position](w)
	velocity := ecs.Register[ecstest.Velocity](w)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	hits := ecs.RegisterBuffer[ecstest.Hit](w)
	conn := ecs.RegisterManaged[ecstest.Weapon](w)
	team := ecs.RegisterShared[int](w)
	a := ecs.NewArchetype(w, position, stun, hits, conn, team.Of(7))
	ids := ecstest.CreateEach(a, 1000)
	for i, e := range ids {
		position.Set(e, ecstest.Position{X: float64(i)})
		conn.Set(e, ecstest.Weapon{Damage: int32(i)})
		hits.Append(e, ecstest.Hit{Damage: int32(i)})
		if i%5 == 0 {
			stun.Disable(e)
		}
	}
	view := ecs.NewView[loanView](w, ecs.Write(conn), ecs.Optional(ecs.Read(velocity)))
	l := ecstest.Lend(view.Query(), "job look")
	since := w.Version()
	w.Advance()
	ecstest.Begin(l.Borrow)
	for _, part := range ecstest.Split(l.Borrow, nil, 300) {
		r := ecstest.AccessorOf(l.Borrow)
		rows, ok := ecstest.RowsOf(r, part)
		require.True(t, ok)
		require.Equal(t, part.Len(), rows.Len())
		first := slices.Index(ids, rows.Entities()[0])
		require.Equal(t, ids[first:first+rows.Len()], rows.Entities())
		require.Same(t, a, rows.Archetype())
		require.True(t, rows.Dense())
		require.Equal(t, rows.Len(), rows.Count())
		require.False(t, velocity.In(rows))
		require.Nil(t, velocity.Slice(rows))
		require.True(t, position.In(rows))
		require.False(t, rows.Ordered(since))
		require.Equal(t, first > 0, position.Changed(rows, since), "parts before have marked the chunk")
		require.Equal(t, float64(first), position.ReadOnly(rows)[0].X)
		require.Len(t, position.ReadOnly(rows), rows.Len())
		position.Mark(rows)
		require.True(t, position.Changed(rows, since))
		v := view.At(rows)
		last := rows.Len() - 1
		require.Equal(t, float64(first+last), v.P[last].X)
		require.Equal(t, (first+last)%5 != 0, v.S.Enabled(last))
		require.Equal(t, (first+last)%5 != 0, stun.EnabledAt(rows, last))
		v.H.At(last).Append(ecstest.Hit{Damage: -1})
		require.Equal(t, []ecstest.Hit{{Damage: int32(first + last)}, {Damage: -1}}, hits.At(rows, last).Slice())
		require.Equal(t, int32(first+last), conn.At(rows, last).Damage)
		value, ok := team.At(rows)
		require.True(t, ok)
		require.Equal(t, 7, value)
		stun.DisableAt(rows, last)
		require.False(t, stun.EnabledAt(rows, last))
		stun.EnableAt(rows, last)
		stun.DisableAt(rows, 0)
		ecstest.Done(r)
	}
	l.End()
	require.False(t, stun.Enabled(ids[0]))
	require.True(t, stun.Enabled(ids[999]))
	require.NoError(t, w.Verify())
}

// TestBorrowMasks: the masks of parts are those of a loop, cut where the parts are.
func TestBorrowMasks(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	frozen := ecs.Register[ecstest.Health](w, ecs.Enableable)
	for i, e := range ecstest.CreateEach(ecs.NewArchetype(w, position, stun, frozen), 2500) {
		if i%3 == 0 || i/64%4 == 1 {
			stun.Disable(e)
		}
		if i%7 == 0 || i/64%8 != 2 {
			frozen.Disable(e)
		}
	}
	for _, q := range []*ecs.Query{
		ecs.NewQuery(w, ecs.Read(position), ecs.With(stun)),
		ecs.NewQuery(w, ecs.Read(position), ecs.Without(stun)),
		ecs.NewQuery(w, ecs.Read(position), ecs.Any(stun, frozen)),
		ecs.NewQuery(w, ecs.Read(position), ecs.Disabled(stun, frozen)),
	} {
		want := q.Entities(nil)
		for _, grain := range []int{1, 64, 65, 200, 1 << 20} {
			l := ecstest.Lend(q, "job look")
			ecstest.Begin(l.Borrow)
			r := ecstest.AccessorOf(l.Borrow)
			var got, runs []ecs.Entity
			for _, part := range ecstest.Split(l.Borrow, nil, grain) {
				rows, ok := ecstest.RowsOf(r, part)
				if !ok {
					continue
				}
				ones := 0
				for _, word := range rows.Mask() {
					ones += bits.OnesCount64(word)
				}
				require.Equal(t, rows.Count(), ones)
				require.Equal(t, rows.Dense(), ones == rows.Len())
				require.Positive(t, ones)
				for i := range rows.Each() {
					got = append(got, rows.Entities()[i])
				}
				for lo, hi := range rows.Runs() {
					runs = append(runs, rows.Entities()[lo:hi]...)
				}
			}
			l.End()
			require.Equal(t, want, got, "%v in parts of %d", q, grain)
			require.Equal(t, want, runs)
		}
	}
}

// TestBorrowParts: parts are cut at words of 64 rows, are all rows once, depend on nothing but rows
// and grain, and join again within a chunk.
func TestBorrowParts(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	_, err := ecs.NewArchetype(w, position).CreateN(1700)
	require.NoError(t, err)
	ecs.NewArchetype(w, velocity).Create()
	_, err = ecs.NewArchetype(w, position, velocity).CreateN(65)
	require.NoError(t, err)
	l := ecstest.Lend(ecs.NewQuery(w, ecs.Read(position)), "job look")
	ecstest.Begin(l.Borrow)
	defer l.End()
	for grain, most := range map[int]int{1: 64, 64: 64, 65: 128, 1000: 1024, 1 << 30: 1 << 17, math.MaxInt: 1 << 17} {
		parts := ecstest.Split(l.Borrow, nil, grain)
		total, joined := 0, 1
		at := parts[0]
		for i, p := range parts {
			require.LessOrEqual(t, p.Len(), most)
			total += p.Len()
			if next, ok := at.Joins(p); i > 0 && ok {
				require.Equal(t, at.Len()+p.Len(), next.Len())
				at = next
			} else if i > 0 {
				at, joined = p, joined+1
			}
		}
		require.Equal(t, 1765, total)
		require.Equal(t, len(ecstest.Split(l.Borrow, nil, 1<<30)), joined, "as many as chunks")
		require.Equal(t, parts, ecstest.Split(l.Borrow, nil, grain))
	}
	parts := ecstest.Split(l.Borrow, nil, 64)
	_, ok := parts[0].Joins(parts[0])
	require.False(t, ok)
	for i := range parts[1:] {
		if parts[i].Row()+parts[i].Len() != parts[i+1].Row() { // a chunk ends
			_, ok = parts[0].Joins(parts[i+2])
			require.Equal(t, 64, parts[i+2].Row())
			require.False(t, ok, "rows of another chunk")
			break
		}
	}
}

// TestBorrowVersions: a borrow compares with its query's Since, which moves on when it begins; what
// it writes is marked with the version before.
func TestBorrowVersions(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	ids := ecstest.CreateEach(ecs.NewArchetype(w, position, velocity), 2000)
	q := ecs.NewQuery(w, ecs.Write(velocity), ecs.Changed(position))
	l := ecstest.Lend(q, "job follow")
	pass := func() (rows int) {
		ecstest.Begin(l.Borrow)
		r := ecstest.AccessorOf(l.Borrow)
		for _, part := range ecstest.Split(l.Borrow, nil, 64) {
			if some, ok := ecstest.RowsOf(r, part); ok {
				velocity.Slice(some)
				rows += some.Len()
			}
		}
		l.End()
		return rows
	}
	require.Equal(t, 2000, pass(), "at first all is new")
	require.Zero(t, pass())
	version := w.Version()
	position.Mut(ids[0])
	chunk := pass()
	require.NotZero(t, chunk)
	require.Less(t, chunk, 2000)
	require.Equal(t, version+1, w.Version())
	require.Equal(t, version, q.Since())
	require.Zero(t, pass())
	changed := ecs.NewQuery(w, ecs.Changed(velocity))
	changed.SetSince(version - 1)
	require.Equal(t, chunk, changed.Count())
	changed.SetSince(version)
	require.Zero(t, changed.Count())
	door.PinSince(q, version-1)
	now := w.Version()
	require.Equal(t, chunk, pass())
	require.Equal(t, chunk, pass(), "a borrow does not move what is pinned")
	require.Equal(t, []uint32{version - 1, now}, []uint32{q.Since(), w.Version()})
	door.PinSince(q, version)
	require.Zero(t, pass())
	q.SetSince(version - 1)
	require.Equal(t, chunk, pass())
	require.Equal(t, []uint32{now, now + 1}, []uint32{q.Since(), w.Version()})
	plain := ecstest.Lend(ecs.NewQuery(w, ecs.Write(position)), "job plain")
	ecstest.Begin(plain.Borrow)
	plain.Borrow.End()
	require.Equal(t, now+1, w.Version(), "it has no Changed: who writes advances nothing")
}

// TestBorrowOwnerWorksOn: while a borrow's goroutines are at work the owner begins and ends other
// borrows of the same types, advances versions, and writes what is not lent. The race detector
// looks on.
func TestBorrowOwnerWorksOn(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	velocity := ecs.Register[ecstest.Velocity](w)
	health := ecs.Register[ecstest.Health](w)
	hits := ecs.RegisterBuffer[ecstest.Hit](w)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	ids := ecstest.CreateEach(ecs.NewArchetype(w, position, velocity, health, hits, stun), 3000)
	first := ecstest.Lend(ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity), ecs.Present(ecs.Write(stun))),
		"job first", ecs.Write(hits))
	other := ecstest.Lend(ecs.NewQuery(w, ecs.Write(position), ecs.Write(hits), ecs.Changed(velocity), ecs.With(stun)),
		"job other", ecs.Read(velocity))
	for range 20 {
		ecstest.Begin(first.Borrow)
		var reserved sync.WaitGroup
		reserved.Go(func() {
			var some [100]ecs.Entity
			if w.Reserve(some[:]) == nil {
				w.Unreserve(some[:])
			}
		})
		first.Each(3, 64, func(r *ecs.Accessor, rows ecs.Rows) {
			p, v := position.Slice(rows), velocity.Slice(rows)
			h, speed := hits.Lookup(r), velocity.Lookup(r)
			for i, e := range rows.Entities() {
				p[i].X += v[i].X + speed.Get(e).Y
				b, _ := h.Mut(e)
				b.Append(ecstest.Hit{Damage: 1})
				stun.DisableAt(rows, i)
			}
		})
		ecstest.Begin(other.Borrow)
		w.Advance()
		for _, e := range ids[:100] {
			health.Mut(e).HP++
		}
		require.Equal(t, 3000, ecs.NewQuery(w, ecs.With(position)).Count())
		first.End()
		other.End()
		reserved.Wait()
	}
	for _, e := range ids {
		require.Len(t, hits.Slice(e), 20)
		require.False(t, stun.Enabled(e))
	}
	require.NoError(t, w.Verify())
}

// TestBorrowLookupsMark: a look-up that writes marks the chunk of its entity, and no other.
func TestBorrowLookupsMark(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	list := ecstest.CreateEach(ecs.NewArchetype(w, position), 3000)
	changed := ecs.NewQuery(w, ecs.Read(position), ecs.Changed(position))
	changed.Count()
	l := ecstest.Lend(ecs.NewQuery(w, ecs.Read(velocity)), "job mark", ecs.Write(position))
	for _, at := range []int{0, 1500, 2999} {
		for range changed.Rows() { // those of before
		}
		w.Advance()
		ecstest.Begin(l.Borrow)
		position.Lookup(ecstest.AccessorOf(l.Borrow)).Mut(list[at])
		l.End()
		chunks, found := 0, false
		for rows := range changed.Rows() {
			chunks++
			found = found || slices.Contains(rows.Entities(), list[at])
		}
		require.Equal(t, 1, chunks)
		require.True(t, found)
	}
}

// TestBorrowEndsBeforeAnother: where one of two borrows has ended, rows of what the other writes
// are refused still.
func TestBorrowEndsBeforeAnother(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	ecstest.CreateEach(ecs.NewArchetype(w, position, velocity), 10)
	q := ecs.NewQuery(w, ecs.Read(position))
	look := func() {
		for range q.Rows() {
			return
		}
	}
	look()
	one := ecstest.Lend(ecs.NewQuery(w, ecs.Read(velocity)), "one")
	other := ecstest.Lend(ecs.NewQuery(w, ecs.Write(position)), "other")
	ecstest.Begin(one.Borrow)
	ecstest.Begin(other.Borrow)
	one.End()
	require.Panics(t, look)
	other.End()
	look()
}
