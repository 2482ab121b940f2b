package dashboard

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// bank is either side.
type bank interface {
	// step runs a frame.
	step(frame int) error
	// publish makes the present state the one that report reads, in place of that before.
	publish()
	// report adds up the state; another goroutine calls it while the owner steps.
	report() totals
	close() error
}

// world has the accounts as entities.
type world struct {
	w       *ecs.World
	account ecs.Component[Account]
	kind    *ecs.Archetype
	write   *ecs.Query
	read    *ecs.Query
	state   *ecs.Snapshot
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
			a[i] = Account{first, int64(frames)}
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

func (b *world) publish() {
	if b.state != nil {
		b.state.Close()
	}
	b.state = b.w.Snapshot()
}

func (b *world) report() (t totals) {
	for rows := range b.state.Rows(b.read) {
		t.add(b.account.Slice(rows))
	}
	return t
}

func (b *world) close() error { return errors.Join(b.w.Verify(), b.w.Close()) }

// plain has the accounts in a slice, and a copy of it.
type plain struct{ accounts, copied []Account }

func newPlain(n int) *plain {
	p := new(plain)
	p.open(n, 0)
	return p
}

func (p *plain) open(n, frames int) {
	for range n {
		p.accounts = append(p.accounts, Account{first, int64(frames)})
	}
}

func (p *plain) step(frame int) error {
	trade(p.accounts, frame)
	p.open(opened, frame+1)
	return nil
}

func (p *plain) publish()     { p.copied = append(p.copied[:0], p.accounts...) }
func (p *plain) close() error { return nil }
func (p *plain) report() (t totals) {
	t.add(p.copied)
	return t
}
