package system_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

func TestBehaviour71Order(t *testing.T) {
	s := newStage(t)
	s.systems.Add("last", s.update(), system.Last())
	s.systems.Add("c", s.update(), system.After("b"))
	s.systems.Add("a", s.update(), system.Before("b"))
	s.systems.Add("b", s.update())
	s.systems.Add("first", s.update(), system.First())
	s.systems.Add("second", s.update(), system.First(), system.After("first"))
	s.systems.Add("final", s.update(), system.Last(), system.After("last"))
	s.step()
	require.Equal(t, "first second a b c last final", s.take())
	require.Empty(t, s.systems.Warnings())
	require.Equal(t, []string{"BeginSimulation", "FixedStep", "VariableRate", "first", "second", "a", "b", "c",
		"LateSimulation", "last", "final", "EndSimulation"}, names(s.systems.Simulation().Systems()))
}

// What nothing orders updates in the order of adding, in every run.
func TestBehaviour71UnconstrainedIsDeterministic(t *testing.T) {
	for range 3 {
		s := newStage(t)
		var want []string
		for i := range 40 {
			name := fmt.Sprintf("s%02d", (i*17)%40)
			s.systems.Add(name, s.update())
			want = append(want, name)
		}
		s.step()
		require.Equal(t, strings.Join(want, " "), s.take())
	}
}

// All graphs of four systems: the edge that closes a circle is refused, with a path of edges
// that are there, and changes nothing; what is added is in an order that keeps all edges.
func TestBehaviour71AllGraphsOfFour(t *testing.T) {
	const n = 4
	s := newStage(t)
	circles := 0
	for set := range 1 << (n * n) {
		if set&0b1000_0100_0010_0001 != 0 {
			continue // a system before itself is in TestMisuse
		}
		g := graph{n: n}
		group := system.NewGroup()
		s.systems.Add("group", group)
		for k := range n {
			before := g
			orderings := g.add(set, k)
			state, err := group.TryAdd(nodeName(k), s.update(), orderings...)
			require.Equal(t, g.circle(), err != nil, "set %b, system %d: %v", set, k, err)
			if err != nil {
				circles++
				require.ErrorIs(t, err, system.ErrCycle)
				require.Nil(t, state)
				g.checkPath(t, err)
				g = before
			}
		}
		g.check(t, names(group.Systems()))
		s.systems.Find("group").Remove()
	}
	require.Greater(t, circles, 1000)
}

// graph is a slow model of a group of n systems.
type graph struct {
	n     int
	added [4]bool
	edges [4][4]bool // declared by those that were added; the first comes before the second
}

func nodeName(k int) string { return string(rune('a' + k)) }

// add adds node k with the edges that it declares: of each pair, the one end those with an
// even number, the other the odd.
func (g *graph) add(set, k int) (orderings []system.Ordering) {
	g.added[k] = true
	for a := range g.n {
		for b := range g.n {
			if i := a*g.n + b; set&(1<<i) != 0 && k == a && i%2 == 0 {
				g.edges[a][b] = true
				orderings = append(orderings, system.Before(nodeName(b)))
			} else if set&(1<<i) != 0 && k == b && i%2 == 1 {
				g.edges[a][b] = true
				orderings = append(orderings, system.After(nodeName(a)))
			}
		}
	}
	return orderings
}

// edge reports whether an edge counts: both ends were added.
func (g *graph) edge(a, b int) bool { return g.edges[a][b] && g.added[a] && g.added[b] }

// circle reports whether some system comes before itself, by Warshall's closure.
func (g *graph) circle() bool {
	var reach [4][4]bool
	for a := range g.n {
		for b := range g.n {
			reach[a][b] = g.edge(a, b)
		}
	}
	for via := range g.n {
		for a := range g.n {
			for b := range g.n {
				reach[a][b] = reach[a][b] || reach[a][via] && reach[via][b]
			}
		}
	}
	return reach[0][0] || reach[1][1] || reach[2][2] || reach[3][3]
}

// checkPath looks up each edge of the path that an error prints.
func (g *graph) checkPath(t *testing.T, err error) {
	_, text, _ := strings.Cut(err.Error(), system.ErrCycle.Error()+": ")
	path := strings.Split(text, " before ")
	require.GreaterOrEqual(t, len(path), 3)
	require.Equal(t, path[0], path[len(path)-1])
	for i := range path[1:] {
		require.True(t, g.edge(int(path[i][0]-'a'), int(path[i+1][0]-'a')), "%v", err)
	}
}

// check compares an order with the edges.
func (g *graph) check(t *testing.T, order []string) {
	for a := range g.n {
		require.Equal(t, g.added[a], slices.Contains(order, nodeName(a)))
		for b := range g.n {
			if g.edge(a, b) {
				require.Less(t, slices.Index(order, nodeName(a)), slices.Index(order, nodeName(b)), "%v", order)
			}
		}
	}
}

