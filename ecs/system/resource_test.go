package system_test

import (
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

type level struct{ Name string }
type input struct{ Keys map[string]bool }
type sound struct{ Volume float64 }

func TestResources(t *testing.T) {
	s := newStage(t)
	require.Nil(t, system.ResourceOf[level](s.systems))
	one := &level{Name: "one"}
	system.SetResource(s.systems, one)
	x := s.systems.Add("x", s.update())
	require.Same(t, one, system.Resource[level](x))
	require.Same(t, one, system.ReadResource[level](x))
	require.Same(t, one, system.ResourceOf[level](s.systems))
	two := &level{Name: "two"}
	system.SetResource(s.systems, two)
	require.Same(t, two, system.Resource[level](x))
	require.PanicsWithValue(t,
		"system: Resource: x: there is no resource of type system_test.input; SetResource comes before",
		func() { system.Resource[input](x) })
	system.SetResource[level](s.systems, nil)
	require.PanicsWithValue(t,
		"system: ReadResource: x: there is no resource of type system_test.level; SetResource comes before",
		func() { system.ReadResource[level](x) })
}

// Jobs that use a resource are completed before a system that may write it updates, those that
// write it before one that reads it; readers overlap.
func TestResourcesOrderJobs(t *testing.T) {
	s := newStage(t)
	_, err := ecs.NewArchetype(s.w, s.position, s.velocity, s.health).CreateN(10)
	require.NoError(t, err)
	system.SetResource(s.systems, &level{Name: "start"})
	add := func(name string, write bool, c ecs.Type, ready string) {
		s.systems.Add(name, system.Make(func(x *system.State) func() {
			l := system.ReadResource[level](x)
			if write {
				require.Same(t, l, system.Resource[level](x))
			}
			j := x.For(x.Query(ecs.Read(c)))
			body := func(*job.Ctx, ecs.Rows) {
				if write {
					l.Name = name
				}
			}
			return func() {
				require.Equal(t, ready, l.Name)
				s.note("%s:%d", name, strings.Count(s.systems.Scheduler().String(), "query"))
				j.Schedule(body)
			}
		}))
	}
	add("r1", false, s.position, "start")
	add("r2", false, s.velocity, "start")
	add("w1", true, s.health, "start")
	add("w2", true, s.position, "w1")
	add("r3", false, s.velocity, "w2")
	s.step()
	require.Equal(t, "r1:0 r2:1 w1:0 w2:0 r3:0", s.take())
	s.systems.Find("w1").Remove()
	s.systems.Find("w2").Remove()
	system.ResourceOf[level](s.systems).Name = "start"
	s.systems.Find("r3").Disable()
	s.step()
	require.Equal(t, "r1:0 r2:1", s.take())
}

// Two systems that read the same type do not wait for each other because one of them writes another
// type.
func TestReadersOverlap(t *testing.T) {
	s := newStage(t, system.Jobs(job.Workers(1)))
	ecs.NewArchetype(s.w, s.position, s.velocity).Create()
	system.SetResource(s.systems, &level{})
	system.SetResource(s.systems, &input{})
	s.systems.Add("a", system.Make(func(x *system.State) func() {
		system.Resource[input](x)
		system.ReadResource[level](x)
		j := x.For(x.Query(ecs.Read(s.position)))
		return func() { j.Schedule(func(*job.Ctx, ecs.Rows) {}) }
	}))
	b := s.systems.Add("b", system.Func(func(*system.State) {
		s.note("%v", strings.Contains(s.systems.Scheduler().String(), "\na "))
	}))
	system.ReadResource[level](b)
	s.step()
	system.ReadResource[input](b)
	s.step()
	require.Equal(t, "true false", s.take())
}

func TestAmbiguities(t *testing.T) {
	s := newStage(t)
	system.SetResource(s.systems, &input{})
	system.SetResource(s.systems, &level{})
	system.SetResource(s.systems, &sound{})
	add := func(g *system.Group, name string, f func(x *system.State), orderings ...system.Ordering) {
		g.Add(name, system.Make(func(x *system.State) func() { f(x); return func() {} }), orderings...)
	}
	sim := s.systems.Simulation()
	add(sim, "move", func(x *system.State) { x.For(x.Query(ecs.Write(s.position), ecs.Read(s.velocity))) })
	add(sim, "steer", func(x *system.State) { x.Query(ecs.Write(s.velocity)) })
	add(sim, "hurt", func(x *system.State) { x.For(x.Query(ecs.Read(s.position))).Uses(ecs.Write(s.health)) })
	add(sim, "heal", func(x *system.State) { x.Uses(ecs.Write(s.health)) }, system.After("hurt"))
	add(sim, "end", func(x *system.State) { x.Uses(ecs.Write(s.health)) }, system.After("heal"))
	add(sim, "keys", func(x *system.State) { system.Resource[input](x); system.ReadResource[input](x) })
	add(sim, "menu", func(x *system.State) { system.ReadResource[input](x); system.ReadResource[level](x) })
	add(sim, "title", func(x *system.State) { system.ReadResource[level](x) })
	add(sim, "first", func(x *system.State) { x.Uses(ecs.Write(s.health), ecs.Write(s.position)) }, system.First())
	group := system.NewGroup()
	s.systems.Add("group", group, system.After("steer"))
	add(group, "deep", func(x *system.State) { x.Uses(ecs.Write(s.velocity)) })
	add(sim, "music", func(x *system.State) { system.ReadResource[sound](x) })
	mixers := system.NewGroup()
	s.systems.Add("mixers", mixers)
	add(mixers, "left", func(x *system.State) { system.Resource[sound](x) })
	add(mixers, "right", func(x *system.State) { system.Resource[sound](x) })
	var got []string
	for _, a := range s.systems.Ambiguities() {
		got = append(got, a.String())
	}
	require.Equal(t, []string{
		"Simulation: move and steer: velocity",
		"Simulation: move and hurt: position",
		"Simulation: move and group: velocity",
		"Simulation: keys and menu: system_test.input",
		"Simulation: music and mixers: system_test.sound",
		"mixers: left and right: system_test.sound",
	}, got)
}
