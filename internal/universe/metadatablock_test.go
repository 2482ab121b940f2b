package universe

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// TestMetadataBlocksAgainstModel: a metadata block reads as zero whenever it is handed out, and
// nobody else writes it; more free metadata blocks than keep their pages, of several sizes.
func TestMetadataBlocksAgainstModel(t *testing.T) {
	metadataBlocks := &metadataBlocks{}
	random := rand.New(rand.NewPCG(1, 9))
	type held struct {
		metadataBlock metadataBlock
		mark          byte
	}
	var all []held
	sizes := []int{1, 4096, 4097, 40_000, 505 << 10, 2 << 20}
	for step := range 600 {
		if grow := random.IntN(100) < 55; len(all) < 2 || grow && len(all) < 3*warmBlocks {
			size := sizes[random.IntN(len(sizes))]
			s := metadataBlocks.take(size)
			b := s.memory()
			require.GreaterOrEqual(t, len(b), size)
			for _, at := range []int{0, size - 1, len(b) / 2, len(b) - 1} {
				require.Zero(t, b[at])
			}
			mark := byte(step%255 + 1)
			b[0], b[size-1], b[len(b)-1] = mark, mark, mark
			all = append(all, held{s, mark})
			continue
		}
		i := random.IntN(len(all))
		b := all[i].metadataBlock.memory()
		require.Equal(t, all[i].mark, b[0])
		require.Equal(t, all[i].mark, b[len(b)-1])
		clear(b)
		metadataBlocks.give(all[i].metadataBlock)
		all = slices.Delete(all, i, i+1)
		if step%50 == 0 {
			require.NoError(t, metadataBlocks.verify())
		}
	}
	for _, one := range all {
		clear(one.metadataBlock.memory())
		metadataBlocks.give(one.metadataBlock)
	}
	require.NoError(t, metadataBlocks.verify())
}

// TestMetadataBlocksWithoutTheSystem: whatever the system refuses, a metadata block is there, in
// memory of Go, and a later one comes from the system again. A refusal to take pages back leaves a
// metadata block that is clear.
func TestMetadataBlocksWithoutTheSystem(t *testing.T) {
	if !mmap.Real {
		require.True(t, new(metadataBlocks).take(100).region == nil)
		return
	}
	refused := errors.New("refused")
	none := &metadataBlocks{reserve: func(size, least int) (Pages, error) { return nil, refused }}
	s := none.take(100_000)
	require.True(t, s.region == nil)
	require.Len(t, s.memory(), 128<<10)
	none.give(s)
	require.NoError(t, none.verify())
	for k := 1; k < 8; k++ {
		var region *FailingPages
		metadataBlocks := &metadataBlocks{reserve: func(size, least int) (Pages, error) {
			r, err := mmap.Reserve(size)
			region = &FailingPages{Region: r, FailAt: k, Err: refused}
			return region, err
		}}
		var all []metadataBlock
		for range 2 * warmBlocks {
			all = append(all, metadataBlocks.take(500_000))
			all[len(all)-1].memory()[7] = 1
		}
		ofGo := 0
		for _, s := range all {
			if s.region == nil {
				ofGo++
			}
			clear(s.memory())
			metadataBlocks.give(s)
		}
		require.LessOrEqual(t, ofGo, 1, "only the one that the system refused")
		require.NoError(t, metadataBlocks.verify())
		require.NoError(t, region.Release())
	}
}
