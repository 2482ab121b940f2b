package entity_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/internal/universe"
	"quarry/mmap"
)

const (
	blockSize = entity.BlockSize
	usable    = blockSize - 1 // indices of a block that may be somebody's, but for index 0
)

// newUniverse makes a universe that is closed when the test ends, and then empty.
func newUniverse(t testing.TB, size int, options ...universe.Option) *universe.Universe {
	t.Helper()
	u, err := universe.New(append(options, universe.Size(size))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, u.Close()) })
	return u
}

// open makes a store on a universe.
func open(t testing.TB, u *universe.Universe) *entity.Store {
	t.Helper()
	s := new(entity.Store)
	s.Open(u, entity.TagOf(5))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func newStore(t testing.TB) *entity.Store {
	t.Helper()
	return open(t, newUniverse(t, 32<<20))
}

// take makes room for an ID and takes it.
func take(t testing.TB, s *entity.Store) entity.ID {
	t.Helper()
	require.NoError(t, s.MakeRoom(1))
	return s.Take(7)
}

// give ends an ID.
func give(t testing.TB, s *entity.Store, e entity.ID) {
	t.Helper()
	r := s.Find(e)
	require.NotNil(t, r)
	s.FreeID(e, r)
	require.Nil(t, s.Find(e))
}

// verify requires a sound store with so many IDs alive.
func verify(t testing.TB, s *entity.Store, alive int) {
	t.Helper()
	n, err := s.Verify()
	require.NoError(t, err)
	require.Equal(t, alive, n)
}

// TestLowestFirst: indices come from the lowest on, and come again under the next odd version.
func TestLowestFirst(t *testing.T) {
	s := newStore(t)
	var all []entity.ID
	for i := range 200 {
		all = append(all, take(t, s))
		require.Equal(t, entity.Make(uint32(i+1), entity.TagOf(5), 1), all[i], "index 0 is nobody's")
	}
	for _, i := range []int{70, 3, 150} {
		give(t, s, all[i])
	}
	s.PutBack()
	for _, i := range []uint32{4, 71, 151, 201} {
		e := take(t, s)
		require.Equal(t, i, e.Index())
		if i < 200 {
			require.Equal(t, uint32(3), e.Version())
		}
	}
	verify(t, s, 201)
}

// TestRecordsStayByIndex grows records from a run of chunks into a reservation of their own: they
// stay in one piece, with what they had, and a view taken anew finds them.
func TestRecordsStayByIndex(t *testing.T) {
	u := newUniverse(t, 16<<20)
	s := open(t, u)
	rows := make([]entity.ID, 300_000)
	for n := 0; n < len(rows); {
		k := min(5000, len(rows)-n)
		require.NoError(t, s.MakeRoom(k))
		s.TakeRows(entity.Location(n), rows[n:n+k])
		n += k
		view := s.View()
		require.Equal(t, s.Blocks()*blockSize, view.Len())
		for _, i := range []int{0, n / 2, n - 1} {
			r := view.Record(rows[i])
			require.True(t, r.Is(rows[i]))
			require.Equal(t, entity.Location(i), r.Location)
		}
	}
	verify(t, s, len(rows))
	require.Zero(t, u.Stats().LiveChunks, "beyond a megachunk they lie beside the chunks")
	require.GreaterOrEqual(t, u.Stats().Extents, 300_000*8)
	s.FreeIDs(rows[1000:])
	s.MoveRows(rows[:1000], 5)
	require.Equal(t, entity.Location(1004), s.Locate(rows[999]))
	s.Move(rows[3], 77)
	require.Equal(t, entity.Location(77), s.Find(rows[3]).Location)
	verify(t, s, 1000)
	require.NoError(t, s.Close())
	require.Nil(t, s.Find(rows[3]), "a closed store finds nothing")
	require.Zero(t, u.Stats().Extents)
}

// TestMakeRoom makes exactly what is missing, and index 0 and that of the last record are nobody's.
func TestMakeRoom(t *testing.T) {
	u := newUniverse(t, 16<<20)
	s := open(t, u)
	require.NoError(t, s.MakeRoom(0))
	require.Zero(t, s.Blocks())
	require.NoError(t, s.MakeRoom(3*blockSize-1))
	require.Equal(t, 4, s.Blocks(), "two indices are nobody's")
	require.NoError(t, s.MakeRoom(4*blockSize-2))
	require.Equal(t, 4, s.Blocks())
	e := take(t, s)
	require.NoError(t, s.MakeRoom(40*blockSize))
	require.Equal(t, 41, s.Blocks(), "40 blocks but for two indices and one that is taken, and one more")
	require.NotNil(t, s.Find(e))
	rows := make([]entity.ID, blockSize)
	s.TakeRows(0, rows)
	for i, e := range rows {
		require.Equal(t, uint32(1), e.Version())
		require.Equal(t, uint32(i+2), e.Index())
	}
	verify(t, s, blockSize+1)
}

// TestMakeRoomRefused: at the limit of indices, and where memory is refused, nothing changes.
func TestMakeRoomRefused(t *testing.T) {
	// An extension, and what comes in its place.
	s := open(t, newUniverse(t, 16<<20, alloc.InjectFailures(alloc.FailFrom(3))))
	s.Limit(2)
	require.ErrorIs(t, s.MakeRoom(2*blockSize-1), entity.ErrFull, "two indices are nobody's")
	require.NoError(t, s.MakeRoom(blockSize-2))
	require.Equal(t, 1, s.Blocks())
	require.NoError(t, s.MakeRoom(2*blockSize-2))
	require.Equal(t, 2, s.Blocks())
	require.ErrorIs(t, s.MakeRoom(2*blockSize-1), entity.ErrFull)
	require.ErrorIs(t, s.Reserve(make([]entity.ID, 1)), entity.ErrFull)
	s.Limit(-1)
	for _, n := range []int{3 * blockSize, 100 * blockSize} {
		require.ErrorIs(t, s.MakeRoom(n), alloc.ErrInjected)
		require.Equal(t, 2, s.Blocks())
		verify(t, s, 0)
	}
	require.ErrorIs(t, s.Reserve(make([]entity.ID, 1)), alloc.ErrInjected)
	verify(t, s, 0)
}

// TestVersionsWrap takes one index, of a block of either kind, over the end of its versions.
func TestVersionsWrap(t *testing.T) {
	const last = 1<<32 - 1
	s := newStore(t)
	next := map[string]func() entity.ID{
		"owner":    func() entity.ID { return take(t, s) },
		"reserved": func() entity.ID { return revive(t, s, reserve(t, s, 1))[0] },
	}
	for end, next := range next {
		e := next()
		give(t, s, e)
		s.SetVersion(e.Index(), last-1)
		for _, want := range []uint32{last, 1} {
			f := next()
			for ; f.Index() != e.Index(); f = next() {
				give(t, s, f)
			}
			require.Equal(t, want, f.Version(), end)
			require.NotNil(t, s.Find(f))
			give(t, s, f)
			require.Nil(t, s.Find(entity.Make(f.Index(), f.Tag(), 0)), "version 0 is never alive")
			verify(t, s, 0)
		}
	}
	id := reserve(t, s, 1)
	takeBack(t, s, id)
	s.SetVersion(id[0].Index(), last-1)
	old := id[0].Index()
	for _, want := range []uint32{last, 1} {
		for id = reserve(t, s, 1); id[0].Index() != old; id = reserve(t, s, 1) {
			takeBack(t, s, id)
		}
		require.Equal(t, want, id[0].Version(), "what is taken back goes to 0 as well")
		takeBack(t, s, id)
	}
}

// TestStoreAgainstModel compares the states of ids, of blocks of both kinds, with a plain map's.
func TestStoreAgainstModel(t *testing.T) {
	s := newStore(t)
	r := rand.New(rand.NewPCG(3, 4))
	where := map[entity.ID]entity.Location{} // of those alive
	ever, owned := map[entity.ID]bool{}, map[entity.ID]bool{}
	var alive, reserved, gone []entity.ID
	blocks := 0
	came := func(ids []entity.ID, to *[]entity.ID) {
		for _, e := range ids {
			require.False(t, ever[e], "%v came twice", e)
			ever[e] = true
		}
		*to = append(*to, ids...)
	}
	cut := func(from *[]entity.ID) []entity.ID {
		r.Shuffle(len(*from), func(i, j int) { (*from)[i], (*from)[j] = (*from)[j], (*from)[i] })
		n := r.IntN(len(*from) + 1)
		list := append([]entity.ID(nil), (*from)[:n]...)
		*from = (*from)[n:]
		return list
	}
	for step := range 400 {
		switch r.IntN(8) {
		case 0:
			came(reserve(t, s, r.IntN(3000)), &reserved)
		case 1:
			ids := revive(t, s, cut(&reserved))
			at := entity.Location(r.Uint32())
			s.MoveRows(ids, at)
			for i, e := range ids {
				where[e] = at + entity.Location(i)
			}
			alive = append(alive, ids...)
		case 2:
			ids := cut(&reserved)
			takeBack(t, s, ids)
			gone = append(gone, ids...)
		case 3, 4:
			ids := make([]entity.ID, r.IntN(2000))
			if step > blocks*100 { // all that are free, and one of a block behind those of reservations
				ids, blocks = make([]entity.ID, s.Free()+1), blocks+1
			}
			require.NoError(t, s.MakeRoom(len(ids)))
			s.TakeRows(entity.Location(step), ids)
			for i, e := range ids {
				where[e] = entity.Location(step + i)
			}
			came(ids, &alive)
			for _, e := range ids {
				owned[e] = true
			}
		case 5:
			ids := cut(&alive)
			s.FreeIDs(ids)
			gone = append(gone, ids...)
		case 6:
			for _, e := range cut(&alive) {
				give(t, s, e)
				gone = append(gone, e)
			}
		case 7:
			require.NoError(t, s.MakeRoom(r.IntN(5*blockSize)))
			s.PutBack()
		}
		if step%20 == 0 {
			verify(t, s, len(alive))
		}
		require.Equal(t, len(reserved), s.Reserved())
		lookAround(t, s, r, alive, slices.Concat(reserved, gone))
	}
	for _, e := range alive {
		require.Equal(t, where[e], s.Find(e).Location)
		require.Equal(t, where[e], s.Locate(e))
	}
	for _, e := range append(reserved, gone...) {
		require.Nil(t, s.Find(e))
	}
	require.Contains(t, kinds(s, owned), "opo", "blocks of both kinds follow each other")
}

// kinds returns for each block, by number, whether the owner has taken ids of it (o) or not (p).
func kinds(s *entity.Store, owned map[entity.ID]bool) string {
	all := bytes.Repeat([]byte("p"), s.Blocks()+s.ReservedBlocks())
	for e := range owned {
		all[e.Index()/blockSize] = 'o'
	}
	return string(all)
}

// lookAround looks for some of the ids that are alive, for some that are not, and for others with
// the same indices.
func lookAround(t *testing.T, s *entity.Store, r *rand.Rand, alive, others []entity.ID) {
	view := s.View()
	for i, list := range [][]entity.ID{alive, others} {
		for range min(len(list), 30) {
			e := list[r.IntN(len(list))]
			require.Equal(t, i == 0, s.Find(e) != nil, "%v", e)
			require.Nil(t, s.Find(with(e, e.Index(), e.Version()+1)), "an even version")
			require.Nil(t, s.Find(with(e, e.Index(), e.Version()-1)), "an even version")
			require.Nil(t, s.Find(with(e, uint32(view.Len())+e.Index(), e.Version())), "beyond the records")
		}
	}
}

// TestTakeRowsFar: of more records than a cache has, scattered indices are taken as one by one, in
// words with many and with few.
func TestTakeRowsFar(t *testing.T) {
	s, twin, r := newStore(t), newStore(t), rand.New(rand.NewPCG(3, 4))
	const n = 20 * blockSize
	ids, same := make([]entity.ID, n), make([]entity.ID, n)
	takeAll := func(list, twins []entity.ID) {
		s.TakeRows(1, list)
		for i := range twins {
			twins[i] = twin.Take(entity.Location(1 + i))
		}
		require.True(t, slices.Equal(list, twins))
	}
	require.NoError(t, s.MakeRoom(n))
	require.NoError(t, twin.MakeRoom(n))
	takeAll(ids, same)
	for _, gone := range []int{3, 1000, 70_000} {
		r.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		for _, e := range ids[:gone] {
			give(t, s, e)
			give(t, twin, e)
		}
		for at, k := 0, 0; at < gone; at += k {
			k = min(gone-at, 1+r.IntN(300))
			takeAll(ids[at:at+k], same[:k])
		}
		_, err := s.Verify()
		require.NoError(t, err)
	}
}

// TestBecome: a copy has the same ids free, in the same order, under its own tag.
func TestBecome(t *testing.T) {
	for _, n := range []int{0, 100, 30_000, 200_000} {
		s := newStore(t)
		rows := make([]entity.ID, n)
		require.NoError(t, s.MakeRoom(n))
		s.TakeRows(1, rows)
		for i := 0; i < n; i += 3 {
			give(t, s, rows[i])
		}
		ids := reserve(t, s, n/4)
		revive(t, s, ids[:n/8])
		copied := newStore(t)
		copied.SetTag(entity.TagOf(9))
		require.NoError(t, copied.CopyFrom(s))
		alive, err := s.Verify()
		require.NoError(t, err)
		verify(t, copied, alive)
		require.Equal(t, s.Reserved(), copied.Reserved())
		for i, e := range rows {
			require.Equal(t, i%3 != 0, copied.Find(e.In(copied.Tag())) != nil)
			require.Nil(t, copied.Find(e), "another world's")
		}
		for range 200 {
			require.Equal(t, take(t, s).In(copied.Tag()), take(t, copied))
			require.Equal(t, reserve(t, s, 1)[0].In(copied.Tag()), reserve(t, copied, 1)[0])
		}
	}
}

// TestBecomeRefused: where memory or indices are refused, Close gives all back.
func TestBecomeRefused(t *testing.T) {
	s := newStore(t)
	require.NoError(t, s.MakeRoom(3*usable))
	reserve(t, s, 2*usable)
	alive := revive(t, s, reserve(t, s, 1))[0] // in a block behind the owner's
	copied := newStore(t)
	copied.Limit(3)
	require.ErrorIs(t, copied.CopyFrom(s), entity.ErrFull)
	verify(t, copied, 0)
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) (err error) {
		u := newUniverse(t, 16<<20, alloc.InjectFailures(f))
		copied := open(t, u)
		if err = copied.CopyFrom(s); err == nil {
			verify(t, copied, 1)
			require.Equal(t, 2*usable, copied.Reserved())
			require.NotNil(t, copied.Find(alive))
		} else {
			verify(t, copied, 0)
			require.Zero(t, copied.Reserved()+copied.Blocks()+copied.Free())
		}
		require.NoError(t, copied.Close())
		require.Zero(t, u.Stats().LiveChunks+u.Stats().Extents)
		return err
	}))
}

