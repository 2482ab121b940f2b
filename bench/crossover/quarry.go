package main

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// world is Quarry's side.
type world struct {
	w        *ecs.World
	position ecs.Component[position]
	velocity ecs.Component[velocity]
	movers   *ecs.Query
	slims    *ecs.Bundle[slim]
	handles  []ecs.Entity
	list     []uint32
	work     func(*world)
	sum      uint64
	err      error
}

// Six more types of the wide record.
type (
	extra0 extra
	extra1 extra
	extra2 extra
	extra3 extra
	extra4 extra
	extra5 extra
)

func wideTypes(w *ecs.World) []ecs.Type {
	return []ecs.Type{
		ecs.Register[extra0](w), ecs.Register[extra1](w), ecs.Register[extra2](w),
		ecs.Register[extra3](w), ecs.Register[extra4](w), ecs.Register[extra5](w),
	}
}

// newWorld makes a world with n entities of position, velocity and more.
func newWorld(n int, more func(*ecs.World) []ecs.Type, options ...ecs.TypeOption) (*world, error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return nil, fmt.Errorf("crossover: %w", err)
	}
	s := &world{w: w, position: ecs.Register[position](w), velocity: ecs.Register[velocity](w, options...)}
	types := []ecs.Type{s.position, s.velocity}
	if more != nil {
		types = append(types, more(w)...)
	}
	s.movers = ecs.NewQuery(w, ecs.Write(s.position), ecs.Read(s.velocity))
	batch, err := ecs.NewArchetype(w, types...).CreateN(n)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("crossover: %w", err), w.Close())
	}
	i := 0
	for rows := range batch.Rows() {
		for at, v := 0, s.velocity.Slice(rows); at < len(v); at++ {
			v[at] = speedOf(i)
			i++
		}
	}
	s.handles = batch.Entities(make([]ecs.Entity, 0, n))
	return s, nil
}

// doing is a side of n entities that does work.
func doing(n int, list []uint32, options []ecs.TypeOption, work func(*world)) (side, error) {
	s, err := newWorld(n, nil, options...)
	if err != nil {
		return nil, err
	}
	s.slims, s.list, s.work = ecs.NewBundle[slim](s.w), list, work
	return s, nil
}

func (s *world) do() { s.work(s) }

func (s *world) answer() uint64 {
	sum := s.sum
	for rows := range s.movers.Rows() {
		for _, p := range s.position.ReadOnly(rows) {
			sum = mix(sum, p)
		}
	}
	return sum
}

func (s *world) close() error { return errors.Join(s.err, s.w.Close()) }

// maker makes worlds and closes them.
type maker struct {
	n   int
	sum uint64
	err error
}

func newQuarryMake(n int) (side, error) { return &maker{n: n}, nil }

func (m *maker) do() {
	s, err := newWorld(m.n, nil)
	if err != nil {
		m.err = err
		return
	}
	m.sum += uint64(s.movers.Count()) + uint64(s.velocity.Get(s.handles[m.n-1]).X)
	m.err = errors.Join(m.err, s.close())
}

func (m *maker) answer() uint64 { return m.sum }
func (m *maker) close() error   { return m.err }

// loop moves all rows, which no type of the query lets a chunk skip.
func loop(s *world) {
	for rows := range s.movers.Rows() {
		p, v := s.position.Slice(rows), s.velocity.Slice(rows)
		for i := range p {
			p[i].move(v[i])
		}
	}
}

func newQuarryLoop(n int) (side, error) { return doing(n, nil, nil, loop) }

func newQuarryWide(n int) (side, error) {
	s, err := newWorld(n, wideTypes)
	if err != nil {
		return nil, err
	}
	s.work = loop
	return s, nil
}

func newQuarryGet(n int) (side, error) {
	return doing(n, shuffled(n), nil, func(s *world) {
		x := 0.0
		for _, i := range s.list {
			x += s.velocity.Get(s.handles[i]).X
		}
		s.sum += uint64(x)
	})
}

func newQuarryReplace(n int) (side, error) {
	return doing(n, order(some(n, 16), n), nil, func(s *world) {
		for _, i := range s.list {
			s.w.Destroy(s.handles[i])
			s.handles[i] = s.slims.Create(slim{Velocity: speedOf(int(i))})
		}
	})
}

func newQuarryFlag(n int) (side, error) {
	return doing(n, order(some(n, 16), n), []ecs.TypeOption{ecs.Enableable}, func(s *world) {
		for _, i := range s.list {
			s.velocity.Disable(s.handles[i])
		}
		for rows := range s.movers.Rows() {
			p, v := s.position.Slice(rows), s.velocity.Slice(rows)
			for from, to := range rows.Runs() {
				for i := from; i < to; i++ {
					p[i].move(v[i])
				}
			}
		}
		for _, i := range s.list {
			s.velocity.Enable(s.handles[i])
		}
	})
}

func newQuarryState(list func(n int) []uint32) func(n int) (side, error) {
	return func(n int) (side, error) {
		return doing(n, list(n), nil, func(s *world) {
			state := s.w.Snapshot()
			for _, i := range s.list {
				s.position.Mut(s.handles[i]).X++
			}
			x := 0.0
			for rows := range state.Rows(s.movers) {
				x += sumOf(s.position.ReadOnly(rows)) // a function, so that its sum is in a register
			}
			s.err = errors.Join(s.err, state.Err())
			state.Close()
			s.sum += uint64(x)
		})
	}
}

func sumOf(list []position) (x float64) {
	for _, p := range list {
		x += p.X
	}
	return x
}
