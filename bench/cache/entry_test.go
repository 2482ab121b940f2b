package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEntriesAreDistinctAndOfTheSizesThatAreSaid(t *testing.T) {
	e := newEntries()
	seen := map[string]bool{}
	var sizes []int
	sum := 0
	for n := range uint32(1 << 16) {
		key, value := string(e.key(n, nil)), e.value(n, nil)
		if len(key) < 16 || len(key) > 39 || seen[key] || len(value) != e.size(n) || e.check(n, value) != nil {
			t.Fatalf("entry %d: key %q, which came before: %v; a value of %d bytes: %v",
				n, key, seen[key], len(value), e.check(n, value))
		}
		seen[key] = true
		require.Equal(t, map[bool]time.Duration{true: sessionTime}[n%8 == 0], lifetime(key))
		sizes = append(sizes, len(value))
		sum += len(key) + len(value)
	}
	slices.Sort(sizes)
	require.Equal(t, valueLeast, sizes[0])
	require.Equal(t, valueMost, sizes[len(sizes)-1])
	require.InDelta(t, valueMiddle, sizes[len(sizes)/2], 10)
	require.InDelta(t, float64(sum)/(1<<16), e.mean(), 1e-9)
	require.Equal(t, "page:/articles/04294967295/comments?p=1", string(e.key(1<<32-1, nil)))
}

// TestCheckFindsWhatDiffers changes each byte that is compared, and the length.
func TestCheckFindsWhatDiffers(t *testing.T) {
	e := newEntries()
	for n := range uint32(100) {
		size := e.size(n)
		half := markBytes + (size-markBytes)/2
		for i := range size {
			value := e.value(n, nil)
			value[i] ^= 1
			compared := i < markBytes || i >= half && i < half+16 || i >= size-16
			if err := e.check(n, value); (err != nil) != compared {
				t.Fatalf("byte %d of %d: %v", i, size, err)
			}
		}
		require.ErrorContains(t, e.check(n, e.value(n, nil)[:size-1]), "bytes, want")
		require.ErrorContains(t, e.check(n, nil), "has 0 bytes")
		require.Error(t, e.check(n, e.value(n+1, nil)))
	}
}
