package system_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
	"quarry/ecs/system"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

type tagA struct{}
type tagB struct{}

// versions is a world of four entities, each in a chunk of its own, with systems that write
// them in every way there is and systems that ask what changed; the model is a clock of events.
type versions struct {
	*stage
	rng      *rand.Rand
	entities [4]ecs.Entity
	tagged   [4][]int // entities by the tags that a query asks for
	tags     [4][]ecs.Term
	clock    int // counts events
	wrote    [4]int
	asked    []*asked
	sets     []int // entities that commands set, for the point
}

// asked is one question, and what a loop or a job answered.
type asked struct {
	sync.Mutex
	by         string
	want, seen []int
}

func newVersions(t *testing.T, seed uint64) *versions {
	v := &versions{stage: newStage(t), rng: rand.New(rand.NewPCG(seed, 2)), clock: 1, wrote: [4]int{1, 1, 1, 1}}
	a, b := ecs.Register[tagA](v.w), ecs.Register[tagB](v.w)
	for i, types := range [][]ecs.Type{{v.health}, {v.health, a}, {v.health, b}, {v.health, a, b}} {
		v.entities[i] = ecs.NewArchetype(v.w, types...).Create()
	}
	v.tags = [4][]ecs.Term{{}, {ecs.With(a)}, {ecs.With(b)}, {ecs.With(a), ecs.Without(b)}}
	v.tagged = [4][]int{{0, 1, 2, 3}, {1, 3}, {2, 3}, {1}}
	return v
}

// write notes that entities were written now.
func (v *versions) write(entities ...int) {
	v.clock++
	for _, i := range entities {
		v.wrote[i] = v.clock
	}
}

// member is a system, and when it last ran.
type member struct {
	v    *versions
	name string
	last int
}

// ask notes what a query with Changed must show now.
func (m *member) ask() *asked {
	a := &asked{by: m.name}
	for i, at := range m.v.wrote {
		if at > m.last {
			a.want = append(a.want, i)
		}
	}
	m.v.asked = append(m.v.asked, a)
	return a
}

// saw notes rows that a query showed.
func (a *asked) saw(v *versions, rows ecs.Rows) {
	a.Lock()
	defer a.Unlock()
	for _, e := range rows.Entities() {
		a.seen = append(a.seen, slices.Index(v.entities[:], e))
	}
}

// ended ends a turn; sometimes by a panic, which the system does not count as having run.
func (m *member) ended() {
	if m.v.rng.IntN(12) == 0 {
		panic(errRefused)
	}
	m.last = m.v.clock
	m.v.clock++
}

// kinds are the ways to write and to ask.
func (v *versions) kinds(m *member) []func(x *system.State) func() {
	changed := func(x *system.State, term ecs.Term) *ecs.Query { return x.Query(term, ecs.Changed(v.health)) }
	return []func(x *system.State) func(){
		func(x *system.State) func() { // a loop that asks, often twice
			q := changed(x, ecs.Read(v.health))
			return func() {
				for range 1 + v.rng.IntN(2) {
					a := m.ask()
					for rows := range q.Rows() {
						a.saw(v, rows)
					}
				}
			}
		},
		func(x *system.State) func() { // a job that asks
			j := x.For(changed(x, ecs.Read(v.health)))
			var a *asked
			body := func(_ *job.Ctx, rows ecs.Rows) { a.saw(v, rows) }
			return func() { a = m.ask(); j.Parallel(body) }
		},
		func(x *system.State) func() { // a loop that asks and writes what it finds
			q := changed(x, ecs.Write(v.health))
			return func() {
				a := m.ask()
				for rows := range q.Rows() {
					a.saw(v, rows)
					v.health.Slice(rows)[0].Points++
				}
				v.write(a.want...)
			}
		},
		func(x *system.State) func() { // what is required has changed
			q := changed(x, ecs.Read(v.health))
			x.Require(q)
			return func() {
				if len(m.ask().want) == 0 {
					panic("it was not to update")
				}
				v.asked = v.asked[:len(v.asked)-1]
			}
		},
		func(x *system.State) func() { // by entity
			x.Uses(ecs.Write(v.health))
			return func() {
				i := v.rng.IntN(4)
				v.health.Set(v.entities[i], health{1})
				v.write(i)
			}
		},
		func(x *system.State) func() { // a loop or a job over some
			k := v.rng.IntN(4)
			terms := append([]ecs.Term{ecs.Write(v.health)}, v.tags[k]...)
			q, j := x.Query(terms...), x.For(x.Query(terms...))
			body := func(_ *job.Ctx, rows ecs.Rows) { v.health.Slice(rows)[0].Points++ }
			return func() {
				if v.rng.IntN(2) == 0 {
					j.Parallel(body)
				} else {
					for rows := range q.Rows() {
						v.health.Slice(rows)[0].Points++
					}
				}
				v.write(v.tagged[k]...)
			}
		},
		func(x *system.State) func() { // by command
			return func() {
				i := v.rng.IntN(4)
				command.Set(x.Commands(v.systems.EndSimulation()), v.entities[i], v.health, health{2})
				v.sets = append(v.sets, i)
			}
		},
	}
}

// add adds a system of a drawn kind.
func (v *versions) add(group *system.Group, n int) {
	m := &member{v: v}
	kind := v.rng.IntN(7)
	m.name = fmt.Sprint("s", n, " of kind ", kind)
	group.Add(m.name, system.Make(func(x *system.State) func() {
		update := v.kinds(m)[kind](x)
		return func() { update(); m.ended() }
	}))
}

// frames runs some frames, with writes between them, and systems that come, go and pause.
func (v *versions) frames(t *testing.T, frames int) (questions int) {
	groups := []*system.Group{v.systems.Simulation(), v.systems.FixedStep(), v.systems.LateSimulation()}
	v.systems.Presentation().Add("played", system.Func(func(*system.State) {
		v.write(v.sets...) // behind the point, and before who asks in this group
		v.sets = v.sets[:0]
	}))
	groups = append(groups, v.systems.Presentation())
	n := 0
	for range frames {
		if states := groups[v.rng.IntN(4)].Systems(); len(states) > 0 {
			switch x := states[v.rng.IntN(len(states))]; {
			case n < 8 || v.rng.IntN(3) == 0:
				n++
				v.add(groups[v.rng.IntN(4)], n)
			case x.Name()[0] != 's':
			case v.rng.IntN(4) == 0:
				x.Remove()
			case x.Enabled():
				x.Disable()
			default:
				x.Enable()
			}
		}
		if i := v.rng.IntN(8); i < 4 {
			v.health.Set(v.entities[i], health{3})
			v.write(i)
		}
		err := v.systems.Step(time.Duration(v.rng.IntN(3)) * frame)
		require.NotErrorIs(t, err, ecs.ErrNotSingle)
		var failed *system.PanicError
		if errors.As(err, &failed) {
			require.Equal(t, errRefused, failed.Value, "%v", err)
		}
		for _, a := range v.asked {
			slices.Sort(a.seen)
			require.Equal(t, a.want, a.seen, a.by)
		}
		questions += len(v.asked)
		v.asked = v.asked[:0]
	}
	return questions
}

// TestStreamOfVersions asks what changed of everything that writes, in any order and at any pace.
func TestStreamOfVersions(t *testing.T) {
	seeds, questions := uint64(long.N(15, 100)), 0 // hundreds of questions each
	for seed := range seeds {
		if !t.Run(fmt.Sprint("seed", seed), func(t *testing.T) { questions += newVersions(t, seed).frames(t, 60) }) {
			break
		}
	}
	t.Logf("%d streams, %d questions", seeds, questions)
}
