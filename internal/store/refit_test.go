package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/growth"
	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
)

// refit makes the last chunk as small as can be, if its rows are to leave it. It reports whether
// the universe had room.
func (m *storeModel) refit(t *testing.T, leave bool) bool {
	before := slices.Clone(m.chunks)
	m.prepared = 0
	err := m.Refit()
	require.Zero(t, m.Reserve())
	pos, smaller := m.Leaving()
	if err != nil {
		require.ErrorIs(t, err, sentinel.ErrFull)
		require.False(t, smaller)
		require.Equal(t, before, m.chunks)
		return false
	}
	require.False(t, smaller && pos != len(before)-1)
	if smaller && !leave { // the owner thinks better of it
		m.Settle()
		m.Trim(0)
		require.Equal(t, before, m.chunks)
		return true
	}
	if smaller {
		m.Promote()
	}
	require.Len(t, m.chunks, len(before))
	if len(before) == 0 {
		return true
	}
	last := len(before) - 1
	require.Equal(t, before[:last], m.chunks[:last])
	require.Equal(t, smaller, m.chunks[last].Order < before[last].Order)
	if rows := m.RowsOf(last); last > 0 || rows > m.SmallRows() {
		half := Chunk{Order: m.chunks[last].Order - 1}
		require.True(t, m.chunks[last].Order == UnitOrder || m.Fits(half) < rows, "the half would do")
		return true
	}
	require.True(t, m.chunks[last].Small())
	return true
}

// TestStoreRefit: what the last chunk becomes when rows of so many sixteenths of a unit are
// left of those of 64 or 128 units.
func TestStoreRefit(t *testing.T) {
	for _, c := range []struct {
		rows, left int // sixteenths of a unit
		bare       bool
		want       string // orders of the chunks after it
	}{
		{rows: 64 * 16, left: 1, want: "[0]"},
		{rows: 64 * 16, left: 1, bare: true, want: "[3]"},
		{rows: 64 * 16, left: 16, want: "[3]"},
		{rows: 64 * 16, left: 17, want: "[4]"},
		{rows: 64 * 16, left: 33, want: "[5]"},
		{rows: 64 * 16, left: 32 * 16, want: "[8]"},
		{rows: 64 * 16, left: 33 * 16, want: "[9]"},
		{rows: 128 * 16, left: 64*16 + 1, want: "[9 3]"},
		{rows: 128 * 16, left: 64*16 + 40, want: "[9 5]"},
		{rows: 128 * 16, left: 64 * 16, want: "[9]"},
		{rows: 128 * 16, left: 0, want: "[]"},
	} {
		u, err := universe.New(universe.Size(8 << 20))
		require.NoError(t, err)
		smallChunks := NewSmallChunks(u)
		if c.bare {
			smallChunks = nil
		}
		m := newStore(t, u, smallChunks, growth.Doubling().Capped(64), MaxOrder-UnitOrder)
		rows := func(sixteenths int) int { return sixteenths * m.per / 16 }
		require.True(t, m.push(t, rand.New(rand.NewPCG(1, 1)), rows(c.rows), rows(c.rows)))
		m.cut(rows(c.rows)-rows(c.left), false)
		require.True(t, m.refit(t, true))
		m.check(t, c.want)
		orders := []uint32{}
		for _, chunk := range m.chunks {
			orders = append(orders, chunk.Order)
		}
		require.Equal(t, c.want, fmt.Sprint(orders))
		m.Release()
		require.NoError(t, u.Close())
	}
}

// TestStoreRefitForgetsPrepared: after a refit the reserve is that of a store that never made room
// in advance.
func TestStoreRefitForgetsPrepared(t *testing.T) {
	u, err := universe.New(universe.Size(16 << 20))
	require.NoError(t, err)
	var reserves []int
	for _, units := range []int{0, 64} {
		m := newStore(t, u, nil, growth.Doubling().Capped(64), MaxOrder-UnitOrder)
		require.NoError(t, m.Prepare(units*m.per))
		rng := rand.New(rand.NewPCG(1, 1))
		require.True(t, m.push(t, rng, 1, 1))
		require.True(t, m.refit(t, true))
		require.Equal(t, 1, m.Units())
		for range 30 {
			require.True(t, m.push(t, rng, m.per, m.per))
		}
		m.cut(30*m.per, false)
		reserves = append(reserves, m.Reserve())
		m.Release()
	}
	require.Equal(t, reserves[0], reserves[1])
	require.Less(t, reserves[0], 8)
	require.NoError(t, u.Close())
}
