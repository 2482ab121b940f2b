package main

import "quarry/ecs"

// quarryBatchWays are the entrants that use calls by query and by list.
var quarryBatchWays = []way{
	{"random", quarryMany, buildQuarryMany},
	{"delete2comp-batch", quarryBatch, buildQuarryDestroyQuery(2)},
	{"delete2comp-batch", quarryList, buildQuarryDestroyList(2)},
	{"delete10comp-batch", quarryBatch, buildQuarryDestroyQuery(10)},
	{"delete10comp-batch", quarryList, buildQuarryDestroyList(10)},
	{"add_remove-batch", quarryBatch, buildQuarryApplyQuery(0, inOrder)},
	{"add_remove-batch", quarryList, buildQuarryApplyList(0, inOrder)},
	{"add_remove-batch-shuffled", quarryBatch, buildQuarryApplyQuery(0, shuffled)},
	{"add_remove-shuffled", quarryList, buildQuarryApplyList(0, shuffled)},
	{"add_remove_large-batch", quarryBatch, buildQuarryApplyQuery(10, inOrder)},
	{"enable", quarryBatch, buildQuarryEnableQuery},
}

func init() { ways = append(ways, quarryBatchWays...) }

// quarryDestroyQuery destroys all entities that match a query.
type quarryDestroyQuery struct{ quarryDelete }

func buildQuarryDestroyQuery(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newQuarryDelete(n, components)
		return quarryDestroyQuery{s}, err
	}
}

func (s quarryDestroyQuery) once() { s.w.DestroyQuery(s.q) }

// quarryDestroyList destroys a list of entities.
type quarryDestroyList struct{ quarryDelete }

func buildQuarryDestroyList(components int) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newQuarryDelete(n, components)
		return quarryDestroyList{s}, err
	}
}

func (s quarryDestroyList) once() { s.w.DestroyList(s.list) }

// quarryApply gives many entities a Velocity and takes it away again.
type quarryApply struct {
	*quarryAddRemove
	add, remove   *ecs.Change
	still, moving *ecs.Query
	err           error
}

func newQuarryApply(n, more int, order listOrder) (*quarryApply, error) {
	s, err := newQuarryAddRemove(n, more, order)
	if err != nil {
		return nil, err
	}
	return &quarryApply{
		quarryAddRemove: s,
		add:             ecs.NewChange(s.w, ecs.Add(s.velocity)),
		remove:          ecs.NewChange(s.w, ecs.Remove(s.velocity)),
		still:           ecs.NewQuery(s.w, ecs.With(s.position), ecs.Without(s.velocity)),
		moving:          ecs.NewQuery(s.w, ecs.With(s.position), ecs.With(s.velocity)),
	}, nil
}

func (s *quarryApply) check(passes int) error {
	if s.err != nil {
		return s.err
	}
	return s.quarryAddRemove.check(passes)
}

// note keeps the first error, or an error for a batch without all entities.
func (s *quarryApply) note(b ecs.Batch, err error) {
	if err == nil {
		err = wantCount("entities changed", b.Len(), len(s.list))
	}
	if s.err == nil {
		s.err = err
	}
}

// quarryApplyQuery does that by query, quarryApplyList by list.
type (
	quarryApplyQuery struct{ *quarryApply }
	quarryApplyList  struct{ *quarryApply }
)

func buildQuarryApplyQuery(more int, order listOrder) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newQuarryApply(n, more, order)
		return quarryApplyQuery{s}, err
	}
}

func buildQuarryApplyList(more int, order listOrder) func(int) (trial, error) {
	return func(n int) (trial, error) {
		s, err := newQuarryApply(n, more, order)
		return quarryApplyList{s}, err
	}
}

func (s quarryApplyQuery) pass(times int) {
	for range times {
		s.note(s.add.ApplyQuery(s.still))
		s.note(s.remove.ApplyQuery(s.moving))
	}
}

func (s quarryApplyList) pass(times int) {
	for range times {
		s.note(s.add.ApplyList(s.list))
		s.note(s.remove.ApplyList(s.list))
	}
}

// quarryEnableQuery disables and enables a component of all entities that match a query.
type quarryEnableQuery struct{ *quarryEnable }

func buildQuarryEnableQuery(n int) (trial, error) {
	s, err := newQuarryEnable(n)
	return quarryEnableQuery{s}, err
}

func (s quarryEnableQuery) once() { s.c.DisableQuery(s.all) }

func (s quarryEnableQuery) restore() error {
	s.c.EnableQuery(s.all)
	return wantCount("enabled entities", s.on.Count(), len(s.list))
}
