package wrap

import (
	"slices"
	"strings"
)

// quarantine holds freed blocks, oldest first, until enough bytes have been freed after them. The
// Guard's lock protects it.
type quarantine struct {
	most   int // bytes freed after a block that make it leave
	bytes  int // bytes of all its blocks (G2)
	blocks []*guarded
}

func (q *quarantine) push(b *guarded) {
	q.blocks = append(q.blocks, b)
	q.bytes += b.total
}

// overdue removes the blocks with most bytes behind them and marks them as leaving.
func (q *quarantine) overdue() []*guarded {
	n, bytes := 0, q.bytes
	for ; n < len(q.blocks) && bytes-q.blocks[n].total >= q.most; n++ {
		bytes -= q.blocks[n].total
	}
	return q.leave(n)
}

// leave removes the n oldest blocks.
func (q *quarantine) leave(n int) []*guarded {
	if n == 0 {
		return nil
	}
	out := slices.Clone(q.blocks[:n])
	clear(q.blocks[:n])
	q.blocks = q.blocks[n:] // append copies the rest when it reaches the end
	for _, b := range out {
		q.bytes -= b.total
	}
	return out
}

// enter puts a buried block into quarantine and returns the blocks that must leave for it,
// inspected.
func (g *Guard) enter(b *guarded) []*guarded {
	g.mu.Lock()
	defer g.mu.Unlock()
	b.state = stateFreed
	g.wait.push(b)
	return g.inspect(g.wait.overdue())
}

// inspect records the damage of blocks that leave the quarantine. mu is held.
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

// giveBack returns blocks that have left the quarantine to the allocator inside, and returns a text
// about their damage.
func (g *Guard) giveBack(out []*guarded) string {
	var found []string
	for _, b := range out {
		if b.found != nil {
			found = append(found, b.found.text())
			b.found = nil
		}
		_ = g.release(b) // refused by the system: the block is in quarantine again
	}
	return strings.Join(found, "; ")
}

// giveUp empties the quarantine and reports whether it held a block. Verify and Close report the
// damage that it finds.
func (g *Guard) giveUp() bool {
	g.mu.Lock()
	out := g.inspect(g.wait.leave(len(g.wait.blocks)))
	g.mu.Unlock()
	_ = g.giveBack(out)
	return len(out) > 0
}

// release returns a leaving block to the allocator inside. When the system refuses to make it
// accessible, the block goes to the end of the quarantine to be retried.
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
	delete(g.blocks, b.p) // first: what follows may give the block's memory to another block
	g.mu.Unlock()
	g.monitor.erase(b)
	g.from.FreeSized(b.base, b.total, g.unit)
	return nil
}

// freeNow is release of a block that was live until now. When the allocator inside panics, for
// example because of the order of frees, the block is live again.
func (g *Guard) freeNow(b *guarded) {
	back := false
	defer func() {
		if back {
			return
		}
		b.prepareZones()
		b.died = nil
		g.monitor.record(b)
		g.mu.Lock()
		defer g.mu.Unlock()
		b.state = stateLive
		g.blocks[b.p] = b
	}()
	_ = g.release(b) // refused by the system: Close tries again
	back = true
}
