package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOneCopy runs a made-up library whose one copy reads from a variable which memory to take, and
// which imports a module of the checkout beside the root module.
func TestOneCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a module")
	}
	checkout, err := checkoutDir(t.Context())
	require.NoError(t, err)
	s, err := newScratch(t.Context(), "", makeModule(t), checkout, []edit{
		{path: "memory.go", old: "return make([]byte, n)", text: "return memory(n)"},
		{path: "ours.go", text: `package shelf

import (
	"os"

	"quarry/alloc"
	"quarry/arrowalloc"
)

func memory(n int) []byte {
	if os.Getenv("SIDE") == "" {
		return make([]byte, n)
	}
	return arrowalloc.New(alloc.NewPages()).Allocate(n)[:min(n, 4)]
}
`},
	}, "arrowalloc")
	require.NoError(t, err)
	defer func() { require.NoError(t, s.remove()) }()
	own := s.own
	require.NoError(t, s.share())
	require.NoDirExists(t, own)
	require.Equal(t, s.ours, s.own)
	o := &options{
		trial:   &trial{module: "made.test/shelf", groups: []group{{packages: []string{"."}}}, variable: "SIDE"},
		timeout: time.Minute,
		stderr:  t.Output(),
	}
	var out bytes.Buffer
	same, err := o.compare(t.Context(), s, &out)
	require.NoError(t, err)
	require.False(t, same)
	require.Contains(t, out.String(), "(top): TestLarge: own pass, ours skip")
	require.NotContains(t, out.String(), "TestZero")
}

// TestSides: the switch of a copy from one memory to the other.
func TestSides(t *testing.T) {
	o := &options{trial: arrow}
	require.Equal(t, []string{"QUARRY_OTHERS="}, o.side(""))
	require.Equal(t, []string{"QUARRY_OTHERS=heap"}, o.side(o.memory()))
	o.guard = true
	require.Equal(t, []string{"QUARRY_OTHERS=guard"}, o.side(o.memory()))
	o.trial = pebble
	require.Empty(t, o.side(o.memory()))
}
