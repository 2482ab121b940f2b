package main

import (
	"errors"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/job"
	"quarry/ecs/transform"
)

// plant makes n entities of some types and links them as a tree.
func plant(h *hierarchy.Hierarchy, n int, types ...ecs.Type) ([]ecs.Entity, error) {
	made, err := ecs.NewArchetype(h.World(), append(types, h.ParentType(), h.ChildType())...).CreateN(n)
	if err != nil {
		return nil, err
	}
	nodes := made.Entities(nil)
	for i := 1; i < n && err == nil; i++ {
		err = h.SetParent(nodes[i], nodes[parentOf(i)])
	}
	return nodes, err
}

// quarryDepth goes from run to run of hierarchy.Levels.
type quarryDepth struct {
	quarryWorld
	levels *hierarchy.Levels
	sums   ecs.Component[Sum]
	nodes  []ecs.Entity
	own    [][]Position
	all    [][]Sum
}

func buildQuarryDepth(n int) (trial, error) {
	w, err := openQuarry()
	if err != nil {
		return nil, err
	}
	s := &quarryDepth{quarryWorld: w, sums: ecs.Register[Sum](w.w)}
	h := hierarchy.New(w.w)
	if s.nodes, err = plant(h, n, s.position, s.sums); err != nil {
		return nil, errors.Join(err, w.close())
	}
	for i, e := range s.nodes {
		s.position.Set(e, onParent(i))
	}
	s.levels = h.NewLevels(ecs.Read(s.position), ecs.Write(s.sums))
	return s, nil
}

//go:noinline
func (s *quarryDepth) pass(times int) {
	for range times {
		s.position.Mut(s.nodes[0]).X++
		s.levels.Refresh()
		s.own = hierarchy.Columns(s.levels, s.position, s.own[:0])
		s.all = hierarchy.Columns(s.levels, s.sums, s.all[:0])
		own, all := s.own, s.all
		for _, run := range s.levels.Runs() {
			up := Sum{}
			if run.Up.Chunk >= 0 {
				up = all[run.Up.Chunk][run.Up.Row]
			}
			up.add(all[run.At.Chunk][run.At.Row:][:run.Len], own[run.At.Chunk][run.At.Row:][:run.Len])
		}
	}
}

func (s *quarryDepth) check(passes int) error {
	list := make([]Sum, len(s.nodes))
	for i, e := range s.nodes {
		list[i] = *s.sums.Get(e)
	}
	return wantDepth(list, passes)
}

// quarryMatrices is package transform, with so many workers.
type quarryMatrices struct {
	w     *ecs.World
	t     *transform.Transforms
	jobs  *job.Scheduler // nil: the owner computes
	nodes []ecs.Entity
}

func buildQuarryMatrices(workers int) func(n int) (trial, error) {
	return func(n int) (trial, error) {
		w, err := ecs.NewWorld()
		if err != nil {
			return nil, err
		}
		h := hierarchy.New(w)
		s := &quarryMatrices{w: w, t: transform.New(h)}
		if s.nodes, err = plant(h, n, s.t.LocalType(), s.t.MatrixType()); err != nil {
			return nil, errors.Join(err, w.Close())
		}
		for i, e := range s.nodes {
			s.t.LocalType().Set(e, localOf(i))
		}
		if workers > 1 {
			s.jobs = job.NewScheduler(w, job.Workers(workers))
			s.t.Parallel(s.jobs)
		}
		return s, nil
	}
}

//go:noinline
func (s *quarryMatrices) pass(times int) {
	for range times {
		s.t.LocalType().Mut(s.nodes[0]).Position.X++
		s.t.Update()
	}
}

func (s *quarryMatrices) check(passes int) error {
	list := make([]transform.Mat4, len(s.nodes))
	for i, e := range s.nodes {
		list[i] = s.t.MatrixType().Get(e).Matrix
	}
	return wantMatrices(list, passes)
}

func (s *quarryMatrices) committed() int64 { return int64(s.w.Universe().Stats().Committed) }

func (s *quarryMatrices) close() error {
	var err error
	if s.jobs != nil {
		err = s.jobs.Close()
	}
	return errors.Join(err, s.w.Close())
}
