package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPicture: docs/examples.md has the pictures; of the island there is what is near the traveler,
// and the edit of a letter brings a house.
func TestPicture(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out))
	houses := strings.Split(out.String(), "the traveler")
	require.Len(t, houses, 5)
	require.Equal(t, strings.Count(houses[3], "H")+1, strings.Count(houses[4], "H"))
	page, err := os.ReadFile("../../../docs/examples.md")
	if os.IsNotExist(err) {
		t.Skip("the source is not in the working directory: ", err)
	}
	require.NoError(t, err)
	require.Contains(t, string(page), out.String())
}
