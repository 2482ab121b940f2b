package system

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// program is a registry of a test, and what its systems noted.
type program struct {
	registry
	seen []string
}

// noting is a system that notes its calls.
type noting struct {
	p    *program
	name string
	fail error
}

func (n *noting) Create(*State) error {
	n.p.seen = append(n.p.seen, "create:"+n.name)
	return n.fail
}
func (n *noting) Update(*State)  { n.p.seen = append(n.p.seen, n.name) }
func (n *noting) Destroy(*State) { n.p.seen = append(n.p.seen, "destroy:"+n.name) }

// system is the registration of a system that notes.
func (p *program) system(name, group string, order ...Ordering) Registration {
	return Registration{Name: name, Group: group, Order: order, Package: "game/" + name,
		New: func() System { return &noting{p: p, name: name} }}
}

// group is the registration of a group.
func (p *program) group(name, in string, order ...Ordering) Registration {
	return Registration{Name: name, Group: in, Order: order, Package: "game/" + name, New: func() System {
		return NewGroup()
	}}
}

func (p *program) add(all ...Registration) {
	for _, r := range all {
		p.registry.add(r)
	}
}

// take returns what was noted since the last call.
func (p *program) take() string {
	seen := strings.Join(p.seen, " ")
	p.seen = nil
	return seen
}

// newest returns systems of a new world, and what closes them.
func newest(t *testing.T) (y *Systems, end func()) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	y = New(w)
	return y, func() {
		require.NoError(t, y.Close())
		require.NoError(t, w.Close())
	}
}

// open returns systems of a new world, to be closed with the test.
func open(t *testing.T) *Systems {
	y, end := newest(t)
	t.Cleanup(end)
	return y
}

// permute calls visit with each order of list.
func permute(list []Registration, visit func([]Registration)) {
	if len(list) == 0 {
		visit(nil)
	}
	for i := range list {
		rest := append(append([]Registration{}, list[:i]...), list[i+1:]...)
		permute(rest, func(tail []Registration) { visit(append([]Registration{list[i]}, tail...)) })
	}
}

// Systems run in the same order in whatever order their packages were initialized: groups that are
// registered too, at any depth, with their Order.
func TestOrderOfRegistrationDoesNotMatter(t *testing.T) {
	p := &program{}
	list := []Registration{
		p.system("c", "", After("d")), p.system("a", "Solver"), p.group("Solver", "Physics", First()),
		p.system("b", "Physics"), p.group("Physics", ""), p.system("d", ""),
	}
	permute(list, func(order []Registration) {
		p.registry = registry{}
		p.add(order...)
		y, end := newest(t)
		defer end()
		require.NoError(t, y.addRegistered("Systems.AddRegistered", &p.registry, nil))
		p.take()
		require.NoError(t, y.Step(0))
		require.Equal(t, "a b d c", p.take())
		require.Equal(t, "root/Simulation/Physics/Solver/a", y.Find("a").place())
	})
}

// A program takes all systems that are neither manual nor left out, those of groups, and those that
// it names.
func TestChoices(t *testing.T) {
	manual := func(r Registration) Registration { r.Manual = true; return r }
	for _, c := range []struct {
		choices []Choice
		want    string // systems that update
	}{
		{nil, "g f a b"},
		{[]Choice{Within("Simulation")}, "g f a b"},
		{[]Choice{Within("root")}, "g f a b"},
		{[]Choice{Within("Physics")}, "a b"},
		{[]Choice{Within("Solver")}, "a"},
		{[]Choice{Within("FixedStep", "Solver")}, "g a"},
		{[]Choice{Within("FixedStep"), Within("Solver")}, "g a"},
		{[]Choice{Except("a")}, "g f b"},
		{[]Choice{Except("Physics", "f")}, "g"},
		{[]Choice{Except("FixedStep")}, "f a b"},
		{[]Choice{Within("Physics"), Except("Solver")}, "b"},
		{[]Choice{Including("m")}, "g f m a b"},
		{[]Choice{Within("FixedStep"), Including("m", "b")}, "g m b"},
		{[]Choice{Including("Debug")}, "g f x a b"},
		{[]Choice{Including("x")}, "g f x a b"},
		{[]Choice{Including("x"), Except("Debug")}, "g f a b"},
		{[]Choice{Within("FixedStep"), Including("Physics")}, "g a b"},
		{[]Choice{Within("FixedStep"), Including("Debug")}, "g x"},
		{[]Choice{Within("FixedStep"), Including("Inner")}, "g y"},
		{[]Choice{Within("Debug")}, ""},
	} {
		p := &program{}
		p.add(p.system("a", "Solver"), p.group("Solver", "Physics"), p.system("b", "Physics", After("Solver")),
			p.group("Physics", "", Last()), p.system("f", ""), p.system("g", "FixedStep"), manual(p.system("m", "")),
			manual(p.group("Debug", "")), p.system("x", "Debug"), manual(p.group("Inner", "Debug")),
			p.system("y", "Inner"),
			manual(p.system("FixedStep", "Debug"))) // which hides nothing
		y, end := newest(t)
		require.NoError(t, y.addRegistered("Systems.AddRegistered", &p.registry, c.choices))
		p.take()
		require.NoError(t, y.Step(fixedStep))
		require.Equal(t, c.want, sorted(p.take(), c.want), "%v", c.want)
		end()
	}
}

