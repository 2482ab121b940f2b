package wrap

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"quarry/alloc"
	"quarry/mmap"
)

// GuardError reports misuse of a block of a Guard: an access that faulted, which wraps the
// *mmap.FaultError, or bytes that were overwritten, which wraps ErrDamage. Where a system reports
// only the page that faulted (s390x), Addr of a fault is the first byte of the page.
type GuardError struct {
	Addr  uintptr // first byte that was accessed or has changed
	Bytes int     // from the first changed byte to the last; 0 for a fault
	Block uintptr // address of the block
	Size  int     // requested size of the block, in bytes
	Align int     // requested alignment of the block, in bytes
	Freed bool    // the block was freed before

	cause      error
	born, died callers
}

// Where returns Addr relative to the block: bytes from its first byte on, negative before it.
func (e *GuardError) Where() int { return int(e.Addr - e.Block) }

// Error returns what was accessed, its place relative to the block, and the stacks where the block
// was allocated and freed, one line per function.
func (e *GuardError) Error() string { return "wrap: Guard: " + e.text() }

func (e *GuardError) text() string {
	what := "touch"
	if e.Bytes > 0 {
		what = fmt.Sprintf("write to %d bytes", e.Bytes)
	}
	return fmt.Sprintf("%s at %#x, %s", what, e.Addr, e.where())
}

// where returns the place and the block as text.
func (e *GuardError) where() string {
	place := ""
	switch at := e.Where(); {
	case at < 0:
		place = fmt.Sprintf("%d bytes before", -at)
	case at >= e.Size:
		place = fmt.Sprintf("%d bytes behind the end of", at-e.Size)
	default:
		place = fmt.Sprintf("%d bytes into", at)
	}
	if e.Freed {
		place += " what was"
	}
	text := fmt.Sprintf("%s the block of %d bytes aligned to %d at %#x, allocated at\n%v",
		place, e.Size, e.Align, e.Block, &e.born)
	if e.Freed {
		text += fmt.Sprintf("freed at\n%v", &e.died)
	}
	return text
}

// Unwrap returns the fault or ErrDamage.
func (e *GuardError) Unwrap() error { return e.cause }

// report returns a GuardError about the byte at an address.
func (b *guarded) report(addr uintptr, cause error) *GuardError {
	return &GuardError{
		Addr: addr, Block: uintptr(b.p), Size: b.size, Align: b.alignment(), Freed: b.state != stateLive,
		cause: cause, born: b.born, died: b.died,
	}
}

// Run calls f and returns a fault in a zone or a freed block of this Guard as a *GuardError, for
// which errors.Is finds mmap.ErrFault. It uses mmap.Guarded and returns its errors about other
// memory unchanged.
func (g *Guard) Run(f func()) error {
	if f == nil {
		panic("wrap: Guard.Run: the function is nil")
	}
	err := mmap.Guarded(f)
	var fault *mmap.FaultError
	if !errors.As(err, &fault) {
		return err
	}
	if e := g.Explain(fault.Addr); e != nil {
		e.cause = err
		return e
	}
	return err
}

// Explain returns the block whose body or zones contain an address, live or in quarantine, as a
// *GuardError; nil if there is none. Cost: a search of all blocks.
func (g *Guard) Explain(addr uintptr) *GuardError {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at(addr)
}

// at is Explain. mu is held.
func (g *Guard) at(addr uintptr) *GuardError {
	for _, b := range g.blocks {
		if addr-uintptr(b.base) < uintptr(b.total) {
			return b.report(addr, nil)
		}
	}
	return nil
}

// Verify checks the numbered invariants and all memory that must not have been written to. The
// error wraps a *GuardError, with ErrDamage in it, for each damaged block. Verify may be called at
// any time, from any goroutine. Cost: a read of all zones that hold canaries.
func (g *Guard) Verify() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return errors.Join(append(slices.Clone(g.found), g.verify()...)...)
}

