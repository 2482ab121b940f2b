package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExpiry waits for the lifetimes of all caches at once.
func TestExpiry(t *testing.T) {
	for i := range contenders {
		c := &contenders[i]
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x, err := beginExpiry(c, newEntries())
			require.NoError(t, err)
			require.NoError(t, x.end())
		})
	}
	for says, c := range map[string]*contender{
		"an entry of 2s is there after 8s":                       wrapped(func(s store) store { return undying{s} }),
		"an entry without a lifetime went with one that has one": wrapped(func(s store) store { return sweeping{s} }),
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			x, err := beginExpiry(c, newEntries())
			require.NoError(t, err)
			require.EqualError(t, x.end(), says)
		})
	}
	t.Run("hasty", func(t *testing.T) {
		t.Parallel()
		_, err := beginExpiry(wrapped(func(s store) store { return hasty{s} }), newEntries())
		require.EqualError(t, err, "broken lost an entry before its time")
	})
	t.Run("refusing", func(t *testing.T) {
		t.Parallel()
		_, err := beginExpiry(wrapped(func(s store) store { return refusing{s} }), newEntries())
		require.ErrorContains(t, err, "broken did not take the value of ")
	})
}
