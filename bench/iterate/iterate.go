package iterate

import (
	"fmt"
	"slices"
	"time"

	"quarry/bench/curve"
	"quarry/bench/workload"
	"quarry/ecs"
	"quarry/internal/debug"
)

// Position and Velocity are the components, as in the peers' benchmarks.
type (
	Position struct{ X, Y float64 }
	Velocity struct{ X, Y float64 }
)

const (
	entities = 16_000
	dt       = 1.0 / 64
	rounds   = 61 // odd, so that one is in the middle
	warm     = 3  // rounds that are not counted
)

// passes is how often a round goes over all entities: about 4 ms per side. Debug and race builds,
// which measure nothing, do a twentieth.
var passes = func() int {
	if debug.On {
		return 20
	}
	return 400
}()

// velocityOf gives body i its velocity: small whole numbers, so that all sums
// are exact.
func velocityOf(i int) Velocity { return Velocity{float64(i%7 + 1), float64(i%5 - 2)} }

// Run measures both sides. The figures of ours are ratio, the median of the rounds' ratios
// ours/plain, and for both sides ns_per_op of the median round.
func Run(progress workload.Progress) (plain, ours workload.Side, err error) {
	before := workload.LiveHeap()
	p, v := make([]Position, entities), make([]Velocity, entities)
	for i := range v {
		v[i] = velocityOf(i)
	}
	plain.Heap = workload.LiveHeap() - before
	s, err := newScene()
	if err != nil {
		return plain, ours, err
	}
	defer func() {
		if e := s.w.Close(); err == nil {
			err = e
		}
	}()
	ours.Heap = workload.LiveHeap() - before - plain.Heap
	ours.Committed = int64(s.w.Universe().Stats().Committed)

	var plainNs, oursNs, ratios []float64
	for round := range warm + rounds {
		a := timed(func() { stepSlices(p, v) })
		b := timed(s.step)
		if round >= warm {
			plainNs, oursNs = append(plainNs, a), append(oursNs, b)
			ratios = append(ratios, b/a)
			plain.Time += time.Duration(a * float64(entities*passes))
			ours.Time += time.Duration(b * float64(entities*passes))
		}
		if progress != nil {
			progress(round+1, warm+rounds)
		}
	}
	plain.Ops, ours.Ops = rounds*passes*entities, rounds*passes*entities
	plain.Figures = map[string]float64{"median_ns": middle(plainNs)}
	ours.Figures = map[string]float64{"median_ns": middle(oursNs), "ratio": middle(ratios)}
	ours.Lines = []string{fmt.Sprintf("%d entities, %d rounds of %d passes in turn: %.3f ns an entity by Rows and Slice, %.3f over Go slices, ratio %.3f",
		entities, rounds, passes, middle(oursNs), middle(plainNs), middle(ratios))}
	ours.Drawings = []workload.Drawing{drawing(plainNs, oursNs)}
	check(&plain, func(i int) Position { return p[i] })
	check(&ours, s.place)
	return plain, ours, nil
}

// drawing shows the rounds one by one.
func drawing(plainNs, oursNs []float64) workload.Drawing {
	var round []float64
	for i := range plainNs {
		round = append(round, float64(i+1))
	}
	return workload.Drawing{Table: curve.Table{
		Name: "Rounds", What: fmt.Sprintf("Each side's mean over %d passes, in turns.", passes),
		XLabel: "round", YLabel: "ns per entity",
		Series: []curve.Series{
			{Name: "slices", Roof: true, X: round, Y: plainNs}, {Name: "quarry", X: round, Y: oursNs},
		},
	}}
}

// timed returns nanoseconds per entity of passes calls.
func timed(step func()) float64 {
	start := time.Now()
	for range passes {
		step()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(entities*passes)
}

// stepSlices is the plain side.
func stepSlices(p []Position, v []Velocity) {
	v = v[:len(p)]
	for i := range p {
		p[i].X += v[i].X * dt
		p[i].Y += v[i].Y * dt
	}
}

// scene is our side.
type scene struct {
	w        *ecs.World
	position ecs.Component[Position]
	velocity ecs.Component[Velocity]
	movers   *ecs.Query
	ids      []ecs.Entity
}

func newScene() (*scene, error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return nil, err
	}
	s := &scene{w: w, position: ecs.Register[Position](w), velocity: ecs.Register[Velocity](w)}
	s.movers = ecs.NewQuery(w, ecs.Write(s.position), ecs.Read(s.velocity))
	batch, err := ecs.NewArchetype(w, s.position, s.velocity).CreateN(entities, ecs.Uninitialized(s.velocity))
	if err != nil {
		return nil, err
	}
	for rows := range batch.Rows() {
		v := s.velocity.Slice(rows)
		for i, e := range rows.Entities() {
			v[i] = velocityOf(len(s.ids))
			s.ids = append(s.ids, e)
		}
	}
	return s, nil
}

func (s *scene) step() {
	for rows := range s.movers.Rows() {
		p, v := s.position.Slice(rows), s.velocity.Slice(rows)
		v = v[:len(p)]
		for i := range p {
			p[i].X += v[i].X * dt
			p[i].Y += v[i].Y * dt
		}
	}
}

func (s *scene) place(i int) Position { return *s.position.Get(s.ids[i]) }

// check compares every place with the known answer.
func check(s *workload.Side, place func(i int) Position) {
	s.OK, s.Detail = true, "all places exact"
	steps := float64((warm + rounds) * passes)
	for i := range entities {
		v := velocityOf(i)
		want := Position{v.X * dt * steps, v.Y * dt * steps}
		if got := place(i); got != want {
			s.Fail(fmt.Sprintf("entity %d is at %v, want %v", i, got, want))
			return
		}
	}
}

func middle(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
