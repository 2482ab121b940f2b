package ecstest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// PanicText returns what f panics with, as text, or "".
func PanicText(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// RequirePanic requires that f panics with a text that contains want.
func RequirePanic(t testing.TB, want string, f func()) {
	t.Helper()
	require.Contains(t, PanicText(f), want)
}

// RequirePanicText requires that f panics with a text, or with an error that has it.
func RequirePanicText(t testing.TB, want string, f func()) {
	t.Helper()
	require.Equal(t, want, PanicText(f))
}
