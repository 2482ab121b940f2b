package seam_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/internal/seam"
)

// What the functions do is tested beside what they ask of ecs, in its tests: TestFactsOfTypes,
// TestMatchesIsWhatALoopShows, TestLooks, TestPinSince, TestLocked, TestPlaceholderIsNobody,
// TestZeroHandlesHaveNames and others.

// TestPanicsNameTheSeam: a broken contract is told by the name that its caller knows.
func TestPanicsNameTheSeam(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	number := ecs.Register[int64](w)
	q := ecs.NewQuery(w, ecs.Read(number))
	for want, call := range map[string]func(){
		"ecs: seam.ArchetypesOf: 0 archetypes for 1 entities":                             func() { seam.ArchetypesOf(w, nil, []ecs.Entity{ecs.Null}) },
		"ecs: seam.Conflicts: the access is nil":                                          func() { seam.Conflicts(new(ecs.Access), nil) },
		"ecs: seam.FactsOf: a type is nil":                                                func() { seam.FactsOf(nil) },
		"ecs: seam.Join: the access is nil":                                               func() { seam.Join(new(ecs.Access), nil) },
		"ecs: seam.MatchesArchetype: the archetype is nil or belongs to another world":    func() { seam.MatchesArchetype(q, nil) },
		"ecs: seam.Placeholder: number -1 is not in [0, 2147483648)":                      func() { seam.Placeholder(-1, 0) },
		"ecs: seam.Looks: the query is nil or the zero value; queries come from NewQuery": func() { seam.Looks(nil) },
	} {
		require.PanicsWithValue(t, want, call)
	}
	require.NotPanics(t, func() { seam.ArchetypesOf(w, nil, nil) })
}

// TestNumberIsWhatPlaceholderTook: a placeholder gives back both of its numbers.
func TestNumberIsWhatPlaceholderTook(t *testing.T) {
	for _, n := range []int{0, 1, seam.MaxPlaceholders - 1} {
		p := seam.Placeholder(n, 7)
		number, buffer := seam.Number(p)
		require.Equal(t, []any{n, uint32(7), true}, []any{number, buffer, p.IsPlaceholder()})
	}
}

// TestCallsAllocateNothing: the key and the methods behind it cost no memory.
func TestCallsAllocateNothing(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	number := ecs.Register[int64](w)
	q := ecs.NewQuery(w, ecs.Write(number), ecs.Changed(number))
	access, looks := q.Access(), seam.Looks(q)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if seam.Filters(q) && !seam.Locked(w) && !w.Shared() && seam.Conflicts(&access, &looks) {
			seam.EndBorrows(w, "test")
			seam.CheckChange(w, "test")
			seam.PinSince(q, uint32(seam.TypeIndex(w, number)))
		}
	}))
	require.Equal(t, seam.Facts{}, seam.FactsOf(number))
}
