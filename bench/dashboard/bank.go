package dashboard

import (
	"errors"
	"fmt"
	"sync"

	"quarry/ecs"
)

// bank is a side. All but the report of a state belongs to the owner.
type bank interface {
	// step runs a frame.
	step(frame int) error
	// publish returns the present state, which stays as it is until it is retired.
	publish() state
	// retire takes a state back that nobody reads any more.
	retire(state)
	close() error
}

// state is what readers read, in several goroutines at once and while the owner steps.
type state interface{ report() totals }

// world has the accounts as entities.
type world struct {
	w       *ecs.World
	account ecs.Component[Account]
	kind    *ecs.Archetype
	write   *ecs.Query
	read    *ecs.Query
}

func newWorld(n int) (*world, error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	b := &world{w: w, account: ecs.Register[Account](w)}
	b.kind = ecs.NewArchetype(w, b.account)
	b.write, b.read = ecs.NewQuery(w, ecs.Write(b.account)), ecs.NewQuery(w, ecs.Read(b.account))
	if err := b.open(n, 0); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return b, nil
}

// open opens n accounts.
func (b *world) open(n, frames int) error {
	batch, err := b.kind.CreateN(n)
	if err != nil {
		return fmt.Errorf("dashboard: %w", err)
	}
	for rows := range batch.Rows() {
		a := b.account.Slice(rows)
		for i := range a {
			a[i] = Account{newBalance, int64(frames)}
		}
	}
	return nil
}

func (b *world) step(frame int) error {
	for rows := range b.write.Rows() {
		trade(b.account.Slice(rows), frame)
	}
	return b.open(opened, frame+1)
}

// moment is a state of a world.
type moment struct {
	*ecs.Snapshot
	of *world
}

func (b *world) publish() state { return moment{b.w.Snapshot(), b} }
func (b *world) retire(s state) { s.(moment).Close() }

func (m moment) report() (t totals) {
	for rows := range m.Rows(m.of.read) {
		t.add(m.of.account.Slice(rows))
	}
	return t
}

func (b *world) close() error { return errors.Join(b.w.Verify(), b.w.Close()) }

// plain has the accounts in a slice. Its states are copies of it, in memory that is used again.
type plain struct {
	accounts []Account
	free     []*copied
}

type copied struct{ accounts []Account }

func newPlain(n int) *plain {
	p := new(plain)
	p.open(n, 0)
	return p
}

func (p *plain) open(n, frames int) {
	for range n {
		p.accounts = append(p.accounts, Account{newBalance, int64(frames)})
	}
}

func (p *plain) step(frame int) error {
	trade(p.accounts, frame)
	p.open(opened, frame+1)
	return nil
}

func (p *plain) publish() state {
	c := new(copied)
	if last := len(p.free) - 1; last >= 0 {
		c, p.free = p.free[last], p.free[:last]
	}
	c.accounts = append(c.accounts[:0], p.accounts...)
	return c
}

func (p *plain) retire(s state) { p.free = append(p.free, s.(*copied)) }
func (p *plain) close() error   { return nil }

func (c *copied) report() (t totals) {
	t.add(c.accounts)
	return t
}

// locked has the accounts in a slice that its readers read where it is, under a lock for which the
// owner waits. Nothing is copied: what a frame with readers takes beyond one without is the price
// of a reader on another core, whose cache then has the lines that the owner writes, and of waits.
type locked struct {
	*plain
	mu sync.RWMutex // held by reports, and exclusively by step
}

func newLocked(n int) *locked { return &locked{plain: newPlain(n)} }

func (l *locked) step(frame int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.plain.step(frame)
}

func (l *locked) publish() state { return lent{l} }
func (l *locked) retire(state)   {}

// lent is the accounts of now.
type lent struct{ of *locked }

func (s lent) report() (t totals) {
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	t.add(s.of.accounts)
	return t
}
