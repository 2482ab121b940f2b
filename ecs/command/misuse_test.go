package command

import (
	"errors"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"

	"github.com/stretchr/testify/require"
)

// TestMisuse: broken contracts panic by name when they are recorded, and nothing of the command is.
func TestMisuse(t *testing.T) {
	y, other := openYard(t), openYard(t)
	cb := y.open(t)
	e, stranger := y.full.Create(), other.full.Create()
	seen := ecs.NewQuery(y.w, ecs.With(y.pos), ecs.Changed(y.pos))
	ranged := ecs.NewQuery(y.w, ecs.Between(y.pos, func(p *position) *float64 { return &p.X }, 0, 1).Masked())
	gone := ecs.NewQuery(y.w, ecs.With(y.slow))
	gone.Close()
	ended := y.open(t)
	ended.Close()
	void := cb.Parallel(partOf{0, 1, 0})
	cb.Parallel(partOf{0, 1, 1})
	for _, c := range []struct {
		says string
		f    func()
	}{
		{"Writer.Add: the entity is null", func() { cb.Add(ecs.Null, y.slow) }},
		{"belongs to another world", func() { cb.Destroy(stranger) }},
		{"belongs to another world", func() { cb.DestroyList([]ecs.Entity{e, stranger}) }},
		{"Writer.AddList: the entity is null", func() { cb.AddList([]ecs.Entity{e, ecs.Null}, y.slow) }},
		{"the entity is null", func() { Set(cb, ecs.Null, y.pos, position{}) }},
		{"the entity is null", func() { Append(cb, ecs.Null, y.hits) }},
		{"belongs to another world", func() { SetShared(cb, stranger, y.team, "red") }},
		{"the entity is null", func() { cb.Instantiate(ecs.Null) }},
		{"Create: the archetype is nil or belongs to another world", func() { cb.Create(nil) }},
		{"Create: the archetype is nil or belongs to another world", func() { cb.Create(other.full) }},
		{"Apply: the change is nil or belongs to another world", func() { cb.Apply(e, nil) }},
		{"Apply: the change is nil or belongs to another world", func() { cb.Apply(e, other.change) }},
		{"Writer.Add: position is not a type of the buffer's world", func() { cb.Add(e, other.pos) }},
		{"command: Set: position is not a type of the buffer's world: a zero handle, or registered in another world",
			func() { Set(cb, e, other.pos, position{}) }},
		{"command: Put: position is not a type of the buffer's world", func() { Put(cb, []ecs.Entity{e}, other.pos, position{}) }},
		{"command: Set: unregistered is not a type of the buffer's world", func() { Set(cb, e, ecs.Component[position]{}, position{}) }},
		{"command: Add: unregistered is not a type of the buffer's world", func() { Add(cb, y.q, ecs.Component[position]{}, position{}) }},
		{"command: Append: unregistered is not a type", func() { Append(cb, e, ecs.Buffer[hit]{}, hit{}) }},
		{"command: Append: []hit is not a type of the buffer's world", func() { Append(cb, e, other.hits) }},
		{"command: PutShared: team is not a type of the buffer's world", func() { PutShared(cb, e, other.team, "red") }},
		{"the query is nil, closed or belongs to another world", func() { cb.DestroyQuery(nil) }},
		{"the query is nil, closed or belongs to another world", func() { cb.AddQuery(other.q, y.slow) }},
		{"the query is nil, closed or belongs to another world", func() { Set(cb, gone, y.pos, position{}) }},
		{"asks for changes or a range", func() { cb.DestroyQuery(seen) }},
		{"asks for changes or a range", func() { cb.AddQuery(ranged, y.slow) }},
		{"asks for changes", func() { PutShared(cb, seen, y.team, "red") }},
		{"was not registered with ecs.Enableable", func() { cb.Enable(e, y.pos) }},
		{"was not registered with ecs.Enableable", func() { cb.DisableQuery(y.q, y.pos) }},
		{"is shared: use AddShared", func() { cb.Add(e, y.team) }},
		{"is a value; use AddShared", func() { cb.Add(e, y.team.Of("red")) }},
		{"the buffer is closed", func() { ended.Destroy(e) }},
		{"the buffer is closed", func() { _ = ended.Play() }},
		{"the buffer is closed", func() { ended.Parallel(partOf{0, 1, 0}) }},
		{"the buffer is closed", ended.Clear},
		{"the writer's part has ended", func() { void.Destroy(e) }},
		{"worker -1, flight 1: workers are from 0", func() { cb.Parallel(partOf{-1, 1, 0}) }},
		{"worker 1099511627776, flight 1: workers are from 0 to 4095", func() { cb.Parallel(partOf{1 << 40, 1, 0}) }},
		{"worker 0, flight 0: workers are from 0 to 4095, flights from 1", func() { cb.Parallel(partOf{}) }},
		{"the part is nil", func() { cb.Parallel(nil) }},
		{"the buffer is nil or the zero value", func() { _ = new(Buffer).Play() }},
		{"the buffer is nil or the zero value", func() { _ = (*Buffer)(nil).PlayRest() }},
		{"the buffer is nil or the zero value", func() { new(Buffer).Parallel(partOf{0, 1, 0}) }},
		{"the buffer is nil or the zero value", func() { new(Buffer).Clear() }},
		{"the buffer has given out ", func() { cb.Destroy(door.Placeholder(1<<20, cb.id)) }},
		{"a number is negative", func() { _ = cb.Reserve(-1, 8) }},
		{"NewBuffer: the world is nil", func() { NewBuffer(nil) }},
		{"Limit: 0 B: the limit must be positive", func() { Limit(0) }},
		{"the buffer or writer is nil or the zero value", func() { new(Writer).Destroy(e) }},
		{"the buffer or writer is nil or the zero value", func() { Set((*Writer)(nil), e, y.pos, position{}) }},
		{"the buffer or writer is nil or the zero value", func() { new(Buffer).Create(y.full) }},
	} {
		require.Contains(t, panicOf(c.f), c.says)
		require.Zero(t, cb.Len(), c.says)
	}
	hash := y.w.Hash()
	require.NoError(t, cb.Play())
	require.Equal(t, hash, y.w.Hash())
}

