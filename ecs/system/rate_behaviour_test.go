package system_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// clocked is a stage whose clock is moved by hand, with one system in a group of a rate.
type clocked struct {
	*stage
	now   time.Time
	group *system.Group
	times []system.Time
}

func newClocked(t *testing.T, rate system.Rate, options ...system.Option) *clocked {
	c := &clocked{now: time.Unix(1000, 0)}
	c.stage = newStage(t, append(options, system.Clock(func() time.Time { return c.now }))...)
	c.group = system.NewGroup()
	c.systems.Add("group", c.group)
	c.group.SetRate(rate)
	c.group.Add("s", system.Func(func(x *system.State) { c.times = append(c.times, x.Time()) }))
	return c
}

// pass moves the clock and updates, and returns how many rounds there were.
func (c *clocked) pass(d time.Duration) int {
	c.now = c.now.Add(d)
	c.times = c.times[:0]
	require.NoError(c.t, c.systems.Update())
	return len(c.times)
}

const ms = time.Millisecond

func TestBehaviour71FixedStep(t *testing.T) {
	fixed := system.NewFixed(10*ms, 5)
	c := newClocked(t, fixed, system.MaxDelta(time.Hour))
	require.Equal(t, 1, c.pass(0), "the first is due at time 0")
	require.Equal(t, []system.Time{{Elapsed: 10 * ms, Delta: 10 * ms, Frame: 1}}, c.times)
	require.Equal(t, 10*ms, fixed.Ahead())
	require.Equal(t, 0, c.pass(0))
	require.Equal(t, 0, c.pass(1), "a nanosecond")
	require.Equal(t, 0, c.pass(10*ms-1))
	require.Equal(t, time.Duration(0), fixed.Ahead())
	require.Equal(t, 1, c.pass(1))
	require.Equal(t, 10*ms-1, fixed.Ahead())
	require.Equal(t, []system.Time{{Elapsed: 20 * ms, Delta: 10 * ms, Frame: 5}}, c.times)
	require.Equal(t, 3, c.pass(30*ms))
	require.Equal(t, []system.Time{{30 * ms, 10 * ms, 6}, {40 * ms, 10 * ms, 6}, {50 * ms, 10 * ms, 6}}, c.times)
	require.Equal(t, 40*ms+1, c.systems.Time().Elapsed)

	require.Equal(t, 5, c.pass(time.Second), "at most")
	require.Equal(t, time.Second+40*ms+1-100*ms, fixed.Dropped())
	require.Equal(t, time.Duration(0), fixed.Ahead(), "the last round is at the frame")
	require.Equal(t, 1, c.pass(1), "what was dropped does not come again")
	require.Equal(t, 110*ms, c.times[0].Elapsed, "and the time of the steps has no gap")
	require.Equal(t, 1, c.pass(10*ms))
}

// However the frames fall, the steps so far are those that have begun, and one at least.
func TestBehaviour71FixedStepModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 50 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			step := time.Duration(1 + r.IntN(1000))
			c := newClocked(t, system.NewFixed(step, 1<<30), system.MaxDelta(time.Hour))
			steps := 0
			for i := range 30 {
				d := time.Duration(r.IntN(3000))
				if i == 0 {
					d = 0 // the first update only reads the clock
				}
				steps += c.pass(d)
				elapsed := c.systems.Time().Elapsed
				require.Equal(t, max(1, int((elapsed+step-1)/step)), steps)
			}
		})
	}
}

func TestBehaviour71VariableRate(t *testing.T) {
	c := newClocked(t, system.NewVariable(50*ms, 200*ms), system.MaxDelta(time.Hour))
	require.Equal(t, 1, c.pass(0))
	require.Equal(t, time.Duration(0), c.times[0].Delta)
	require.Equal(t, 0, c.pass(49*ms))
	require.Equal(t, 1, c.pass(11*ms))
	require.Equal(t, []system.Time{{Elapsed: 60 * ms, Delta: 60 * ms, Frame: 3}}, c.times)
	require.Equal(t, 0, c.pass(49*ms))
	require.Equal(t, 1, c.pass(time.Second))
	require.Equal(t, 200*ms, c.times[0].Delta, "at most")
	require.Equal(t, 0, c.pass(0))
	require.Equal(t, 1, c.pass(50*ms))
	require.Equal(t, 0, c.pass(49*ms))
}

// The clock is the program's; late frames count for MaxDelta, and it does not go back.
func TestBehaviour71Clock(t *testing.T) {
	c := newClocked(t, nil, system.MaxDelta(100*ms))
	c.pass(time.Hour)
	require.Equal(t, []system.Time{{Frame: 1}}, c.times, "the first frame takes no time")
	c.pass(30 * ms)
	require.Equal(t, []system.Time{{30 * ms, 30 * ms, 2}}, c.times)
	c.pass(time.Second)
	require.Equal(t, []system.Time{{130 * ms, 100 * ms, 3}}, c.times)
	c.pass(-time.Minute)
	require.Equal(t, []system.Time{{130 * ms, 0, 4}}, c.times)
	c.pass(10 * ms)
	require.Equal(t, []system.Time{{140 * ms, 10 * ms, 5}}, c.times)
	require.InDelta(t, 0.01, c.times[0].Seconds(), 1e-12)
}

