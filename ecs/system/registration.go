package system

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
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
//		system.Register(system.Registration{
//			Name: "move", New: newMove, Order: []system.Ordering{system.After("steer")},
//		})
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
		panic("system: Register: " + r.Name + ": New is nil; it makes the system")
	case r.Group == "":
		r.Group = simulationName
	}
	r.Order = slices.Clone(r.Order)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = append(g.list, r)
}

// Registered returns all registrations so far, by name, and those of one name by package.
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

// ErrRegistration is wrapped by errors of AddRegistered about names that clash and groups or
// systems that are not there.
var ErrRegistration = errors.New("what is registered does not fit together")

// String returns the name and the package, as in move of game/movement.
func (r Registration) String() string { return r.Name + " of " + r.Package }
