package system

// System is anything that a group updates. It may also implement Creator, Starter, Stopper and
// Destroyer. All methods are called on the goroutine of the world's owner.
type System interface {
	// Update is called once per round of the group while the system is enabled and its requirements
	// are met.
	Update(s *State)
}

// Creator is a System that is told when it is added; it makes its queries and jobs then.
type Creator interface {
	// Create is called by Group.Add. If it returns an error or panics, the system is not added.
	Create(s *State) error
}

// Starter is a System that is told when it starts to run.
type Starter interface {
	// Start is called before the first update, and again before the first update after a time in
	// which the system was disabled or its requirements were not met. If Start panics, the next
	// round calls it again; the system does not update until Start has returned.
	Start(s *State)
}

// Stopper is a System that is told when it stops running.
type Stopper interface {
	// Stop is called when a running system is disabled, its requirements are no longer met, its
	// group stops, or it is about to be destroyed.
	Stop(s *State)
}

// Destroyer is a System that is told before it is destroyed.
type Destroyer interface {
	// Destroy is called by Systems.Close and State.Remove, after Stop. The system's queries are
	// still open.
	Destroy(s *State)
}

// Func is a function as a System. See Make for a system that has queries.
type Func func(s *State)

// Update calls f.
func (f Func) Update(s *State) { f(s) }

// Make returns a System from a function. create is called once, when the system is added, and makes
// the queries, jobs and bodies of jobs. It returns the function that each update calls. Use
// State.OnDestroy for anything that must be released with the system; those functions are also
// called if create panics, and then Add and TryAdd panic too. Make panics if create is nil; adding
// the system panics if create returns nil. A function of your own that returns Make(...) needs the
// directive noinline, or its loops may allocate: see docs/ecs.md.
func Make(create func(s *State) (update func())) System {
	if create == nil {
		// errors.md: `the function is nil` of `State.OnDestroy` | It is called when the system
		// goes. | Give a function, while the system is there.
		panic("system: Make: the function is nil")
	}
	return &made{create: create}
}

type made struct {
	create func(s *State) (update func())
	update func()
}

// Create implements Creator.
func (m *made) Create(s *State) error {
	if m.update = m.create(s); m.update == nil {
		panic("system: Make: the function for " + s.name + " returned nil; it returns what is called in each update")
	}
	return nil
}

// Update implements System.
func (m *made) Update(*State) { m.update() }
