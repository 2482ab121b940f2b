package system

// System is what a group updates. It may also be a Creator, Starter, Stopper and Destroyer. All are
// called on the goroutine of the world's owner.
type System interface {
	// Update is called once a round of the group while the system is enabled and what it requires
	// is there.
	Update(s *State)
}

// Creator is a System that is told when it is added: here it makes its queries and jobs.
type Creator interface {
	// Create is called by Group.Add. When it returns an error, or panics, the system is not added.
	Create(s *State) error
}

// Starter is a System that is told when it begins to run.
type Starter interface {
	// Start is called before the first update, and before the first after a time in which the
	// system was disabled or lacked what it requires. When it panics, it is called again in the
	// next round, and there is no update before it returned.
	Start(s *State)
}

// Stopper is a System that is told when it runs no more.
type Stopper interface {
	// Stop is called when the system was running and is disabled, lacks what it requires, or is to
	// be destroyed; when its group stops, it stops as well.
	Stop(s *State)
}

// Destroyer is a System that is told before it goes.
type Destroyer interface {
	// Destroy is called by Systems.Close and State.Remove, after Stop. The queries are open still.
	Destroy(s *State)
}

// Func is a System that is a function. See Make for one that has queries.
type Func func(s *State)

// Update calls the function.
func (f Func) Update(s *State) { f(s) }

// Make returns a System from a function that makes its queries, jobs and bodies of jobs once, when
// the system is added, and returns what is called in each update. What must be given back when the
// system goes is given to State.OnDestroy.
func Make(create func(s *State) (update func())) System {
	if create == nil {
		panic("system: Make: the function is nil")
	}
	return &made{create: create}
}

type made struct {
	create func(s *State) (update func())
	update func()
}

// Create is Creator's.
func (m *made) Create(s *State) error {
	if m.update = m.create(s); m.update == nil {
		panic("system: Make: the function for " + s.name + " returned nil; it returns what is called in each update")
	}
	return nil
}

// Update is System's.
func (m *made) Update(*State) { m.update() }
