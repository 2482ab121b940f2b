package main

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/host"
)

var update = flag.Bool("update", false, "write the table into docs/performance.md")

// TestPage: docs/performance.md has the table of the run that is kept; -update writes it.
func TestPage(t *testing.T) {
	r, err := read("../results/cache.json")
	require.NoError(t, err)
	require.NotEmpty(t, r.CPU)
	table, err := r.table()
	require.NoError(t, err)
	same, err := host.Put("../../docs/performance.md", "cache", r.Host.String()+":\n\n"+table, *update)
	require.NoError(t, err)
	require.True(t, same, "write it by -update")
	_, err = (&result{}).table()
	require.EqualError(t, err, `the run has no cache "quarry"`)
	_, err = read("page.go")
	require.Error(t, err)
}