// TestVerifyNamesTheInvariant corrupts each numbered invariant in turn.
func TestVerifyNamesTheInvariant(t *testing.T) {
	s := newStore(t)
	for range 5 {
		take(t, s)
	}
	revive(t, s, reserve(t, s, 2)[1:])
	verify(t, s, 6)
	for _, name := range []string{"R1 both", "R1 lent", "R2", "R3", "R4", "R4 busy", "R5", "R5 held", "R6",
		"R6 owner's", "R7", "R7 alive", "R7 indices",
		"R8", "R8 place", "R8 own", "R9", "R9 total", "R10", "R10 lent", "R10 other", "R10 early", "R10 dead"} {
		restore := s.Corrupt(name)
		_, err := s.Verify()
		invariant, _, _ := strings.Cut(name, " ")
		require.ErrorContains(t, err, "entity: "+invariant+":", name)
		restore()
		verify(t, s, 6)
	}
}

// FuzzFind asks a store for any 64 bits: it finds its own record, or none.
func FuzzFind(f *testing.F) {
	u, err := universe.New(universe.Size(16 << 20))
	require.NoError(f, err)
	s := new(entity.Store)
	s.Open(u, entity.TagOf(3))
	alive := map[entity.ID]bool{}
	require.NoError(f, s.MakeRoom(100))
	rows := make([]entity.ID, 100)
	s.TakeRows(0, rows)
	for i, e := range rows {
		if alive[e] = i%2 == 0; !alive[e] {
			s.FreeID(e, s.Find(e))
		}
		f.Add(e.Bits())
		f.Add(e.Bits() + 1<<32)
		f.Add(e.Bits() ^ 1<<27)
		f.Add(e.Bits() | 1<<31)
	}
	ids := make([]entity.ID, 10)
	require.NoError(f, s.Reserve(ids))
	require.NoError(f, s.Reach())
	require.Equal(f, -1, s.Hold(ids[:5]))
	s.Revive(ids[:5])
	for i, e := range ids {
		alive[e] = i < 5
		f.Add(e.Bits())
	}
	view := s.View()
	f.Fuzz(func(t *testing.T, bits uint64) {
		e := entity.FromBits(bits)
		require.Equal(t, bits, e.Bits())
		r := s.Find(e)
		require.Equal(t, alive[e], r != nil, "%v", e)
		if r != nil {
			require.True(t, r == view.Record(e))
		} else if r = view.Record(e); r != nil && e.Version()&1 == 0 && r.Version() == e.Version() {
			require.Equal(t, entity.Nowhere, r.Location, "a dead record leads nowhere")
		}
		require.Equal(t, e.Is(s.Tag()) && !e.IsPlaceholder(), e.Bits()>>27&31 == 3)
	})
}

