package child

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// order is what the tests request from a child.
type order struct{ A, B int }

// TestMain lets the test binary be its own child.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == Flag {
		os.Exit(Serve(os.Args[2], os.Stdout, os.Stderr, divide))
	}
	os.Exit(m.Run())
}

func divide(o order) (float64, error) {
	switch {
	case o.A < 0:
		time.Sleep(time.Minute)
	case o.B < 0:
		fmt.Println("no number")
	case o.B == 0:
		return 0, errors.New("by zero\nand so on")
	}
	return float64(o.A) / float64(o.B), nil
}

func TestStart(t *testing.T) {
	got, err := Start[order, float64](order{7, 2}, time.Minute)
	require.NoError(t, err)
	require.Equal(t, 3.5, got)
	_, err = Start[order, float64](order{7, 0}, time.Minute)
	require.EqualError(t, err, "exit status 2: by zero")
	_, err = Start[order, float64](order{7, -1}, time.Minute)
	require.ErrorContains(t, err, "the child printed no answer: ")
	_, err = Start[order, float64](order{-1, 0}, 100*time.Millisecond)
	require.ErrorContains(t, err, "not done after 100ms: ")
}

func TestServe(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, Failed, Serve("nonsense", &out, &errs, divide))
	require.Contains(t, errs.String(), "invalid character")
	require.Empty(t, out.String())
	require.Zero(t, Serve(`{"A":1,"B":4}`, &out, &errs, divide))
	require.Equal(t, "0.25\n", out.String())
}