func (g *Guard) verify() (errs []error) {
	blocks := slices.SortedFunc(maps.Values(g.blocks), func(a, b *guarded) int {
		return cmp.Compare(uintptr(a.base), uintptr(b.base))
	})
	end, freed := uintptr(0), 0
	for _, b := range blocks {
		if b.state == stateLeaving {
			continue // its surroundings may be gone already
		}
		if at := uintptr(b.base); at < end || !b.inOrder(g.zone, g.unit) {
			errs = append(errs,
				fmt.Errorf("wrap: Guard: G1: base %p, total %d, edges %v, the block before ends at %#x: %s",
					b.base, b.total, b.edges, end, b.describe()))
			continue
		}
		end = uintptr(b.base) + uintptr(b.total)
		if b.state == stateFreed {
			freed++
		}
		if e := b.damage(); e != nil {
			errs = append(errs, e)
		}
	}
	bytes := 0
	for _, b := range g.wait.blocks {
		bytes += b.total
		if b.state != stateFreed || g.blocks[b.p] != b {
			errs = append(errs, fmt.Errorf("wrap: Guard: G2: in quarantine, but not freed: %s", b.describe()))
		}
	}
	if bytes != g.wait.bytes || freed != len(g.wait.blocks) {
		errs = append(errs,
			fmt.Errorf("wrap: Guard: G2: %d blocks are freed, %d of %d bytes are in quarantine, which counts %d",
				freed, len(g.wait.blocks), bytes, g.wait.bytes))
	}
	return errs
}

// inOrder reports whether the block is laid out correctly (G1).
func (b *guarded) inOrder(zone, unit int) bool {
	e := b.edges
	at := b.start()
	return e[0] == 0 && e[1] >= zone && e[1]%unit == 0 && at >= e[1] && at+b.size <= e[2] && e[2]%unit == 0 &&
		b.total-e[2] >= zone && e[3] == b.total && uintptr(b.p)%uintptr(b.alignment()) == 0 &&
		e[2]-at-b.size < max(unit, b.alignment())
}

// Close verifies everything, frees all blocks, live ones included and the newest first, and ends
// the Guard: later calls of its methods panic, except Run, Explain, Verify and Close. The error
// wraps what Verify finds and, when blocks were live, alloc.ErrLeak with the stacks that allocated
// up to eight of them. When the system refused to remove a guard, Close returns that error and may
// be called again; otherwise a second call does nothing. No other call may be under way.
func (g *Guard) Close() error {
	g.mu.Lock()
	var errs []error
	if !g.closed {
		g.closed = true
		errs = append(slices.Clone(g.found), g.verify()...)
		errs = append(errs, g.leaks()...)
	}
	left := slices.SortedFunc(maps.Values(g.blocks), func(a, b *guarded) int { return cmp.Compare(b.number, a.number) })
	g.wait.leave(len(g.wait.blocks))
	for _, b := range left {
		b.state = stateLeaving
	}
	g.mu.Unlock()
	for _, b := range left {
		if err := g.release(b); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// mostLeaks is the number of leaks for which Close reports stacks.
const mostLeaks = 8

// leaks returns an error for the live blocks, if any. mu is held.
func (g *Guard) leaks() []error {
	var live []*guarded
	bytes := 0
	for _, b := range g.blocks {
		if b.state == stateLive {
			live = append(live, b)
			bytes += b.size
		}
	}
	if len(live) == 0 {
		return nil
	}
	slices.SortFunc(live, func(a, b *guarded) int { return cmp.Compare(a.number, b.number) })
	errs := []error{fmt.Errorf("wrap: Guard.Close: %d blocks of %d bytes: %w", len(live), bytes, alloc.ErrLeak)}
	for _, b := range live[:min(len(live), mostLeaks)] {
		errs = append(errs, errors.New(b.describe()))
	}
	return errs
}
