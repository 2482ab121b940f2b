package system

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"quarry/ecs"
)

// Registration describes a system that a package offers to the programs that import it; see
// Register.
type Registration struct {
	Name    string     // of the system, unique among those that a program takes
	Group   string     // name of the group that it is added to; "" stands for Simulation
	Order   []Ordering // in that group
	Manual  bool       // it is taken only where Including names it
	Package string     // import path of the package that registered it; Register sets it

	// New makes the system for one Systems. What needs the world is made later: by Make, or in
	// Create. A group, from NewGroup or a type that embeds one, may be registered too, and others
	// be registered in it.
	New func() System
}

// registry holds registrations, for any number of goroutines.
type registry struct {
	mu   sync.Mutex
	list []Registration // in the order of the calls
}

// registered has what the packages of the program registered.
var registered registry

// Register offers a system to the program, which takes it with Systems.AddRegistered. It is meant
// for a package's init, but any goroutine may call it at any time; it has no effect on Systems that
// took what was registered before. Register panics if the name is empty or New is nil. Two systems
// of one name are an error of AddRegistered, since a program may leave both out.
//
//	func init() {
//		system.Register(system.Registration{Name: "move", New: newMove, Order: []system.Ordering{system.After("steer")}})
//	}
func Register(r Registration) {
	r.Package = callerPackage()
	registered.add(r)
}

func (g *registry) add(r Registration) {
	switch {
	case r.Name == "":
		panic("system: Register: the name is empty")
	case r.New == nil:
		// errors.md: `New is nil; it makes the system` | A `Registration` without its function. |
		// Give one that returns a new system each time.
		panic("system: Register: " + r.Name + ": New is nil; it makes the system")
	case r.Group == "":
		r.Group = simulationName
	}
	r.Order = slices.Clone(r.Order)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = append(g.list, r)
}

// Registered returns what was registered so far, by name, those of one name by package.
func Registered() []Registration { return registered.all() }

// all returns the registrations in an order that does not depend on when they were made, so neither
// on the order in which the linker initializes packages.
func (g *registry) all() []Registration {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := slices.Clone(g.list)
	slices.SortStableFunc(list, func(a, b Registration) int {
		return strings.Compare(a.Name+"\x00"+a.Package, b.Name+"\x00"+b.Package)
	})
	for i := range list {
		list[i].Order = slices.Clone(list[i].Order)
	}
	return list
}

// callerPackage returns the import path of the package that called the caller of this function.
func callerPackage() string {
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	frame, _ := runtime.CallersFrames(pc[:]).Next()
	slash := strings.LastIndexByte(frame.Function, '/') + 1
	name, _, _ := strings.Cut(frame.Function[slash:], ".")
	return frame.Function[:slash] + strings.ReplaceAll(name, "%2e", ".")
}

// errors.md: `ErrRegistration` | What is registered does not fit together, or does not fit a
// choice: two systems of one name, a group that is not there or is no group, a name that nothing
// has. All such errors are listed, and nothing was added. | The texts name systems, groups and
// packages: rename one, leave one out with `Except`, or import the package that registers the
// group.

// ErrRegistration is wrapped by errors of AddRegistered about names that clash and groups or
// systems that are not there.
var ErrRegistration = errors.New("what is registered does not fit together")

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
			// errors.md: `a choice is nil` | A nil option of `AddRegistered`. | Leave it out.
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

// addOne adds one registered system to its group, which was added before.
func (s *Systems) addOne(op string, r *Registration) (*State, error) {
	in := s.named[r.Group]
	if in == nil || in.within == nil {
		return nil, fmt.Errorf("system: %s: %v: it is to be in %s, which is no group: %w", op, r, r.Group, ErrRegistration)
	}
	made := r.New()
	if v := reflect.ValueOf(made); !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil() {
		return nil, fmt.Errorf("system: %s: %v: New returned nil: %w", op, r, ErrRegistration)
	}
	x, err := in.within.TryAdd(r.Name, made, r.Order...)
	if x != nil {
		x.registered = r.Package
	}
	return x, err
}

// String returns the name and the package, as in move of game/movement.
func (r Registration) String() string { return r.Name + " of " + r.Package }