// TestTagsInTurn: a tag comes again after all others, and those that no world has come first.
func TestTagsInTurn(t *testing.T) {
	var tags entity.Tags
	for i := range uint32(entity.Worlds) {
		require.Equal(t, i, tags.Take(0).Number())
	}
	require.Equal(t, entity.Worlds, tags.Open())
	tags.Free(entity.TagOf(7))
	require.Equal(t, uint32(7), tags.Take(0).Number(), "the only one that is idle")
	require.Equal(t, uint32(9), tags.Take(1<<8).Number(), "8 is to be avoided")
}

// TestRecordsWithoutMemory: where the system refuses the reservation of large records the store is
// as before.
func TestRecordsWithoutMemory(t *testing.T) {
	if !mmap.Real {
		t.Skip("address space is not refused where pages come from the Go heap")
	}
	before, err := alloc.SetBudget(alloc.Budget{OffHeap: int64(alloc.ReadBudget().Committed) + 4<<20})
	require.NoError(t, err)
	defer func() {
		_, err := alloc.SetBudget(before)
		require.NoError(t, err)
	}()
	s := newStore(t)
	e := take(t, s)
	require.ErrorIs(t, s.MakeRoom(1<<20), alloc.ErrBudget)
	require.NotNil(t, s.Find(e))
	verify(t, s, 1)
}

