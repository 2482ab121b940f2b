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
	r, err := read("../results/server.json")
	require.NoError(t, err)
	require.NotEmpty(t, r.CPU)
	same, err := host.Put("../../docs/performance.md", "server", r.Host.String()+":\n\n"+r.table(), *update)
	require.NoError(t, err)
	require.True(t, same, "write it by -update")
	_, err = read("page.go")
	require.Error(t, err)
}