func TestBehaviour71DefaultRates(t *testing.T) {
	s := newStage(t)
	s.systems.FixedStep().Add("fixed", s.update())
	s.systems.VariableRate().Add("variable", s.update())
	fixed, variable := 0, 0
	count := func(dt time.Duration) {
		require.NoError(t, s.systems.Step(dt))
		for _, name := range s.seen {
			fixed += map[string]int{"fixed": 1}[name]
			variable += map[string]int{"variable": 1}[name]
		}
		s.take()
	}
	for range 600 {
		count(frame)
	}
	require.Equal(t, 600, fixed, "one a frame")
	require.Equal(t, 150, variable, "66 ms are four frames")
	count(time.Minute)
	require.Equal(t, 620, fixed, "20 at most")
}

// A group inside one that has a rate sees that one's time.
func TestBehaviour71RateInsideARate(t *testing.T) {
	c := newClocked(t, system.NewFixed(10*ms, 100))
	inner := system.NewGroup()
	c.group.Add("inner", inner)
	inner.SetRate(system.NewVariable(30*ms, time.Second))
	var times []system.Time
	inner.Add("t", system.Func(func(x *system.State) { times = append(times, x.Time()) }))
	require.NoError(t, c.systems.Step(100*ms))
	require.Len(t, c.times, 10)
	require.Equal(t, []system.Time{
		{10 * ms, 10 * ms, 1}, {40 * ms, 30 * ms, 1}, {70 * ms, 30 * ms, 1}, {100 * ms, 30 * ms, 1},
	}, times)
}

// Frames by Step do not count for the clock: the first Update takes no time.
func TestBehaviour71UpdateAfterStep(t *testing.T) {
	c := newClocked(t, nil)
	require.NoError(t, c.systems.Step(frame))
	c.pass(time.Hour)
	require.Equal(t, []system.Time{{frame, 0, 2}}, c.times)
}

// substeps is a group whose update is replaced.
type substeps struct {
	*system.Group
	n int
}

func (g *substeps) Update(s *system.State) {
	for range g.n {
		g.Group.Update(s)
	}
}

func TestBehaviour71ReplacedUpdate(t *testing.T) {
	s := newStage(t)
	g := &substeps{Group: system.NewGroup(), n: 3}
	s.systems.Add("substeps", g)
	g.Add("a", s.update())
	g.Add("b", s.update(), system.Before("a"))
	s.step()
	require.Equal(t, "b a b a b a", s.take())
	g.n = 0
	s.step()
	require.Empty(t, s.take())
}

// A rate begins with the group, however late that comes: there is nothing to catch up with.
func TestBehaviour71RatesThatBeginLate(t *testing.T) {
	s := newStage(t)
	const ms = time.Millisecond
	for range 100 {
		require.NoError(t, s.systems.Step(10*ms))
	}
	var fixed, variable []system.Time
	note := func(name string, rate system.Rate, times *[]system.Time) {
		group := system.NewGroup()
		s.systems.Add(name, group)
		group.SetRate(rate)
		group.Add("in "+name, system.Func(func(x *system.State) { *times = append(*times, x.Time()) }))
	}
	note("fixed", system.NewFixed(5*ms, 20), &fixed)
	note("variable", system.NewVariable(15*ms, 300*ms), &variable)
	for range 3 {
		require.NoError(t, s.systems.Step(10*ms))
	}
	require.Equal(t, system.Time{Elapsed: 1005 * ms, Delta: 5 * ms, Frame: 101}, fixed[0])
	require.Equal(t, system.Time{Elapsed: 1030 * ms, Delta: 5 * ms, Frame: 103}, fixed[5])
	require.Len(t, fixed, 6)
	require.Equal(t, []system.Time{
		{Elapsed: 1010 * ms, Delta: 10 * ms, Frame: 101}, {Elapsed: 1030 * ms, Delta: 20 * ms, Frame: 103},
	}, variable)
}

// A rate that is set in a round holds from the next frame on.
func TestBehaviour71RateSetInARound(t *testing.T) {
	s := newStage(t)
	group := s.systems.FixedStep()
	rates := []system.Rate{system.NewFixed(frame, 20), nil}
	group.Add("x", system.Func(func(x *system.State) {
		s.note("%d", x.Time().Frame)
		if n := x.Time().Frame; n <= 2 {
			group.SetRate(rates[n-1])
		}
	}))
	for range 3 {
		require.NoError(t, s.systems.Step(3*frame))
	}
	require.Equal(t, "1 1 1 2 2 2 3", s.take())
}

// A clock may begin anywhere, at the zero time too.
func TestClockThatBeginsAtZero(t *testing.T) {
	var now time.Time
	s := newStage(t, system.Clock(func() time.Time { return now }))
	require.NoError(t, s.systems.Update())
	now = now.Add(frame)
	require.NoError(t, s.systems.Update())
	require.Equal(t, system.Time{Elapsed: frame, Delta: frame, Frame: 2}, s.systems.Time())
}
