package wrap

import (
	"slices"
	"strings"
)

// quarantine holds freed blocks, the oldest first, until enough has been freed behind
// them. All is under the Guard's lock.
type quarantine struct {
	most   int // bytes behind a block that make it leave
	bytes  int // of all blocks in it (G2)
	blocks []*guarded
}

func (q *quarantine) push(b *guarded) {
	q.blocks = append(q.blocks, b)
	q.bytes += b.total
}

// overdue takes out the blocks with most bytes behind them, as ones that are leaving.
func (q *quarantine) overdue() []*guarded {
	n, bytes := 0, q.bytes
	for ; n < len(q.blocks) && bytes-q.blocks[n].total >= q.most; n++ {
		bytes -= q.blocks[n].total
	}
	return q.leave(n)
}

// leave takes the n oldest blocks out.
func (q *quarantine) leave(n int) []*guarded {
	if n == 0 {
		return nil
	}
	out := slices.Clone(q.blocks[:n])
	clear(q.blocks[:n])
	q.blocks = q.blocks[n:] // append copies what is left when it meets the end
	for _, b := range out {
		q.bytes -= b.total
	}
	return out
}

// enter puts a buried block into quarantine and returns those that have to leave for it,
// after a look at them.
func (g *Guard) enter(b *guarded) []*guarded {
	g.mu.Lock()
	defer g.mu.Unlock()
	b.state = stateFreed
	g.wait.push(b)
	return g.inspect(g.wait.overdue())
}

// inspect notes the damage of blocks that leave the quarantine. mu is held.
func (g *Guard) inspect(out []*guarded) []*guarded {
	for _, b := range out {
		if e := b.damage(); e != nil {
			g.found = append(g.found, e)
			b.found = e
		}
		b.state = stateLeaving
	}
	return out
}

// giveBack gives blocks that have left the quarantine to the allocator inside, and
// tells of their damage, in words.
func (g *Guard) giveBack(out []*guarded) string {
	var found []string
	for _, b := range out {
		if b.found != nil {
			found = append(found, b.found.text())
			b.found = nil
		}
		_ = g.release(b) // refused by the system: it is in quarantine again
	}
	return strings.Join(found, "; ")
}

// giveUp empties the quarantine, and reports whether there was something in it. Damage
// that it finds is told by Verify and Close.
func (g *Guard) giveUp() bool {
	g.mu.Lock()
	out := g.inspect(g.wait.leave(len(g.wait.blocks)))
	g.mu.Unlock()
	_ = g.giveBack(out)
	return len(out) > 0
}

// release gives a block that is leaving to the allocator inside. When the system does not
// let it be touched, it goes to the end of the quarantine, for another try.
func (g *Guard) release(b *guarded) error {
	if err := b.unfence(); err != nil {
		b.bury()
		g.mu.Lock()
		defer g.mu.Unlock()
		b.state = stateFreed
		g.wait.push(b)
		return err
	}
	g.mu.Lock()
	delete(g.blocks, b.p) // first, since what comes next may give its memory to another block
	g.mu.Unlock()
	g.from.FreeSized(b.base, b.total, g.unit)
	return nil
}

// freeNow is release of a block that was live until now. When the allocator inside
// panics, because the order is wrong, say, the block is live again.
func (g *Guard) freeNow(b *guarded) {
	back := false
	defer func() {
		if back {
			return
		}
		b.prepareZones()
		g.mu.Lock()
		defer g.mu.Unlock()
		b.state = stateLive
		g.blocks[b.p] = b
	}()
	_ = g.release(b) // refused by the system: Close tries again
	back = true
}