// sorted returns what was seen in the order of want, where it is the same systems: the default
// groups are where they are whatever is registered.
func sorted(seen, want string) string {
	count := map[string]int{}
	for _, name := range strings.Fields(seen) {
		count[name]++
	}
	for _, name := range strings.Fields(want) {
		count[name]--
	}
	for name, n := range count {
		if n != 0 {
			return fmt.Sprintf("%s, %s %d times too many", seen, name, n)
		}
	}
	return want
}

// All that does not fit is reported by name, and nothing is added.
func TestRegistrationsThatDoNotFit(t *testing.T) {
	p := &program{}
	named := func(r Registration, of string) Registration { r.Package = of; return r }
	nothing := p.system("n", "")
	nothing.New = func() System { return nil }
	for want, c := range map[string]struct {
		list    []Registration
		choices []Choice
	}{
		"a of game/a and a of other are registered with one name": {list: []Registration{p.system("a", ""), named(p.system("a", ""), "other")}},
		"there of game/there: there is one of that name in group root/Simulation/there": {list: []Registration{
			p.system("there", ""),
		}},
		`a of game/a: there is no group "Nowhere"; register it, or add it first`: {list: []Registration{p.system("a", "Nowhere")}},
		"a of game/a: it is to be in there, which is no group":                   {list: []Registration{p.system("a", "there")}},
		"b of game/b: it is to be in a, which is no group":                       {list: []Registration{p.system("a", ""), p.system("b", "a")}},
		"A of game/A: group A is inside itself":                                  {list: []Registration{p.group("A", "A")}},
		"A of game/A: group B is inside itself":                                  {list: []Registration{p.group("A", "B"), p.group("B", "A")}},
		`Within("Nowhere"): there is no group of that name`:                      {choices: []Choice{Within("Nowhere")}},
		`Within("there"): there is no group of that name`:                        {choices: []Choice{Within("there")}},
		`Except("nobody"): no system of that name is registered`:                 {choices: []Choice{Except("nobody")}},
		`Including("there"): no system of that name is registered`:               {choices: []Choice{Including("there")}},
		"n of game/n: New returned nil":                                          {list: []Registration{nothing}},
	} {
		p.registry = registry{}
		p.add(p.system("good", ""))
		p.add(c.list...)
		y, end := newest(t)
		y.Add("there", Func(func(*State) {}))
		before := y.String()
		err := y.addRegistered("Systems.AddRegistered", &p.registry, c.choices)
		require.ErrorIs(t, err, ErrRegistration)
		require.ErrorContains(t, err,
			"system: Systems.AddRegistered: "+want+": what is registered does not fit together")
		require.Equal(t, before, y.String(), want)
		require.NoError(t, y.Step(0))
		end()
	}
	y := open(t)
	p.registry = registry{}
	p.add(p.system("a", "Nowhere"), p.system("b", "Nowhere"))
	err := y.addRegistered("Systems.AddRegistered", &p.registry, []Choice{Except("nobody")})
	require.Equal(t, 3, strings.Count(err.Error(), "\n")+1, "all errors are listed")
}