// TestViewEnds: a view has the records of its length and no more, for any index that an ID can
// have.
func TestViewEnds(t *testing.T) {
	s := newStore(t)
	require.NoError(t, s.MakeRoom(1))
	v := s.View()
	n := uint32(v.Len())
	require.NotZero(t, n)
	require.NotNil(t, v.Record(entity.Make(n-1, s.Tag(), 1)))
	for _, index := range []uint32{n, n + 1, 2 * n, entity.MaxIDs - 1} {
		require.Nil(t, v.Record(entity.Make(index, s.Tag(), 1)), "index %d of %d", index, n)
	}
}

// TestTagsShared: a tag that worlds share is in use until each has given it back.
func TestTagsShared(t *testing.T) {
	var tags entity.Tags
	tag := tags.Take(0)
	tags.Share(tag)
	tags.Free(tag)
	for range entity.Worlds - 1 {
		require.NotEqual(t, tag, tags.Take(0), "one world still has it")
	}
	require.Equal(t, entity.Worlds, tags.Open())
	tags.Free(tag)
	require.Equal(t, tag, tags.Take(0))
}

// TestVersionsStartApart: stores with one tag and different numbers have no ID in common, of either
// kind, in the first blocks and in those behind, and so have copies that go on.
func TestVersionsStartApart(t *testing.T) {
	const n = 3 * blockSize
	u := newUniverse(t, 64<<20)
	all := map[entity.ID]int{}
	for number := range 3 {
		s := new(entity.Store)
		s.Open(u, entity.TagOf(7))
		s.Apart(uint32(number))
		use := func(s *entity.Store) (ids []entity.ID) {
			first := reserve(t, s, 100)
			ids = make([]entity.ID, n)
			require.NoError(t, s.MakeRoom(n))
			s.TakeRows(1, ids)
			more := reserve(t, s, blockSize)
			require.NoError(t, s.Reach())
			verify(t, s, n)
			return append(append(ids, first...), more...)
		}
		for _, e := range use(s) {
			require.Equal(t, uint32(number)<<22|1, e.Version(), "%v", e)
			all[e]++
		}
		c := new(entity.Store)
		c.Open(u, entity.TagOf(7))
		require.NoError(t, c.CopyFrom(s))
		require.Equal(t, useMore(t, s), useMore(t, c), "a copy goes on as the original")
		require.NoError(t, c.Close())
		require.NoError(t, s.Close())
	}
	require.Len(t, all, 3*(n+100+blockSize))
}

// useMore makes more ids, of both kinds.
func useMore(t *testing.T, s *entity.Store) []entity.ID {
	ids := make([]entity.ID, 2*blockSize)
	require.NoError(t, s.MakeRoom(len(ids)))
	s.TakeRows(1, ids)
	return append(ids, reserve(t, s, blockSize)...)
}

// TestTagsApart: of worlds that are open at once and have one tag, each has a number of its own.
func TestTagsApart(t *testing.T) {
	var tags entity.Tags
	seen := map[[2]uint32]bool{}
	for i := range uint32(5 * entity.Worlds) {
		tag, number := tags.TakeApart(0)
		require.Equal(t, i/entity.Worlds, number)
		seen[[2]uint32{tag.Number(), number}] = true
	}
	require.Len(t, seen, 5*entity.Worlds)
	tags.Free(entity.TagOf(3))
	tag, number := tags.TakeApart(0)
	require.Equal(t, uint32(3), tag.Number())
	require.Equal(t, uint32(5), number, "others have those below")
	for range 5 {
		tags.Free(tag)
	}
	tag, number = tags.TakeApart(0)
	require.Equal(t, uint32(3), tag.Number())
	require.Zero(t, number, "nobody has it")
}
