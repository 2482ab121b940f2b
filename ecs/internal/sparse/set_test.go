package sparse

import (
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/internal/universe"
)

// newSet makes a set of values of a size, which must be sound at the end and leave nothing behind.
func newSet(t *testing.T, u *universe.Universe, size int, bits bool) *Set {
	s := new(Set)
	s.Open(u, size, bits)
	t.Cleanup(func() {
		require.NoError(t, s.Verify())
		require.NoError(t, s.Close())
		require.NoError(t, s.Verify())
	})
	return s
}

func newUniverse(t *testing.T, size int) *universe.Universe {
	u, err := universe.New(universe.Size(size))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, u.Close()) })
	return u
}

func id(i int) entity.ID { return entity.Make(uint32(i), entity.TagOf(3), uint32(2*i+1)) }

// TestSetFollowsAModel compares streams of operations with a map and a list: the order of entries,
// the values of three sizes, the bits, and the rows of a mask.
func TestSetFollowsAModel(t *testing.T) {
	for _, size := range []int{0, 8, 16, 24} {
		u := newUniverse(t, 16<<20)
		s := newSet(t, u, size, true)
		r := rand.New(rand.NewPCG(uint64(size), 1))
		type entry struct {
			e  entity.ID
			v  byte
			on bool
		}
		var list []entry
		find := func(e entity.ID) int {
			for i := range list {
				if list[i].e == e {
					return i
				}
			}
			return -1
		}
		value := func(p unsafe.Pointer) []byte { return unsafe.Slice((*byte)(p), size) }
		fill := func(p unsafe.Pointer, v byte) {
			for i := range value(p) {
				value(p)[i] = v
			}
		}
		steps := 1000
		if testing.Short() {
			steps = 200
		}
		for step := range steps {
			e := id(1 + r.IntN(300))
			at := find(e)
			switch op := r.IntN(10); {
			case op < 4 && at < 0:
				if s.Full(e) {
					require.NoError(t, s.Reserve(1, 301))
				}
				v := byte(r.IntN(256))
				fill(s.Add(e, uint32(step+1)), v)
				list = append(list, entry{e, v, true})
			case op < 7:
				require.Equal(t, at >= 0, s.Remove(e, uint32(step+1)))
				if at >= 0 {
					last := len(list) - 1
					list[at] = list[last]
					list = list[:last]
				}
			case op == 7 && at >= 0:
				list[at].on = r.IntN(2) == 0
				s.Switch(Entry(at+1), list[at].on)
			case op == 8 && r.IntN(50) == 0:
				s.Trim()
			case op == 9 && s.Len() > 0:
				f := id(1 + r.IntN(300))
				with := find(f)
				s.Swap(e, f, uint32(step+1))
				if at >= 0 {
					list[at].e = f
				}
				if with >= 0 {
					list[with].e = e
				}
			}
			require.Equal(t, len(list), s.Len())
			for i, x := range list {
				checkEntry(t, s, Entry(i+1), x.e, x.v, x.on)
			}
			checkMask(t, s, r, func(e entity.ID) (has, on bool) {
				at := find(e)
				return at >= 0, at >= 0 && list[at].on
			})
		}
	}
}

// checkEntry compares an entry, and what look-ups find of its entity.
func checkEntry(t *testing.T, s *Set, at Entry, e entity.ID, v byte, on bool) {
	t.Helper()
	view := s.View()
	require.Equal(t, at, s.Find(e))
	require.Equal(t, e, s.IDs()[at-1])
	require.Equal(t, on, s.Enabled(at))
	require.Equal(t, s.At(e), view.Of(e))
	for _, b := range unsafe.Slice((*byte)(s.At(e)), s.size) {
		require.Equal(t, v, b)
	}
}

