package wrap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"quarry/alloc"
)

// Track remembers every live block with the stack that allocated it, and the last
// blocks that were freed with the stacks that did. So it tells of leaks by place, of
// blocks freed twice, and of blocks freed with another size than they have. Any
// goroutine may use it that may use the allocator inside. What an allocator takes back
// as a whole, as an Arena does by a reset, stays live here: track what is below it.
//
// Cost on an AMD Zen 5, Go 1.26: 1 us for a block allocated and freed, 260 bytes of Go
// memory for a live one, 1 MB for the last 4,096 that were freed. A stack is the 12
// innermost frames.
type Track struct {
	from alloc.Allocator
	name string

	mu    sync.Mutex
	live  map[uintptr]*tracked // by address
	gone  []*tracked           // the last that were freed, a ring
	next  int                  // place in gone of the next one
	bytes int                  // of live blocks
}

// tracked is a block, live or freed.
type tracked struct {
	p           uintptr
	size, align int     // bytes
	allocated   callers // the stack that allocated it
	freed       callers // the stack that freed it
}

const mostGone = 4096 // freed blocks that are remembered

// NewTrack tracks a's blocks under a name for reports.
func NewTrack(a alloc.Allocator, name string) *Track {
	checkInside("NewTrack", a)
	return &Track{from: a, name: name, live: map[uintptr]*tracked{}}
}

// Alloc is that of the allocator inside.
func (t *Track) Alloc(size, align int) (unsafe.Pointer, error) {
	p, err := t.from.Alloc(size, align)
	if err != nil {
		return nil, err
	}
	b := &tracked{p: uintptr(p), size: size, align: align, allocated: callersAt(0)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.live[b.p]; old != nil { // an Arena inside took it back by a reset
		t.bytes -= old.size
	}
	t.live[b.p] = b
	t.bytes += size
	return p, nil
}

// ResizeSized is that of the allocator inside. A block that is not live, or has another
// size or alignment, panics with its stacks.
func (t *Track) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.find("ResizeSized", p, size, align)
	ok := t.from.ResizeSized(p, size, align, to)
	if ok {
		b.size = to
		t.bytes += to - size
	}
	return ok
}

// FreeSized is that of the allocator inside. A block that is not live, or has another
// size or alignment, panics with its stacks, and nothing has changed then.
func (t *Track) FreeSized(p unsafe.Pointer, size, align int) {
	if p == nil {
		return
	}
	b := t.take(p, size, align, callersAt(0))
	freed := false
	defer func() {
		if !freed { // the allocator inside panics, since the order is wrong, say
			t.putBack(b)
		}
	}()
	t.from.FreeSized(p, size, align)
	freed = true
}

// take makes a live block a freed one: before it is, or the address could be another's.
func (t *Track) take(p unsafe.Pointer, size, align int, at callers) *tracked {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.find("FreeSized", p, size, align)
	b.freed = at
	delete(t.live, b.p)
	t.bytes -= size
	if len(t.gone) < mostGone {
		t.gone = append(t.gone, b)
	} else {
		t.gone[t.next] = b
		t.next = (t.next + 1) % mostGone
	}
	return b
}

// putBack makes a block live again. What remembers the free has no address any more.
func (t *Track) putBack(b *tracked) {
	t.mu.Lock()
	defer t.mu.Unlock()
	again := *b
	b.p = 0
	t.live[again.p] = &again
	t.bytes += again.size
}

// find returns the live block at p, which has that size and alignment, or panics. mu is
// held.
func (t *Track) find(op string, p unsafe.Pointer, size, align int) *tracked {
	b := t.live[uintptr(p)]
	if b != nil && b.size == size && alignment(b.align) == alignment(align) {
		return b
	}
	panic(fmt.Sprintf("wrap: Track.%s: %q: %s", op, t.name, t.explain(uintptr(p), b, size, align)))
}

// explain says what is wrong with a block, of which b is at p. mu is held.
func (t *Track) explain(p uintptr, b *tracked, size, align int) string {
	if b != nil {
		return fmt.Sprintf("the block at %#x has size=%d align=%d, not size=%d align=%d; allocated at\n%s",
			p, b.size, b.align, size, align, &b.allocated)
	}
	for i := range t.gone { // the last one freed is before next
		b := t.gone[(t.next-1-i+2*len(t.gone))%len(t.gone)]
		if b.p == p {
			return fmt.Sprintf("the block at %#x was freed already; allocated at\n%sfreed at\n%s", p, &b.allocated, &b.freed)
		}
	}
	for _, b := range t.live {
		if in := p - b.p; in < uintptr(b.size) {
			return fmt.Sprintf("%#x points %d bytes into the block of %d bytes allocated at\n%s", p, in, b.size, &b.allocated)
		}
	}
	return fmt.Sprintf("%#x is not a block of this allocator", p)
}

// Leak is what one place allocated and nobody freed.
type Leak struct {
	Blocks, Bytes int
	Stack         string // a line a frame and where that is, innermost first
}

// Leaks returns what is live, by the stack that allocated it, most bytes first.
func (t *Track) Leaks() []Leak {
	t.mu.Lock()
	defer t.mu.Unlock()
	places := map[callers]*Leak{}
	for _, b := range t.live {
		l := places[b.allocated]
		if l == nil {
			l = &Leak{Stack: b.allocated.String()}
			places[b.allocated] = l
		}
		l.Blocks++
		l.Bytes += b.size
	}
	var leaks []Leak
	for l := range maps.Values(places) {
		leaks = append(leaks, *l)
	}
	slices.SortFunc(leaks, func(a, b Leak) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Stack, b.Stack))
	})
	return leaks
}

const mostPlaces = 10 // places in the text of Close's error

// Close returns an error that wraps alloc.ErrLeak when blocks are live, with the places
// that allocated them. It frees nothing, and may be called again.
func (t *Track) Close() error {
	leaks := t.Leaks()
	if len(leaks) == 0 {
		return nil
	}
	blocks, bytes := 0, 0
	var text strings.Builder
	for i, l := range leaks {
		blocks += l.Blocks
		bytes += l.Bytes
		if i < mostPlaces {
			fmt.Fprintf(&text, "\n%d blocks of %d bytes allocated at\n%s", l.Blocks, l.Bytes, l.Stack)
		}
	}
	if more := len(leaks) - mostPlaces; more > 0 {
		fmt.Fprintf(&text, "\nand at %d more places", more)
	}
	return fmt.Errorf("wrap: Track.Close: %q: %d blocks of %d bytes: %w%s", t.name, blocks, bytes, alloc.ErrLeak, &text)
}

// Live returns the number of live blocks and their bytes.
func (t *Track) Live() (blocks, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.live), t.bytes
}

// Unwrap returns the allocator inside.
func (t *Track) Unwrap() alloc.Allocator { return t.from }
