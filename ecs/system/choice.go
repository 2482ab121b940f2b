package system

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"quarry/ecs"
)

// Choice is an option of AddRegistered: Within, Except or Including.
type Choice func(*choice)

// choice is a program's selection of the registered systems.
type choice struct {
	op                        string   // the call that takes them
	within, except, including []string // names that the choices give
	list                      []Registration
	at                        map[string]int // first of list with a name
	y                         *Systems
	errs                      []error
}

// Within takes only systems in the named groups, at any depth, and the named groups themselves if
// they are registered. Several Within add up.
func Within(groups ...string) Choice {
	return func(c *choice) { c.within = append(c.within, groups...) }
}

// Except leaves out the named systems. With a group it leaves out the group's content.
func Except(names ...string) Choice {
	return func(c *choice) { c.except = append(c.except, names...) }
}

// Including takes the named systems too, if they are Manual or in no group that Within names. With
// a group it takes what is in the group.
func Including(names ...string) Choice {
	return func(c *choice) { c.including = append(c.including, names...) }
}

// AddRegistered adds the registered systems that it has not added before: all of them but those
// that are Manual, or those that the choices take. A group is taken with what is in it, but for
// systems and groups in it that are Manual. Groups are added before what is in them, and those of
// one depth in the order of their names, so a program gives its systems the same order wherever the
// linker put the packages. A group may be one of the default groups, one that was added before, or
// registered as well.
//
// After an error no registered system has been added; those that had been created are removed
// again. The error wraps ErrRegistration, or is what TryAdd returned for a system. AddRegistered
// panics where TryAdd does.
func (s *Systems) AddRegistered(choices ...Choice) error {
	const op = "Systems.AddRegistered"
	s.check(op)
	return s.addRegistered(op, &registered, choices)
}

// addRegistered adds registrations of g on behalf of the call op.
func (s *Systems) addRegistered(op string, g *registry, choices []Choice) error {
	c := &choice{op: op, list: g.all(), at: map[string]int{}, y: s}
	for _, choose := range choices {
		if choose == nil {
			panic("system: " + op + ": a choice is nil")
		}
		choose(c)
	}
	list := c.take()
	if len(c.errs) > 0 {
		return errors.Join(c.errs...)
	}
	var added []*State
	defer func() {
		if len(added) < len(list) { // an error or a panic
			for _, x := range slices.Backward(added) {
				x.Remove()
			}
		}
	}()
	for i := range list {
		x, err := s.addOne(op, &list[i])
		if err != nil {
			return err
		}
		added = append(added, x)
	}
	return nil
}

// addOne adds one registered system to its group, which was added before.
func (s *Systems) addOne(op string, r *Registration) (*State, error) {
	in := s.named[r.Group]
	if in == nil || in.within == nil {
		return nil, fmt.Errorf("system: %s: %v: it is to be in %s, which is no group: %w",
			op, r, r.Group, ErrRegistration)
	}
	made := r.New()
	if v := reflect.ValueOf(made); !v.IsValid() ||
		(v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil() {
		return nil, fmt.Errorf("system: %s: %v: New returned nil: %w", op, r, ErrRegistration)
	}
	x, err := in.within.TryAdd(r.Name, made, r.Order...)
	if x != nil {
		x.registered = r.Package
	}
	return x, err
}

// NewDefault returns the systems of a new world, with the registered systems that the choices take:
// a program whose packages register their systems is a loop around its Update. The caller closes
// the systems, then the world. For options, use New and AddRegistered.
//
//	systems, err := system.NewDefault()
//	for err == nil { err = systems.Update() }
func NewDefault(choices ...Choice) (*Systems, error) { return newDefault(&registered, choices) }

func newDefault(g *registry, choices []Choice) (s *Systems, err error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return nil, fmt.Errorf("system: NewDefault: %w", err)
	}
	added := New(w)
	defer func() {
		if s == nil { // an error or a panic
			err = errors.Join(err, added.Close(), w.Close())
		}
	}()
	if err = added.addRegistered("NewDefault", g, choices); err != nil {
		return nil, err
	}
	return added, nil
}

// What AddRegistered takes. The groups around a registration are found by name alone: a group that
// is registered itself leads on to its own group, any other is in the tree already.

// fail notes an error about registrations.
func (c *choice) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("system: "+c.op+": "+format+": %w", append(args, ErrRegistration)...))
}

