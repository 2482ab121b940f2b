package orbits

import (
	"errors"
	"fmt"
	"time"

	"quarry/bench/workload"
)

// Options are the options of Run. The zero value runs a made-up belt of 50,000 bodies.
type Options struct {
	Catalog string // file in the MPCORB format, gzipped or not; "" = a made-up belt
	Bodies  int    // of the made-up belt; 0 = 50,000
	Steps   int    // days up to AnswerDate; 0 = as many as Places take
	Places  int    // bodies times days, where Steps is 0; 0 = 20 million
	PNG     string // file to draw the last day to; "" = none
}

const (
	defaultBodies = 50_000
	defaultPlaces = 20_000_000 // about 2 seconds per side
	maxBodies     = 20_000_000 // some 2.5 GB
	beltSeed      = 1801       // the year in which Ceres was found
)

// sky is either side. Step is called once a day of the run.
type sky interface {
	Step(jd float64)
	Bodies(dst []Position) []Position
	Planets() [planetCount]Position
	Committed() int64
	Close() error
}

// Run moves the planets and all bodies day by day to AnswerDate, on the plain side and then in an
// ECS world, and checks both: the planets against their known places, bodies against the slow twin,
// and the sides against each other, bit for bit. A wrong result is not an error: OK is then false
// and Detail is the reason. An error means that the catalogue could not be read, the picture could
// not be written or memory ran out. progress may be nil; it is called after each step with the
// steps done and their total.
func Run(opts Options, progress workload.Progress) (plain, ours workload.Side, err error) {
	bodies, err := load(&opts)
	if err != nil {
		return workload.Side{}, workload.Side{}, err
	}
	r := &runner{bodies: bodies, steps: opts.Steps, progress: progress}
	plain, first, _, err := r.run(func() (sky, error) { return NewPlain(bodies) })
	if err != nil {
		return workload.Side{}, workload.Side{}, err
	}
	ours, second, planetPlaces, err := r.run(func() (sky, error) { return NewWorld(bodies) })
	if err != nil {
		return workload.Side{}, workload.Side{}, err
	}
	if err := checkSame(first, second); err != nil {
		ours.Fail(err.Error())
	}
	if opts.PNG == "" {
		return plain, ours, nil
	}
	p := Picture{JD: AnswerDate, Bodies: second, Orbits: bodies, Planets: planetPlaces}
	ours.Picture = opts.PNG
	return plain, ours, p.WritePNG(opts.PNG)
}

// load fills in the defaults and returns the bodies.
func load(opts *Options) ([]Elements, error) {
	if opts.Bodies < 0 || opts.Bodies > maxBodies {
		return nil, fmt.Errorf("orbits: expected 0 to %d bodies, got %d", maxBodies, opts.Bodies)
	}
	if opts.Steps < 0 || opts.Places < 0 {
		return nil, fmt.Errorf("orbits: expected 0 or more steps and places, got %d and %d", opts.Steps, opts.Places)
	}
	var bodies []Elements
	if opts.Catalog != "" {
		var err error
		if bodies, err = ReadMPCORB(opts.Catalog); err != nil {
			return nil, err
		}
	} else {
		if opts.Bodies == 0 {
			opts.Bodies = defaultBodies
		}
		bodies = Belt(opts.Bodies, beltSeed)
	}
	if opts.Steps == 0 {
		if opts.Places == 0 {
			opts.Places = defaultPlaces
		}
		opts.Steps = min(max(opts.Places/len(bodies), 1), 10_000)
	}
	return bodies, nil
}

type runner struct {
	bodies   []Elements
	steps    int
	progress workload.Progress
	done     int // steps, of both sides
}

// run runs one side to the end and checks it. It returns the last places.
func (r *runner) run(open func() (sky, error)) (s workload.Side, places []Position,
	at [planetCount]Position, err error) {
	s = workload.Side{OK: true, Ops: (len(r.bodies) + planetCount) * r.steps}
	stride := checkStride(len(r.bodies))
	s.Detail = fmt.Sprintf("8 planets within 2e-9 au at JD %.1f, %d bodies as the slow twin has them",
		AnswerDate, (len(r.bodies)+stride-1)/stride)
	before := workload.LiveHeap()
	start := time.Now()
	side, err := open()
	s.Time += time.Since(start)
	if err != nil {
		return s, nil, at, err
	}
	defer func() { err = errors.Join(err, side.Close()) }()
	for left := r.steps - 1; left >= 0; left-- {
		start := time.Now()
		side.Step(AnswerDate - float64(left))
		s.Time += time.Since(start)
		r.done++
		if r.progress != nil {
			r.progress(r.done, 2*r.steps)
		}
	}
	s.Heap, s.Committed = workload.LiveHeap()-before, side.Committed()
	places, at = side.Bodies(nil), side.Planets()
	if err := errors.Join(checkPlanets(at), checkBodies(r.bodies, places, AnswerDate)); err != nil {
		s.Fail(err.Error())
	}
	distance := 0.0
	for _, p := range places {
		distance += p.R()
	}
	distance /= float64(len(places))
	s.Figures = map[string]float64{
		"bodies": float64(len(places)), "steps": float64(r.steps), "mean_distance": distance,
	}
	s.Lines = []string{fmt.Sprintf("%d bodies and 8 planets, %d days to %s: mean distance %.6f au",
		len(places), r.steps, Date(AnswerDate), distance)}
	return s, places, at, nil
}
