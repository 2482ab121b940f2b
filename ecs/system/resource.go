package system

import (
	"fmt"
	"reflect"
	"slices"
)

// Resources are Go values, one of a type for all systems: a window, a map, a random generator. Data
// that systems loop over belongs in components.

// resourceOf returns the entry of a type, made at first use.
func (s *Systems) resourceOf(t reflect.Type) *resource {
	r := s.things[t]
	if r == nil {
		r = &resource{of: t}
		s.things[t] = r
	}
	return r
}

// SetResource makes v the resource of type T, in place of a former one; nil removes it. Systems
// that have already asked for the former resource keep it, so set a resource before adding its
// users.
func SetResource[T any](s *Systems, v *T) {
	s.check("SetResource")
	r := s.resourceOf(reflect.TypeFor[T]())
	r.value = nil
	if v != nil {
		r.value = v
	}
}

// ResourceOf returns the resource of type T, or nil if none is set.
func ResourceOf[T any](s *Systems) *T {
	s.check("ResourceOf")
	v, _ := s.resourceOf(reflect.TypeFor[T]()).value.(*T)
	return v
}

// Resource returns the resource of type T to a system that may write it, in its update or its jobs.
// From then on, before this system updates, jobs of other systems that asked for the resource are
// completed, and the other way round. Resource panics if no resource of the type is set. Cost: one
// look-up in a map of types; call it once, in Create.
func Resource[T any](s *State) *T {
	v := valueFor[T](s, "Resource")
	s.hold(s.y.things[reflect.TypeFor[T]()], true)
	return v
}

// ReadResource is Resource for a system that only reads the resource: it waits only for systems
// that may write it.
func ReadResource[T any](s *State) *T {
	v := valueFor[T](s, "ReadResource")
	s.hold(s.y.things[reflect.TypeFor[T]()], false)
	return v
}

func valueFor[T any](s *State, op string) *T {
	s.check(op)
	v := ResourceOf[T](s.y)
	if v == nil {
		panic(fmt.Sprintf("system: %s: %s: there is no resource of type %v; SetResource comes before",
			op, s.name, reflect.TypeFor[T]()))
	}
	return v
}

// hold notes that the system uses a resource.
func (s *State) hold(r *resource, write bool) {
	if i := slices.IndexFunc(s.holds, func(h hold) bool { return h.r == r }); i >= 0 {
		s.holds[i].write = s.holds[i].write || write
		return
	}
	s.holds = append(s.holds, hold{r, write})
	r.users = append(r.users, s)
}

// writes reports whether the system may write a resource.
func (s *State) writes(r *resource) bool {
	return slices.ContainsFunc(s.holds, func(h hold) bool { return h.r == r && h.write })
}

// drop removes the system from the users of its resources.
func (s *State) drop() {
	for _, h := range s.holds {
		h.r.users = slices.DeleteFunc(h.r.users, func(u *State) bool { return u == s })
	}
	s.holds = nil
}