func TestBehaviour71CyclePath(t *testing.T) {
	s := newStage(t)
	s.systems.Add("read", s.update(), system.Before("think"))
	s.systems.Add("think", s.update())
	s.systems.Add("act", s.update(), system.After("think"))
	_, err := s.systems.TryAdd("echo", s.update(), system.After("act"), system.Before("read"))
	require.EqualError(t, err,
		"system: Group.Add: echo: the order goes in a circle: read before think before act before echo before read")
	require.PanicsWithError(t, err.Error(), func() {
		s.systems.Add("echo", s.update(), system.After("act"), system.Before("read"))
	})
	s.systems.Add("echo", s.update(), system.After("act")) // the name is free
	s.step()
	require.Equal(t, "read think act echo", s.take())
}

func TestBehaviour71TargetsThatAreNotThere(t *testing.T) {
	s := newStage(t)
	late := s.systems.LateSimulation()
	late.Add("draw", s.update())
	s.systems.Add("move", s.update(), system.Before("draw", "nobody"), system.After("first", "last"))
	s.systems.Add("first", s.update(), system.First(), system.After("move"))
	s.systems.Add("last", s.update(), system.Last(), system.Before("move"))
	s.step()
	require.Equal(t, "first move last draw", strings.ReplaceAll(s.take(), "draw last", "last draw"))
	require.Equal(t, []string{
		`root/Simulation/move: Before("draw") has no effect: that one is root/Simulation/LateSimulation/draw, and order holds inside a group: order the groups`,
		`root/Simulation/move: Before("nobody") has no effect: there is no system of that name`,
		`root/Simulation/move: After("last") has no effect: move is neither First nor Last and last is Last`,
		`root/Simulation/first: After("move") has no effect: first is First and move is neither First nor Last`,
		`root/Simulation/last: Before("move") has no effect: last is Last and move is neither First nor Last`,
	}, s.systems.Warnings())
	require.Equal(t, 5, strings.Count(s.log.String(), "level=WARN"))
	s.step()
	s.systems.Add("nobody", s.update()) // from now on the order is kept
	s.step()
	require.Equal(t, 5, strings.Count(s.log.String(), "level=WARN"), "each is said once")
	require.Contains(t, s.take(), "move nobody")
}

// Any seed keeps what is declared; between them the seeds show more than one order.
func TestBehaviour71Shuffle(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newStage(t, system.Shuffle(seed))
			for _, name := range []string{"a", "b", "c", "d"} {
				s.systems.Add(name, s.update())
			}
			s.systems.Add("e", s.update(), system.After("b"), system.Before("d"))
			s.systems.Add("first", s.update(), system.First())
			s.step()
			order := s.take()
			require.True(t, strings.HasPrefix(order, "first "), order)
			require.Less(t, strings.Index(order, "b"), strings.Index(order, "e"), order)
			require.Less(t, strings.Index(order, "e"), strings.Index(order, "d"), order)
			orders[order] = true
			s.step()
			require.Equal(t, order, s.take(), "one seed, one order")
		})
	}
	require.Greater(t, len(orders), 10, "of 20")
}

// loud is a logger's handler that panics.
type loud struct{ slog.Handler }

func (loud) Handle(context.Context, slog.Record) error { panic("loud") }

// What a logger throws is an error of the group, and the order holds in the next frame.
func TestBehaviour71LoggerThatPanics(t *testing.T) {
	s := newStage(t, system.Logger(slog.New(loud{slog.NewTextHandler(io.Discard, nil)})))
	s.systems.Add("x", s.update(), system.After("nobody"))
	require.ErrorContains(t, s.systems.Step(frame), "system: Simulation: Update panicked: loud")
	s.step()
	require.Equal(t, "x", s.take())
}

// A seed draws an order for each group, so that one seed tries more than one; the default groups
// stay where they are.
func TestBehaviour71ShuffleOfGroups(t *testing.T) {
	differ := 0
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newStage(t, system.Shuffle(seed))
			var orders [2]string
			for i, name := range []string{"x", "y"} {
				g := system.NewGroup()
				s.systems.Add(name, g)
				for _, member := range []string{"a", "b", "c"} {
					g.Add(name+member, s.update())
				}
				orders[i] = strings.ReplaceAll(strings.Join(names(g.Systems()), " "), name, "")
			}
			if orders[0] != orders[1] {
				differ++
			}
			require.Equal(t, []string{"Initialization", "Simulation", "Presentation"},
				names(s.systems.Root().Systems()))
			order := names(s.systems.Simulation().Systems())
			require.Equal(t, []string{"BeginSimulation", "FixedStep", "VariableRate"}, order[:3])
			require.Equal(t, []string{"LateSimulation", "EndSimulation"}, order[5:])
		})
	}
	require.Greater(t, differ, 20, "of 40")
}

// What is added and removed in a round is in the list at once, and changes nothing for the round.
func TestBehaviour71ListInsideARound(t *testing.T) {
	s := newStage(t)
	g := system.NewGroup()
	s.systems.Add("group", g)
	g.Add("a", system.Func(func(x *system.State) {
		s.note("a")
		if s.systems.Find("new") == nil {
			g.Add("new", s.update(), system.First())
			s.systems.Find("b").Remove()
			require.Equal(t, []string{"new", "a", "c"}, names(g.Systems()))
		}
	}))
	g.Add("b", s.update())
	g.Add("c", s.update())
	s.step()
	require.Equal(t, "a c", s.take())
	s.systems.Find("c").Remove()
	require.Equal(t, []string{"new", "a"}, names(g.Systems()))
	s.step()
	require.Equal(t, "new a", s.take())
}
