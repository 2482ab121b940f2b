package rollback

import (
	"fmt"

	"quarry/bench/boids"
	"quarry/bench/life"
	"quarry/ecs"
)

// depth is the number of saved states, and of frames by which a game goes back.
const depth = 8

// game is a game of either side, with its saved states.
type game interface {
	// step plays a frame. What it does depends on the state and the number of the frame.
	step(frame int) error
	// save saves the state in a slot, in place of what the slot had.
	save(slot int)
	// back goes back to the state in a slot, which keeps it.
	back(slot int) error
	// kept returns the bytes that the saved states take beside the game.
	kept() int
	// check compares the state after a number of frames with what is known of it.
	check(frames int) error
	close() error
}

// ring holds snapshots of a world.
type ring struct {
	world   *ecs.World
	moments [depth]*ecs.Snapshot
}

func (r *ring) save(slot int) {
	if s := r.moments[slot]; s != nil {
		s.Renew()
		return
	}
	r.moments[slot] = r.world.Snapshot()
}

func (r *ring) back(slot int) error { return r.world.Restore(r.moments[slot]) }

func (r *ring) kept() (n int) {
	for _, s := range r.moments {
		if s != nil {
			n += s.Kept()
		}
	}
	return n
}

// birds is the flock of a world.
type birds struct {
	*boids.World
	ring
	first boids.Bird // as it was made
}

func newBirds(n int) (*birds, error) {
	w, err := boids.NewWorld(n)
	if err != nil {
		return nil, err
	}
	return &birds{World: w, ring: ring{world: w.ECS()}, first: w.Birds(nil)[0]}, nil
}

func (b *birds) step(frame int) error { return b.Step(boids.Lure(frame)) }
func (b *birds) check(frames int) error {
	if now := b.Birds(nil)[0]; frames > 0 && now == b.first {
		return fmt.Errorf("after %d frames the first bird is where it was", frames)
	}
	return b.ECS().Verify()
}
func (b *birds) close() error { return b.Close() }

// plainBirds is the flock of a slice.
type plainBirds struct {
	*boids.Plain
	slots [depth][]boids.Bird
}

func (b *plainBirds) step(frame int) error { return b.Step(boids.Lure(frame)) }
func (b *plainBirds) save(slot int)        { b.slots[slot] = append(b.slots[slot][:0], b.Birds...) }
func (b *plainBirds) back(slot int) error  { copy(b.Birds, b.slots[slot]); return nil }
func (b *plainBirds) check(int) error      { return nil } // compared with the world's
func (b *plainBirds) close() error         { return nil }
func (b *plainBirds) kept() (n int) {
	for _, s := range b.slots {
		n += len(s) * birdSize
	}
	return n
}

const (
	birdSize = 16
	cellSize = 88 // of plain Life: an object, and a pointer to it
)

// cells is the field of acorns of a world.
type cells struct {
	*life.World
	ring
	acorns int
}

func newCells(acorns int) (*cells, error) {
	w, err := life.NewWorld(life.Acorn().Field(acorns))
	if err != nil {
		return nil, err
	}
	return &cells{w, ring{world: w.ECS()}, acorns}, nil
}

func (c *cells) step(int) error { return c.Step() }
func (c *cells) close() error   { return c.Close() }
func (c *cells) check(frames int) error {
	if err := c.ECS().Verify(); err != nil {
		return err
	}
	return checkLife(c, c.acorns, frames)
}

// plainCells is the field of acorns of the Go heap.
type plainCells struct {
	*life.Plain
	slots  [depth]life.Plain
	acorns int
}

func newPlainCells(acorns int) (*plainCells, error) {
	p, err := life.NewPlain(life.Acorn().Field(acorns))
	return &plainCells{Plain: p, acorns: acorns}, err
}

func (c *plainCells) step(int) error         { return c.Step() }
func (c *plainCells) save(slot int)          { c.CopyTo(&c.slots[slot]) }
func (c *plainCells) back(slot int) error    { c.slots[slot].CopyTo(c.Plain); return nil }
func (c *plainCells) check(frames int) error { return checkLife(c, c.acorns, frames) }
func (c *plainCells) close() error           { return nil }
func (c *plainCells) kept() (n int) {
	for i := range c.slots {
		n += c.slots[i].Population() * cellSize
	}
	return n
}

// checkLife compares a field of acorns with the known answers. It checks that all links are right.
func checkLife(b interface {
	Population() int
	Births() uint64
	Deaths() uint64
	Verify() error
}, acorns, generation int) error {
	want, n := life.AcornAt(generation), uint64(acorns)
	if b.Population() != acorns*want.Population || b.Births() != n*want.Births || b.Deaths() != n*want.Deaths {
		return fmt.Errorf("%d cells, %d births and %d deaths at generation %d, want %d times %d, %d and %d",
			b.Population(), b.Births(), b.Deaths(), generation, acorns, want.Population, want.Births, want.Deaths)
	}
	return b.Verify()
}
