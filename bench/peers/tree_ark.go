package main

import "github.com/mlange-42/ark/ecs"

// arkHand is ark with a list of nodes and parents that the program keeps, in the order of levels.
const arkHand = "ark list"

type arkDepth struct {
	arkWorld
	own  *ecs.Map1[Position]
	all  *ecs.Map1[Sum]
	both *ecs.Map2[Position, Sum]
	list []arkLink
}

type arkLink struct{ node, parent ecs.Entity }

func buildArkDepth(n int) (trial, error) {
	s := &arkDepth{arkWorld: openArk(), list: make([]arkLink, n)}
	s.own, s.all = ecs.NewMap1[Position](s.w), ecs.NewMap1[Sum](s.w)
	s.both = ecs.NewMap2[Position, Sum](s.w)
	for i := range n {
		p := onParent(i)
		s.list[i].node = s.both.NewEntity(&p, &Sum{})
		if i > 0 {
			s.list[i].parent = s.list[parentOf(i)].node
		}
	}
	return s, nil
}

// pass looks the parent up once for siblings.
//
//go:noinline
func (s *arkDepth) pass(times int) {
	for range times {
		s.own.Get(s.list[0].node).X++
		var last ecs.Entity
		up := Sum{}
		for _, l := range s.list {
			p, to := s.both.Get(l.node)
			if l.parent != last {
				up, last = *s.all.Get(l.parent), l.parent
			}
			*to = Sum{p.X + up.X, p.Y + up.Y}
		}
	}
}

func (s *arkDepth) check(passes int) error {
	list := make([]Sum, len(s.list))
	for i, l := range s.list {
		list[i] = *s.all.Get(l.node)
	}
	return wantDepth(list, passes)
}