// take returns the chosen registrations that the systems do not have yet, groups before their
// members, and notes their errors.
func (c *choice) take() []Registration {
	for i := range c.list {
		if _, again := c.at[c.list[i].Name]; !again {
			c.at[c.list[i].Name] = i
		}
	}
	c.checkNames()
	taken := make([]bool, len(c.list))
	around := make([][]string, len(c.list))
	for i := range c.list {
		around[i] = c.around(&c.list[i])
		taken[i] = c.wants(&c.list[i], around[i])
	}
	for i := range c.list { // the groups that hold what is taken
		if !taken[i] {
			continue
		}
		for _, name := range around[i] {
			if at, ok := c.at[name]; ok && c.y.named[name] == nil {
				for ; at < len(c.list) && c.list[at].Name == name; at++ {
					taken[at] = true
				}
			}
		}
	}
	var list []Registration
	depth := map[string]int{}
	for i := range c.list {
		if r := &c.list[i]; taken[i] && !c.has(r) {
			list, depth[r.Name] = append(list, *r), len(around[i])
		}
	}
	c.check(list)
	slices.SortStableFunc(list, func(a, b Registration) int { return depth[a.Name] - depth[b.Name] })
	return list
}

// has reports whether the systems have taken a registration before.
func (c *choice) has(r *Registration) bool {
	x := c.y.named[r.Name]
	return x != nil && x.registered == r.Package
}

// checkNames notes names in choices that nothing has.
func (c *choice) checkNames() {
	for _, names := range []struct {
		of   string
		list []string
	}{{"Except", c.except}, {"Including", c.including}} {
		for _, name := range names.list {
			if _, ok := c.at[name]; !ok && !(names.of == "Except" && c.isGroup(name)) {
				c.fail("%s(%q): no system of that name is registered", names.of, name)
			}
		}
	}
	for _, name := range c.within {
		if _, ok := c.at[name]; !ok && !c.isGroup(name) {
			c.fail("Within(%q): there is no group of that name", name)
		}
	}
}

// isGroup reports whether there is a group of that name in the systems.
func (c *choice) isGroup(name string) bool {
	x := c.y.named[name]
	return x != nil && x.within != nil
}

// around returns the names of the groups around a registration, the innermost first. It stops at a
// group that is not there, and at one that it has met. What is in the tree hides a registration of
// that name.
func (c *choice) around(r *Registration) (groups []string) {
	for name := r.Group; !slices.Contains(groups, name); {
		groups = append(groups, name)
		if x := c.y.named[name]; x != nil {
			if x.group == nil {
				break
			}
			name = x.group.state.name
			continue
		}
		at, ok := c.at[name]
		if !ok {
			break
		}
		name = c.list[at].Group
	}
	return groups
}

// wants reports whether a registration is chosen. The innermost of the groups around it that is
// Manual or named by Including decides, before Within does.
func (c *choice) wants(r *Registration, around []string) bool {
	is := func(name string) bool { return name == r.Name || slices.Contains(around, name) }
	switch {
	case slices.ContainsFunc(c.except, is):
		return false
	case slices.Contains(c.including, r.Name):
		return true
	case r.Manual:
		return false
	}
	for _, name := range around {
		at, ok := c.at[name]
		switch {
		case slices.Contains(c.including, name):
			return true
		case ok && c.y.named[name] == nil && c.list[at].Manual:
			return false
		}
	}
	return len(c.within) == 0 || slices.ContainsFunc(c.within, is)
}

// check notes names that clash, groups that are not there, and groups inside themselves.
func (c *choice) check(list []Registration) {
	for i := range list {
		r := &list[i]
		if i > 0 && list[i-1].Name == r.Name {
			c.fail("%v and %v are registered with one name", &list[i-1], r)
		}
		if before := c.y.named[r.Name]; before != nil {
			c.fail("%v: there is one of that name in group %s", r, before.place())
		}
		name := r.Group
		x, at, ok := c.y.named[name], 0, false
		if x == nil {
			at, ok = c.at[name]
		}
		switch {
		case x != nil && x.within == nil:
			c.fail("%v: it is to be in %s, which is no group", r, name)
		case ok && slices.Contains(c.around(&c.list[at]), name):
			c.fail("%v: group %s is inside itself", r, name)
		case x == nil && !ok:
			c.fail("%v: there is no group %q; register it, or add it first", r, name)
		}
	}
}
