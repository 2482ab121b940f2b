package main

import (
	"quarry/ecs"
)

// Entrants of ours. The batch entrants use the calls for many entities.
const (
	quarry       = "quarry"
	quarryBatch  = "quarry batch"
	quarryWarm   = "quarry batch, shared universe"
	quarryList   = "quarry list"
	quarryKernel = "quarry kernel"
	quarryMany   = "quarry GetList"
	quarryBudget = "quarry batch, budget"
)

// quarryWays are our ways. The ways that use calls by query or list are in quarry_batch.go.
var quarryWays = []way{
	{"query2comp", quarry, buildQuarryQuery(quarryPlain)},
	{"query2comp", quarryCursor, buildQuarryCursor(quarryPlain)},
	{"query2comp-kernel", quarryKernel, buildQuarryKernel(quarryPlain)},
	{"query32arch", quarry, buildQuarryQuery(quarrySpread(5, 0))},
	{"query256arch", quarry, buildQuarryQuery(quarrySpread(0, 8))},
	{"random", quarry, buildQuarryRandom},
	{"random", quarryDirect, buildQuarryDirect},
	{"create2comp", quarry, buildQuarryCreate(2)},
	{"create2comp-batch", quarryBatch, buildQuarryCreateN(2)},
	{"create2comp_alloc", quarry, buildQuarryAlloc},
	{"create2comp_alloc", quarryBatch, buildQuarryAllocN},
	{"create2comp_alloc", quarryWarm, buildQuarryAllocShared},
	{"create10comp", quarry, buildQuarryCreate(10)},
	{"create10comp-batch", quarryBatch, buildQuarryCreateN(10)},
	{"delete2comp", quarry, buildQuarryDelete(2)},
	{"delete10comp", quarry, buildQuarryDelete(10)},
	{"add_remove", quarry, buildQuarryAddRemove(0, inOrder)},
	{"add_remove-shuffled", quarry, buildQuarryAddRemove(0, shuffled)},
	{"add_remove_large", quarry, buildQuarryAddRemove(10, inOrder)},
	{"create-worst", quarry, buildQuarryWorst},
	{"enable", quarry, buildQuarryEnable},
	{"new_world", quarry, buildQuarryNewWorld},
	{"memory", quarry, buildQuarryMemory},
	{"memory", quarryBatch, buildQuarryMemoryN},
	{"archetypes", quarry, buildQuarryArchetypes},
}

// quarryWorld is a world with the components registered.
type quarryWorld struct {
	w        *ecs.World
	position ecs.Component[Position]
	velocity ecs.Component[Velocity]
	extra    []ecs.Type // C1 to C12
}

func openQuarry(options ...ecs.Option) (quarryWorld, error) {
	w, err := ecs.NewWorld(options...)
	if err != nil {
		return quarryWorld{}, err
	}
	return quarryWorld{
		w: w, position: ecs.Register[Position](w), velocity: ecs.Register[Velocity](w),
		extra: []ecs.Type{
			ecs.Register[C1](w), ecs.Register[C2](w), ecs.Register[C3](w), ecs.Register[C4](w),
			ecs.Register[C5](w), ecs.Register[C6](w), ecs.Register[C7](w), ecs.Register[C8](w),
			ecs.Register[C9](w), ecs.Register[C10](w), ecs.Register[C11](w), ecs.Register[C12](w),
		},
	}, nil
}

func (s *quarryWorld) close() error { return s.w.Close() }

// committed counts whole granules of 2 MiB.
func (s *quarryWorld) committed() int64 { return int64(s.w.Universe().Stats().Committed) }

// with returns the given types and the extras whose bits are set in mask.
func (s *quarryWorld) with(mask int, types ...ecs.Type) []ecs.Type {
	for i, t := range s.extra {
		if mask>>i&1 != 0 {
			types = append(types, t)
		}
	}
	return types
}

// movers is the archetype of Position and Velocity.
func (s *quarryWorld) movers() *ecs.Archetype { return ecs.NewArchetype(s.w, s.position, s.velocity) }

// tally sums up the entities with a Position that have a Velocity, or do not.
func (s *quarryWorld) tally(velocity bool) tally {
	term := ecs.Without(s.velocity)
	if velocity {
		term = ecs.With(s.velocity)
	}
	var t tally
	for rows := range ecs.NewQuery(s.w, ecs.Read(s.position), term).Rows() {
		p := s.position.Slice(rows)
		for i := range p {
			t.add(&p[i])
		}
	}
	return t
}

// fill makes n movers that stand at zero with velocityOf.
func (s *quarryWorld) fill(n int) error {
	batch, err := s.movers().CreateN(n)
	if err != nil {
		return err
	}
	i := 0
	for rows := range batch.Rows() {
		v := s.velocity.Slice(rows)
		for k := range v {
			v[k] = velocityOf(i)
			i++
		}
	}
	return nil
}
