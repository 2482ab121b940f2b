package ecs_test

import (
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// requireSame requires the same entities in whatever order. It sorts them: ElementsMatch, which
// compares each with each, took half of the time of all tests.
func requireSame(t *testing.T, want, got []ecs.Entity, text ...any) {
	t.Helper()
	want, got = slices.Clone(want), slices.Clone(got)
	slices.SortFunc(want, ecs.Entity.Compare)
	slices.SortFunc(got, ecs.Entity.Compare)
	require.True(t, slices.Equal(want, got), append([]any{"want %v\ngot %v", want, got}, text...)...)
}

// checkFailures is alloc.CheckEveryFailure. Its short form refuses one request in seven, alone and
// with all after it: what a call of many requests leaves behind is still seen in several places,
// though not in each.
func checkFailures(f func(*alloc.Failures) error) error {
	if long.On() {
		return alloc.CheckEveryFailure(f)
	}
	runs := 0 // the first refuses nothing, and then there are two for each request
	return alloc.CheckEveryFailure(func(s *alloc.Failures) error {
		if runs++; runs > 1 && runs/2%7 != 1 {
			return nil
		}
		return f(s)
	})
}

// stepsOf returns how many steps a stream of operations has. A fifth of them, the short form, still
// does each operation in worlds of hundreds of entities.
func stepsOf(n int) int { return long.N(n/5, n) }