// TestLimit: recording beyond the limit panics with an error, and what was recorded before can be
// played.
func TestLimit(t *testing.T) {
	y := openYard(t)
	cb := y.open(t, Limit(40<<10))
	e, n := y.full.Create(), 0
	record := func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = v.(error)
			}
		}()
		for ; ; n++ {
			Set(cb, e, y.pos, position{float64(n), 1})
		}
	}
	for range 3 {
		require.ErrorIs(t, record(), ErrLimit)
		require.Equal(t, n, cb.Len())
	}
	require.Greater(t, n, 800)
	require.Equal(t, int64(32<<10), cb.Bytes())
	require.ErrorIs(t, cb.Reserve(1<<15, 16), ErrLimit)
	require.NoError(t, cb.Play())
	require.Equal(t, position{float64(n - 1), 1}, *y.pos.Get(e))
	var limit error
	func() {
		defer func() { limit, _ = recover().(error) }()
		Append(cb, e, y.hits, make([]hit, 100_000)...)
	}()
	require.True(t, errors.Is(limit, ErrSize), "larger than any run of chunks: %v", limit)
	require.Zero(t, cb.Len())
}

// TestLargeCommand: a command larger than a chunk gets a page of its own before those that the
// buffer has, which are used and given back as before.
func TestLargeCommand(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.full.Create()
	fill := func(bytes int64) {
		for cb.Clear(); cb.Bytes() < bytes; {
			Set(cb, e, y.pos, position{1, 2})
		}
	}
	fill(3 * alloc.ChunkSize)
	cb.Clear()
	large := make([]hit, 5000)
	for i := range large {
		large[i].N = int32(i)
	}
	SetBuffer(cb, e, y.hits, large...)
	held := cb.Bytes()
	require.Equal(t, int64(3+4)*alloc.ChunkSize, held, "60,024 B are four chunks")
	require.NoError(t, cb.Play())
	require.Equal(t, large, y.hits.Slice(e))
	fill(held + 1)
	require.Equal(t, held+alloc.ChunkSize, cb.Bytes())
	require.NoError(t, cb.Play())
	require.Equal(t, position{1, 2}, *y.pos.Get(e))
}

// TestClosedWorld: a world does not go while a buffer has chunks of it, and what is about a closed
// world panics.
func TestClosedWorld(t *testing.T) {
	y := newYard(t)
	cb, unused := NewBuffer(y.w), NewBuffer(y.w)
	e := y.full.Create()
	cb.Destroy(e)
	require.ErrorContains(t, y.w.Close(), "still in use")
	require.Contains(t, panicOf(func() { _ = cb.Play() }), "closed")
	cb.Close()
	unused.Close()
	require.NoError(t, y.w.Close())
}

// TestTags: values of types without bytes are given like others.
func TestTags(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	a, b := y.full.Create(), y.full.Create()
	Add(cb, a, y.slow, slow{})
	Set(cb, a, y.slow, slow{})
	made := cb.Create(y.plain)
	Put(cb, made, y.slow, slow{})
	Put(cb, y.q, y.slow, slow{})
	require.NoError(t, cb.Play())
	require.True(t, y.slow.Has(a) && y.slow.Has(b) && y.slow.Has(cb.Made(made)))
}

// TestDying: what NewChange refuses is refused when it is recorded, or leaves the buffer usable.
func TestDying(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.full.Create()
	dying := ecs.Register[ecs.CleanupEntity](y.w)
	said := panicOf(func() {
		cb.Add(e, dying)
		t.Error("recorded")
	})
	require.Contains(t, said, "CleanupEntity")
	Set(cb, e, y.pos, position{4, 4})
	require.NoError(t, cb.Play())
	require.Equal(t, position{4, 4}, *y.pos.Get(e))
}

// TestQueryClosedBeforePlay: Play panics by name before anything has changed.
func TestQueryClosedBeforePlay(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.full.Create()
	q := ecs.NewQuery(y.w, ecs.With(y.ptr))
	cb.Remove(e, y.pos)
	cb.AddQuery(q, y.slow)
	q.Close()
	hash := y.w.Hash()
	require.Contains(t, panicOf(func() { _ = cb.Play() }), "closed")
	require.Equal(t, hash, y.w.Hash())
	cb.Clear()
	require.NoError(t, cb.Play())
}

// TestNullIsIgnored: what ends or takes away passes over ecs.Null, as World.Destroy does, alone and
// in lists.
func TestNullIsIgnored(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e, f := y.full.Create(), y.full.Create()
	cb.Destroy(ecs.Null)
	cb.Remove(ecs.Null, y.pos)
	cb.DestroyList([]ecs.Entity{ecs.Null})
	list := []ecs.Entity{ecs.Null, f, ecs.Null}
	cb.RemoveList(list, y.pos)
	require.Equal(t, []ecs.Entity{ecs.Null, f, ecs.Null}, list, "the caller's list stays as it is")
	cb.DestroyList([]ecs.Entity{ecs.Null, e})
	require.NoError(t, cb.Play())
	require.False(t, y.w.Alive(e))
	require.False(t, y.pos.Has(f))
}
