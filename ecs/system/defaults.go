package system

import "time"

const (
	fixedStep       = time.Second / 60
	variableStep    = 66 * time.Millisecond
	mostFixedSteps  = 20 // a third of a second
	defaultMaxDelta = time.Second / 3
)

// simulationName is the name of the group that systems are in unless another is named.
const simulationName = "Simulation"

// addDefaults makes the root, the default groups and the default points.
func (y *Systems) addDefaults() {
	y.root = NewGroup()
	root := &State{y: y, name: "root", system: y.root, within: y.root, labels: y.base}
	root.timing.System = root.name
	y.root.state, y.named[root.name] = root, root
	y.states = append(y.states, root)

	d := &y.defaults
	group := func(in *Group, name string, orderings ...Ordering) *Group {
		g := NewGroup()
		in.Add(name, g, orderings...)
		return g
	}
	point := func(i int, in *Group, name string, b bucket) {
		d.points[i] = NewPoint()
		in.Add(name, d.points[i], Ordering{bucket: b})
	}
	d.initialization = group(y.root, "Initialization")
	d.simulation = group(y.root, simulationName, After("Initialization"))
	d.presentation = group(y.root, "Presentation", After("Simulation"))
	point(0, d.initialization, "BeginInitialization", bucketOpens)
	point(1, d.initialization, "EndInitialization", bucketCloses)
	point(2, d.simulation, "BeginSimulation", bucketOpens)
	d.fixed = group(d.simulation, "FixedStep", First())
	d.variable = group(d.simulation, "VariableRate", First(), After("FixedStep"))
	d.late = group(d.simulation, "LateSimulation", Last())
	point(3, d.simulation, "EndSimulation", bucketCloses)
	point(4, d.presentation, "BeginPresentation", bucketOpens)
	d.fixed.SetRate(NewFixed(fixedStep, mostFixedSteps))
	d.variable.SetRate(NewVariable(variableStep, defaultMaxDelta))
}

// isDefault reports whether a system is one of the defaults.
func (y *Systems) isDefault(s *State) bool {
	d := &y.defaults
	switch s.within {
	case nil:
	case y.root, d.initialization, d.simulation, d.presentation, d.fixed, d.variable, d.late:
		return true
	}
	for _, p := range d.points {
		if s.system == System(p) {
			return true
		}
	}
	return false
}

// Root returns the group that a frame updates. It contains Initialization, Simulation,
// Presentation, and systems added to it.
func (s *Systems) Root() *Group { return s.root }

// Initialization returns the first group of a frame.
func (s *Systems) Initialization() *Group { return s.defaults.initialization }

// Simulation returns the second group of a frame, to which Systems.Add adds.
func (s *Systems) Simulation() *Group { return s.defaults.simulation }

// Presentation returns the last group of a frame.
func (s *Systems) Presentation() *Group { return s.defaults.presentation }

// FixedStep returns the group at the start of the simulation that updates in steps of a sixtieth of
// a second, at most 20 a frame. To change the step, call its SetRate with another Fixed.
func (s *Systems) FixedStep() *Group { return s.defaults.fixed }

// VariableRate returns the group after FixedStep that updates when at least 66 ms have passed.
func (s *Systems) VariableRate() *Group { return s.defaults.variable }

// LateSimulation returns the group at the end of the simulation.
func (s *Systems) LateSimulation() *Group { return s.defaults.late }

// BeginInitialization returns the command point at the start of a frame.
func (s *Systems) BeginInitialization() *Point { return s.defaults.points[0] }

// EndInitialization returns the command point at the end of the initialization group.
func (s *Systems) EndInitialization() *Point { return s.defaults.points[1] }

// BeginSimulation returns the command point at the start of the simulation group. Commands that
// systems of the simulation record for it are played in the next frame.
func (s *Systems) BeginSimulation() *Point { return s.defaults.points[2] }

// EndSimulation returns the command point at the end of the simulation group, after LateSimulation
// and all systems that are Last.
func (s *Systems) EndSimulation() *Point { return s.defaults.points[3] }

// BeginPresentation returns the command point at the start of the presentation group.
func (s *Systems) BeginPresentation() *Point { return s.defaults.points[4] }
