package system_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// Ten thousand systems in one group, each after the one before it: adding one does not look at all.
func TestTenThousandSystems(t *testing.T) {
	const n = 10_000
	s := newStage(t)
	sum := 0
	began := time.Now()
	for i := range n {
		s.systems.Add(fmt.Sprint(i), system.Func(func(*system.State) {
			if i == sum {
				sum++
			}
		}), system.After(fmt.Sprint(i-1)))
	}
	require.Less(t, time.Since(began), 5*time.Second, "some 40 ms; 30 s when each looks for circles among all")
	s.step()
	require.Equal(t, n, sum)
	_, err := s.systems.TryAdd("-1", s.update(), system.After(fmt.Sprint(n-1)))
	require.ErrorIs(t, err, system.ErrCycle)
	for i := range n / 2 {
		s.systems.Find(fmt.Sprint(2 * i)).Remove()
	}
	sum = 0
	s.step()
	require.Zero(t, sum)
}

// Groups inside each other 200 deep, with a thousand points.
func TestDeepGroupsAndManyPoints(t *testing.T) {
	s := newStage(t)
	group := s.systems.Simulation()
	for i := range 200 {
		inner := system.NewGroup()
		group.Add(fmt.Sprint("group", i), inner)
		group = inner
	}
	a := ecs.NewArchetype(s.w, s.health)
	var points []*system.Point
	group.Add("records", system.Func(func(x *system.State) {
		for _, p := range points {
			x.Commands(p).Create(a)
		}
	}))
	for i := range 1000 {
		p := system.NewPoint()
		points = append(points, p)
		s.systems.Add(fmt.Sprint("point", i), p)
	}
	s.step()
	require.Equal(t, 1000, a.Len(), "the points come behind the groups, which were added first")
	timings := s.systems.Timings()
	deepest := 0
	for _, x := range timings {
		deepest = max(deepest, x.Depth)
	}
	require.Equal(t, 202, deepest)
	s.systems.Find("group0").Remove()
	s.step()
	require.Equal(t, 1000, a.Len())
}

// TestAChainOfGroups: what is done with a group does not grow with the number of groups around it.
// With a walk of those in each call of Add, 100,000 took 28 s to 2 minutes.
func TestAChainOfGroups(t *testing.T) {
	n := 10_000
	if os.Getenv("QUARRY_LONG") != "" {
		n = 100_000
	}
	s := newStage(t)
	var groups []*system.Group
	group := s.systems.Simulation()
	depth := group.State().Timing().Depth
	for i := range n {
		inner := system.NewGroup()
		group.Add(fmt.Sprint("group", i), inner)
		group, groups = inner, append(groups, inner)
	}
	updates := 0
	group.Add("innermost", system.Func(func(*system.State) { updates++ }))
	s.step()
	require.Equal(t, 1, updates)
	timings := s.systems.Timings()
	deepest := 0
	for _, x := range timings {
		deepest = max(deepest, x.Depth)
	}
	require.Equal(t, depth+n+1, deepest)
	require.Panics(t, func() { group.Add("again", groups[n/2]) }, "it is inside itself")
	require.Panics(t, func() { groups[5].Add("again", groups[9]) }, "it is added twice")
	groups[100].State().Remove()
	s.step()
	require.Equal(t, 1, updates)
	groups[99].Add("innermost", system.Func(func(*system.State) { updates++ }))
	s.step()
	require.Equal(t, 2, updates)
}
