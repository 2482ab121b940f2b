package system_test

import (
	"fmt"
	"slices"
)

// The model of lives is a tree of these, and lists of names. It does everything by looking at all.
type modelSystem struct {
	name     string
	parent   *modelSystem
	children []*modelSystem // in the order of adding
	created  int
	enabled  bool
	running  bool
	gone     bool
	failed   bool
}

// outboxOf is what one system recorded since the point played last.
type outboxOf struct {
	name string
	ids  []int
}

type modelLives struct {
	s       *script
	root    *modelSystem
	all     map[string]*modelSystem // those that are not gone
	made    int
	mark    bool
	busy    bool
	leaving []*modelSystem
	pending []outboxOf
	played  []int
}

func newModelLives(s *script) *modelLives {
	return &modelLives{s: s, root: &modelSystem{enabled: true}, all: map[string]*modelSystem{}}
}

// told is a call into a system; true: it returned.
func (m *modelLives) told(what string, s *modelSystem) (returned bool) {
	m.s.attempt(func() {
		m.s.call(what, s.name)
		returned = true
	})
	return returned
}

// outermost runs f, and what was removed goes behind the outermost one.
func (m *modelLives) outermost(f func()) {
	if m.busy {
		f()
		return
	}
	m.busy = true
	f()
	for len(m.leaving) > 0 {
		m.destroyFirst()
	}
	m.busy = false
}

func (m *modelLives) destroyFirst() {
	s := m.leaving[0]
	m.leaving = m.leaving[1:]
	m.stop(s)
	if !s.failed {
		m.told("destroy", s)
	}
}

func (m *modelLives) stop(s *modelSystem) {
	if !s.running {
		return
	}
	s.running = false
	for _, c := range slices.Backward(m.sorted(s)) {
		if !c.gone { // by the Stop of one behind it: it stops when it goes
			m.stop(c)
		}
	}
	m.told("stop", s)
}

// sorted returns what is in a group in the order of update.
func (m *modelLives) sorted(g *modelSystem) (list []*modelSystem) {
	for bucket := -1; bucket <= 1; bucket++ {
		for _, c := range g.children {
			if bucketOf(c.name) == bucket && !c.gone {
				list = append(list, c)
			}
		}
	}
	return list
}

// family returns a system and all that is in it, the last created first.
func (m *modelLives) family(s *modelSystem) []*modelSystem {
	list := []*modelSystem{s}
	for i := 0; i < len(list); i++ {
		list = append(list, list[i].children...)
	}
	slices.SortFunc(list, func(a, b *modelSystem) int { return b.created - a.created })
	return list
}

// expel takes a system out of its group and returns it with all that is in it.
func (m *modelLives) expel(s *modelSystem) []*modelSystem {
	list := m.family(s)
	for _, c := range list {
		c.gone = true
		delete(m.all, c.name)
	}
	if p := s.parent; p != nil {
		p.children = slices.DeleteFunc(p.children, func(c *modelSystem) bool { return c == s })
	}
	return list
}

func (m *modelLives) add(group, name string) {
	parent := m.root
	if group != "" {
		parent = m.all[group]
	}
	m.made++
	s := &modelSystem{name: name, parent: parent, created: m.made, enabled: true, failed: true}
	parent.children = append(parent.children, s)
	m.all[name] = s
	m.outermost(func() {
		if m.told("create", s) && !refuses(name) {
			s.failed = false
			return
		}
		list := m.expel(s)
		m.leaving = slices.DeleteFunc(m.leaving, func(c *modelSystem) bool { return slices.Contains(list, c) })
		m.leaving = append(list, m.leaving...)
		for range list {
			m.destroyFirst()
		}
	})
}

func (m *modelLives) remove(name string) {
	m.outermost(func() { m.leaving = append(m.leaving, m.expel(m.all[name])...) })
}

func (m *modelLives) enable(name string, on bool) { m.all[name].enabled = on }

func (m *modelLives) toggle() { m.mark = !m.mark }

func (m *modelLives) record(name string, id int) {
	i := slices.IndexFunc(m.pending, func(o outboxOf) bool { return o.name == name })
	if i < 0 {
		i = len(m.pending)
		m.pending = append(m.pending, outboxOf{name: name})
	}
	m.pending[i].ids = append(m.pending[i].ids, id)
}

func (m *modelLives) live() (names []string) {
	var visit func(s *modelSystem)
	visit = func(s *modelSystem) {
		for _, c := range m.sorted(s) {
			names = append(names, c.name)
			visit(c)
		}
	}
	visit(m.root)
	return names
}

func (m *modelLives) step() {
	m.outermost(func() {
		m.round(m.root)
		for _, o := range m.pending {
			m.played = append(m.played, o.ids...)
		}
		m.pending = nil
	})
	m.s.seen = append(m.s.seen, fmt.Sprint("played ", m.played))
	m.played = nil
}

func (m *modelLives) round(g *modelSystem) {
	for _, s := range m.sorted(g) {
		if !s.gone {
			m.turn(s)
		}
	}
}

func (m *modelLives) turn(s *modelSystem) {
	wanted := s.enabled && (!requires(s.name) || m.mark)
	switch {
	case !wanted:
		m.stop(s)
		return
	case !s.running && !m.told("start", s):
		return
	}
	s.running = true
	if s.gone || !m.told("update", s) || !isGroup(s.name) {
		return
	}
	for range roundsOf(s.name) {
		m.round(s)
	}
}

func (m *modelLives) close() {
	m.outermost(func() { m.leaving = append(m.leaving, m.expel(m.root)...); m.leaving = m.leaving[:len(m.leaving)-1] })
}
