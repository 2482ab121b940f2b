package mmap_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// slowPark has for each granule of some blocks, one behind the other, what a park must
// know of it.
type slowPark struct {
	block  []int  // which the granule lies in
	parked []bool // it is in the park
	stale  []bool // it may not read zero
}

// runs are the longest runs of parked granules inside a block.
func (s *slowPark) runs() (all [][2]int) {
	for lo := 0; lo < len(s.parked); lo++ {
		hi := lo
		for hi < len(s.parked) && s.parked[hi] && s.block[hi] == s.block[lo] {
			hi++
		}
		if hi > lo {
			all = append(all, [2]int{lo, hi})
			lo = hi - 1
		}
	}
	return all
}

// has reports whether n granules are parked in one run.
func (s *slowPark) has(n int) bool {
	return slices.ContainsFunc(s.runs(), func(r [2]int) bool { return r[1]-r[0] >= n })
}

func (s *slowPark) count() (n int) {
	for _, parked := range s.parked {
		if parked {
			n++
		}
	}
	return n
}

// TestParkAgainstModel takes and adds ranges at random beside a bool for each granule:
// in one block of addresses, in several that must not be joined, and in many small ones.
func TestParkAgainstModel(t *testing.T) {
	const granules = 400
	for _, blocks := range []int{1, 3, 40} {
		t.Run(fmt.Sprint(blocks), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(blocks), 3))
			model := slowPark{make([]int, granules), make([]bool, granules), make([]bool, granules)}
			p := &mmap.Park{}
			var held [][2]int
			for b := range blocks {
				lo, hi := b*granules/blocks, (b+1)*granules/blocks
				held = append(held, [2]int{lo, hi})
				for i := lo; i < hi; i++ {
					model.block[i] = b
				}
			}
			for step := range 5_000 {
				if random.IntN(2) == 0 && len(held) > 0 {
					i := random.IntN(len(held))
					lo, hi := held[i][0], held[i][1]
					held = slices.Delete(held, i, i+1)
					for k := lo; k < hi; k++ {
						model.parked[k], model.stale[k] = true, random.IntN(8) == 0 && step%3 == 0
					}
					p.Add(lo, hi, model.block[lo]+1, model.stale[lo:hi])
				} else {
					n := 1 + random.IntN(1+random.IntN(granules/blocks))
					held = takeOne(t, p, &model, n, held)
				}
				require.NoError(t, p.Verify(), "step %d", step)
				require.Equal(t, model.count()*g, p.Bytes())
			}
		})
	}
}

// takeOne takes n granules from the park and compares with the model.
func takeOne(t *testing.T, p *mmap.Park, model *slowPark, n int, held [][2]int) [][2]int {
	t.Helper()
	want, pieces := model.has(n), p.Pieces()
	lo, hi, stale, ok := p.Take(n)
	require.Equal(t, want, ok, "%d granules", n)
	if !ok {
		return held
	}
	require.Equal(t, n, hi-lo)
	for k := lo; k < hi; k++ {
		require.True(t, model.parked[k], "granule %d was handed out twice", k)
		require.Equal(t, model.block[lo], model.block[k], "[%d, %d) reaches across blocks", lo, hi)
		require.Equal(t, model.stale[k], stale[k-lo], "granule %d", k)
	}
	from := slices.IndexFunc(pieces, func(one [2]int) bool { return one[0] <= lo && hi <= one[1] })
	if from < 0 { // no piece had it: of what those side by side make, the smallest
		pieces = model.runs()
		from = slices.IndexFunc(pieces, func(one [2]int) bool { return one[0] <= lo && hi <= one[1] })
	}
	for _, one := range pieces {
		if size := one[1] - one[0]; size >= n {
			require.LessOrEqual(t, pieces[from][1]-pieces[from][0], size, "%d granules out of %v, with %v there",
				n, pieces[from], one)
		}
	}
	for k := lo; k < hi; k++ {
		model.parked[k], model.stale[k] = false, false
	}
	return append(held, [2]int{lo, hi})
}

// TestParkVerify corrupts each invariant: Verify must name it.
func TestParkVerify(t *testing.T) {
	for name, corrupt := range mmap.ParkCorruptions {
		p := &mmap.Park{}
		p.Add(0, 3, 1, make([]bool, 3))
		p.Add(5, 7, 1, []bool{true, false})
		require.NoError(t, p.Verify())
		corrupt(p)
		require.ErrorContains(t, p.Verify(), "mmap: "+name[:2]+": ", name)
	}
}

// TestParkInTurn: of ranges that fit alike the one that waited longest is taken, and
// ranges stay as they were while their sizes come again.
func TestParkInTurn(t *testing.T) {
	p := &mmap.Park{}
	for i := range 10 {
		p.Add(4*i, 4*i+4, 1, make([]bool, 4))
	}
	for i := range 35 {
		lo, hi, _, ok := p.Take(4)
		require.True(t, ok)
		require.Equal(t, []int{4 * (i % 10), 4*(i%10) + 4}, []int{lo, hi})
		p.Add(lo, hi, 1, make([]bool, 4))
	}
	require.Len(t, p.Pieces(), 10)
	lo, hi, _, ok := p.Take(37) // more than any piece: all are joined
	require.True(t, ok)
	require.Equal(t, []int{0, 37}, []int{lo, hi})
	require.Equal(t, [][2]int{{37, 40}}, p.Pieces())
}

// TestParkStaysShort: pieces side by side are joined before there are many.
func TestParkStaysShort(t *testing.T) {
	const granules = 1000
	p := &mmap.Park{}
	for i := range granules {
		p.Add(i, i+1, 1, make([]bool, 1))
		require.LessOrEqual(t, len(p.Pieces()), 66)
	}
	_, _, _, ok := p.Take(granules)
	require.True(t, ok)
	for i := 0; i < granules; i += 2 { // none is beside another
		p.Add(i, i+1, 1, make([]bool, 1))
	}
	require.Len(t, p.Pieces(), granules/2)
}
