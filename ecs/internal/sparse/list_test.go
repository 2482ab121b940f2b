package sparse

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/entity"
)

// TestListsFollowSingleCalls adds and removes random lists, with duplicates, beside Add and Remove
// one by one: the same entries in the same order with the same values and bits, new ones zero.
func TestListsFollowSingleCalls(t *testing.T) {
	u := newUniverse(t, 32<<20)
	for _, size := range []int{0, 8, 24} {
		listed, single := newSet(t, u, size, size == 8), newSet(t, u, size, size == 8)
		r := rand.New(rand.NewPCG(uint64(size), 2))
		for turn := range 60 {
			list := make([]entity.ID, r.IntN(400))
			for i := range list {
				list[i] = id(1 + r.IntN(600))
			}
			version := uint32(turn + 1)
			for _, s := range []*Set{listed, single} {
				require.NoError(t, s.Reserve(len(list), 601))
			}
			if turn%2 == 0 {
				listed.AddList(list, version)
			} else {
				listed.RemoveList(list, version)
			}
			for _, e := range list {
				switch {
				case turn%2 != 0:
					single.Remove(e, version)
				case single.Find(e) == 0:
					clear(unsafe.Slice((*byte)(single.Add(e, version)), size))
				}
			}
			require.NoError(t, listed.Verify())
			require.Equal(t, single.IDs(), listed.IDs())
			for at := Entry(1); int(at) <= listed.Len(); at++ {
				a, b := unsafe.Slice((*byte)(listed.Value(at)), size), unsafe.Slice((*byte)(single.Value(at)), size)
				require.Equal(t, b, a)
				for i := range a {
					a[i], b[i] = byte(at), byte(at) // what a removed entry leaves must not show
				}
				require.Equal(t, single.Enabled(at), listed.Enabled(at))
			}
		}
	}
}
