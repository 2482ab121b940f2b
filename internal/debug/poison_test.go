package debug_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/debug"
)

func TestPoisonFillsExactly(t *testing.T) {
	for n := range 70 {
		b := bytes.Repeat([]byte{1}, n+2)
		debug.Poison(b[1:n+1], debug.Freed)
		require.Equal(t, bytes.Repeat([]byte{debug.Freed}, n), b[1:n+1])
		require.Equal(t, []byte{1, 1}, []byte{b[0], b[n+1]})
	}
}