// A system that cannot be added, or panics, takes what was added before with it.
func TestRegisteredAllOrNone(t *testing.T) {
	refusal := errors.New("no")
	p := &program{}
	bad := p.system("z", "")
	bad.New = func() System { return &noting{p: p, name: "z", fail: refusal} }
	p.add(p.system("a", "G"), p.group("G", ""), bad)
	y := open(t)
	require.ErrorIs(t, y.addRegistered("Systems.AddRegistered", &p.registry, nil), refusal)
	require.Equal(t, "create:z", p.take(), "the group and z come before a")
	require.Nil(t, y.Find("G"))

	p.registry = registry{}
	p.add(p.system("a", "", Before("b")), p.system("b", "", Before("c")), p.system("c", "", Before("a")))
	require.ErrorIs(t, y.addRegistered("Systems.AddRegistered", &p.registry, nil), ErrCycle)
	require.Equal(t, "create:a create:b destroy:b destroy:a", p.take())

	p.registry = registry{}
	p.add(p.system("a", ""), p.system("b", "", First(), Last()))
	require.PanicsWithValue(t, "system: Group.Add: b: it cannot be First and Last",
		func() { _ = y.addRegistered("Systems.AddRegistered", &p.registry, nil) })
	require.Equal(t, "create:a destroy:a", p.take())
	require.NoError(t, y.Step(0))
	require.Empty(t, p.take())
}

// A second call adds what was registered since, or was not taken, and nothing twice; a group that
// is there already serves what comes later.
func TestRegisteredInSteps(t *testing.T) {
	p := &program{}
	p.add(p.group("G", ""), p.system("a", "G"), p.system("b", "G"))
	y := open(t)
	const op = "Systems.AddRegistered"
	require.NoError(t, y.addRegistered(op, &p.registry, []Choice{Within("G"), Except("b")}))
	require.NoError(t, y.addRegistered(op, &p.registry, []Choice{Including("b")}))
	require.NoError(t, y.addRegistered(op, &p.registry, nil))
	p.add(p.system("c", "G"))
	require.NoError(t, y.addRegistered(op, &p.registry, nil))
	require.Equal(t, "create:a create:b create:c", p.take())
	require.NoError(t, y.Step(0))
	require.Equal(t, "a b c", p.take())
	y.Find("b").Remove()
	p.take()
	require.NoError(t, y.addRegistered(op, &p.registry, nil))
	require.Equal(t, "create:b", p.take(), "a system that was removed is taken again")
}

// Of two registrations of one name, what is Manual is not taken, and does not hide the other.
func TestManualHidesNothing(t *testing.T) {
	p := &program{}
	manual := p.system("a", "")
	manual.Manual, manual.Package = true, "a first one"
	p.add(manual, p.system("a", ""))
	y := open(t)
	require.NoError(t, y.addRegistered("Systems.AddRegistered", &p.registry, nil))
	require.Equal(t, "create:a", p.take())
}

// The default systems are those of a world of their own. After an error neither is left.
func TestNewDefault(t *testing.T) {
	p := &program{}
	p.add(p.system("a", ""))
	y, err := newDefault(&p.registry, nil)
	require.NoError(t, err)
	require.NoError(t, y.Step(0))
	require.Equal(t, "create:a a", p.take())
	require.NoError(t, y.Close())
	require.NoError(t, y.World().Close())
	y, err = newDefault(&p.registry, []Choice{Except("b")})
	require.Nil(t, y)
	require.ErrorIs(t, err, ErrRegistration)
	require.ErrorContains(t, err, "system: NewDefault: Except(\"b\"): ")
}

// Register knows the package that called it, and refuses incomplete registrations.
func TestRegister(t *testing.T) {
	defer func(before []Registration) { registered.list = before }(registered.list)
	order := []Ordering{After("b")}
	Register(Registration{Name: "ours", New: func() System { return Func(func(*State) {}) }, Order: order})
	order[0] = After("c")
	all := Registered()
	r := all[len(all)-1]
	require.Equal(t, "ours of quarry/ecs/system", r.String())
	require.Equal(t, []string{"b"}, r.Order[0].after, "an order of its own")
	require.Equal(t, "Simulation", r.Group)
	require.PanicsWithValue(t, "system: Register: the name is empty", func() { Register(Registration{New: r.New}) })
	require.PanicsWithValue(t, "system: Register: x: New is nil; it makes the system",
		func() { Register(Registration{Name: "x"}) })
	y := open(t)
	require.NoError(t, y.AddRegistered(Within("Simulation")))
	require.NotNil(t, y.Find("ours"))
	require.PanicsWithValue(t, "system: Systems.AddRegistered: a choice is nil", func() { _ = y.AddRegistered(nil) })
}