// checkMask compares the mask of some entities, not all of which have places.
func checkMask(t *testing.T, s *Set, r *rand.Rand, of func(entity.ID) (has, on bool)) {
	ids := make([]entity.ID, r.IntN(65))
	for i := range ids {
		ids[i] = id(1 + r.IntN(400))
	}
	require.NoError(t, s.Verify())
	require.Zero(t, s.Find(id(400)), "an entity beyond the places")
	require.Zero(t, s.Find(entity.ID{}))
	has, on := s.Mask(ids)
	for i, e := range ids {
		wantHas, wantOn := of(e)
		require.Equal(t, wantHas, has>>i&1 != 0)
		require.Equal(t, wantOn, on>>i&1 != 0)
	}
	if len(ids) < 64 {
		require.Zero(t, has>>len(ids))
		require.Zero(t, on>>len(ids))
	}
}

// TestSetVersions: a write marks the entry's block alone; opening marks all; an entry that takes
// the place of a removed one is new there.
func TestSetVersions(t *testing.T) {
	s := newSet(t, newUniverse(t, 16<<20), 8, false)
	require.NoError(t, s.Reserve(200, 300))
	for i := 1; i <= 200; i++ {
		s.Add(id(i), 1)
	}
	block := func(at Entry) uint32 { v, _ := s.Versions(at); return v }
	s.Mark(1, 5)
	require.EqualValues(t, []uint32{5, 5, 1}, []uint32{block(1), block(63), block(64)})
	require.EqualValues(t, 5, s.Latest())
	s.Remove(id(130), 6)
	require.EqualValues(t, []uint32{5, 6, 1}, []uint32{block(1), block(130), block(199)})
	require.EqualValues(t, 6, s.Latest())
	_, all := s.Versions(7)
	require.Zero(t, all)
	s.OpenAll(9)
	_, all = s.Versions(7)
	require.EqualValues(t, []uint32{9, 9}, []uint32{all, s.Latest()})
}

// TestSetIsRefused: where the universe or the system has no memory, for any of the three extents,
// nothing changes.
func TestSetIsRefused(t *testing.T) {
	refusals := 0
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u, err := universe.New(universe.Size(4<<20), alloc.InjectFailures(f))
		if err != nil {
			return err
		}
		s := newSet(t, u, 16, true)
		if err := s.Reserve(60, 64); err != nil {
			require.Zero(t, s.Len())
			return errors.Join(err, s.Close(), u.Close())
		}
		for i := 1; i <= 60; i++ {
			*(*int)(s.Add(id(i), 1)) = i
		}
		for n := 2000; n < 300_000 && err == nil; n *= 4 {
			err = s.Reserve(n, uint32(n))
			require.NoError(t, s.Verify())
			for i := 1; i <= 60; i++ {
				require.Equal(t, i, *(*int)(s.At(id(i))))
			}
		}
		if err != nil {
			refusals++
		}
		s.Trim()
		require.NoError(t, s.Verify())
		return errors.Join(err, s.Close(), u.Close())
	}))
	require.Greater(t, refusals, 6)
}

// TestSetVerify: Verify names what is wrong.
func TestSetVerify(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(s *Set)
	}{
		{"P1: entry 2 is of 2v5", func(s *Set) { *s.place(2) = 1 }},
		{"P1: 4 places are set, there are 3 entries", func(s *Set) { *s.place(9) = 1 }},
		{"P2: entry 0 is 7v15's", func(s *Set) { *s.id(0) = id(7) }},
		{"P3: the bit of entry 4 is set, there are 3 entries", func(s *Set) { s.bits[0] |= 1 << 4 }},
		{"P3: 3 entries, room for 64 with entry 0, 0 versions", func(s *Set) { s.versions = nil }},
	} {
		s := new(Set)
		s.Open(newUniverse(t, 16<<20), 8, true)
		require.NoError(t, s.Reserve(3, 10))
		for i := 1; i <= 3; i++ {
			s.Add(id(i), 1)
		}
		require.NoError(t, s.Verify())
		c.spoil(s)
		require.ErrorContains(t, s.Verify(), c.want)
		require.NoError(t, s.Close())
	}
	broken := new(Set)
	broken.Open(newUniverse(t, 16<<20), 8, true)
	broken.last = 1
	require.ErrorContains(t, broken.Verify(), "P3: 1 entries and 0 places without memory")
}
