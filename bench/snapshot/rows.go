package snapshot

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// Position and Velocity are the components.
type (
	Position struct{ X, Y float64 }
	Velocity struct{ X, Y float64 }
)

const (
	dt           = 1.0 / 64
	positionSize = 16
)

func velocityOf(i int) Velocity { return Velocity{float64(i%7 + 1), float64(i%5 - 2)} }

// move is what a frame does to a row.
func move(p []Position, v []Velocity) {
	v = v[:len(p)]
	for i := range p {
		p[i].X += v[i].X * dt
		p[i].Y += v[i].Y * dt
	}
}

// rows are n rows of a world.
type rows struct {
	moment   *ecs.Snapshot // taken anew by snapshot
	world    *ecs.World
	position ecs.Component[Position]
	velocity ecs.Component[Velocity]
	movers   *ecs.Query
	ids      []ecs.Entity
}

func newRows(n int) (*rows, error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	r := &rows{world: w, position: ecs.Register[Position](w), velocity: ecs.Register[Velocity](w)}
	r.movers = ecs.NewQuery(w, ecs.Write(r.position), ecs.Read(r.velocity))
	batch, err := ecs.NewArchetype(w, r.position, r.velocity).CreateN(n)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("snapshot: %w", err), w.Close())
	}
	r.ids = batch.Entities(make([]ecs.Entity, 0, n))
	i := 0
	for c := range batch.Rows() {
		for k := range r.velocity.Slice(c) {
			r.velocity.Slice(c)[k] = velocityOf(i)
			i++
		}
	}
	return r, nil
}

// moveAll moves all rows.
func (r *rows) moveAll() {
	for c := range r.movers.Rows() {
		move(r.position.Slice(c), r.velocity.Slice(c))
	}
}

// moveSome moves n rows from one on, by the slices of the chunks in which they are.
func (r *rows) moveSome(first, n int) {
	at := 0
	for c := range r.movers.Rows() {
		if lo, hi := max(first-at, 0), min(first+n-at, c.Len()); lo < hi {
			move(r.position.Slice(c)[lo:hi], r.velocity.Slice(c)[lo:hi])
		}
		if at += c.Len(); at >= first+n {
			break
		}
	}
}

// moveList moves n rows from one on, one by one, by their entities.
func (r *rows) moveList(first, n int) {
	for _, e := range r.ids[first : first+n] {
		p, v := r.position.Mut(e), r.velocity.Get(e)
		p.X += v.X * dt
		p.Y += v.Y * dt
	}
}

// check compares each place with that after moves(i) moves of row i.
func check(n int, place func(i int) Position, moves func(i int) int) error {
	for i := range n {
		v, m := velocityOf(i), float64(moves(i))
		if got, want := place(i), (Position{v.X * dt * m, v.Y * dt * m}); got != want {
			return fmt.Errorf("row %d is at %v, want %v", i, got, want)
		}
	}
	return nil
}

func (r *rows) place(i int) Position { return *r.position.Get(r.ids[i]) }

// copied are rows in Go slices, and a copy of them.
type copied struct {
	p, pSaved   []Position
	v, vSaved   []Velocity
	ids, idsOld []uint64
}

func newCopied(n int) *copied {
	c := &copied{p: make([]Position, n), v: make([]Velocity, n), ids: make([]uint64, n)}
	for i := range c.v {
		c.v[i], c.ids[i] = velocityOf(i), uint64(i)
	}
	c.save()
	return c
}

func (c *copied) save() {
	c.pSaved, c.vSaved, c.idsOld = append(c.pSaved[:0], c.p...), append(c.vSaved[:0], c.v...),
		append(c.idsOld[:0], c.ids...)
}

func (c *copied) back() {
	copy(c.p, c.pSaved)
	copy(c.v, c.vSaved)
	copy(c.ids, c.idsOld)
}

// snapshot takes a snapshot, in the memory of the last one, which is closed.
func (r *rows) snapshot() *ecs.Snapshot {
	if r.moment == nil {
		r.moment = r.world.Snapshot()
	} else {
		r.moment.Renew()
	}
	return r.moment
}
