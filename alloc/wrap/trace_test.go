package wrap_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

func TestTraceLines(t *testing.T) {
	h := newHeap(t)
	var text bytes.Buffer
	a := wrap.NewTrace(wrap.NewLimit(h, 1000), &text)
	p, err := a.Alloc(100, 16)
	require.NoError(t, err)
	q, err := a.Alloc(10, 32)
	require.NoError(t, err)
	require.True(t, a.ResizeSized(p, 100, 16, 90))
	require.False(t, a.ResizeSized(p, 90, 16, 5000))
	require.False(t, a.ResizeSized(p, 90, 16, 0))
	_, err = a.Alloc(5000, 0)
	require.ErrorIs(t, err, alloc.ErrFull)
	_, err = a.Alloc(5000, 128)
	require.ErrorIs(t, err, alloc.ErrFull)
	a.FreeSized(nil, 1, 0)
	a.FreeSized(p, 90, 16)
	require.Panics(t, func() { a.FreeSized(p, 90, 16) })
	a.FreeSized(q, 10, 32)
	require.Empty(t, text.String(), "lines are buffered")
	require.NoError(t, a.Flush())
	want := fmt.Sprintf(`1: malloc %[1]p 100
1: memalign %[2]p 32 10
1: realloc %[1]p %[1]p 90
1: realloc 0x0 %[1]p 5000
1: malloc 0x0 5000
1: memalign 0x0 128 5000
1: free 0x0
1: free %[1]p
1: free %[2]p
`, p, q)
	require.Equal(t, want, text.String())
	require.NoError(t, a.Close())
	p, err = a.Alloc(7, 0)
	require.NoError(t, err)
	a.ResizeSized(p, 7, 0, 6)
	a.FreeSized(p, 6, 0)
	require.NoError(t, a.Close())
	require.Equal(t, want, text.String(), "calls after Close are not written down")
	require.Equal(t, 0, a.Unwrap().(*wrap.Limit).Live())
}

// wellFormed returns what is wrong with the names in a text of a Trace.
func wellFormed(text []byte) error {
	named := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		before, after := "0x0", f[2]
		switch f[1] {
		case "realloc":
			before = f[3]
		case "free":
			before, after = f[2], "0x0"
		}
		if before != "0x0" && !named[before] {
			return fmt.Errorf("%s: %s is not live", line, before)
		}
		if f[1] == "free" || after != "0x0" && after != before {
			delete(named, before)
		}
		if after != "0x0" && after != before {
			if named[after] {
				return fmt.Errorf("%s: %s is live", line, after)
			}
			named[after] = true
		}
	}
	if len(named) > 0 {
		return fmt.Errorf("%d blocks were never freed", len(named))
	}
	return nil
}

// TestTraceOfBlocksFromElsewhere: what went behind the trace's back must not leave
// a text that frees a name that is not live, or gives one twice.
func TestTraceOfBlocksFromElsewhere(t *testing.T) {
	h := newHeap(t)
	var text bytes.Buffer
	a := wrap.NewTrace(h, &text)
	p, err := h.Alloc(64, 0)
	require.NoError(t, err)
	a.FreeSized(p, 64, 0)
	for { // until the address comes again
		q, err := a.Alloc(64, 0)
		require.NoError(t, err)
		h.FreeSized(q, 64, 0)
		if q == p {
			break
		}
	}
	q, err := h.Alloc(64, 0)
	require.NoError(t, err)
	require.Equal(t, p, q)
	require.True(t, a.ResizeSized(p, 64, 0, 60))
	r, err := h.Alloc(64, 0)
	require.NoError(t, err)
	require.True(t, a.ResizeSized(r, 64, 0, 50))
	a.FreeSized(r, 50, 0)
	h.FreeSized(p, 60, 0)
	s, err := a.Alloc(64, 0)
	require.NoError(t, err)
	for ; s != p; s, err = a.Alloc(64, 0) {
		require.NoError(t, err)
		defer h.FreeSized(s, 64, 0)
	}
	a.FreeSized(s, 64, 0)
	require.NoError(t, a.Close())
	if err := wellFormed(text.Bytes()); err != nil {
		require.ErrorContains(t, err, "never freed") // which is so for what the heap freed alone
	}
	require.Contains(t, text.String(), fmt.Sprintf("1: realloc %p 0x0 50\n1: free %[1]p\n", r))
}

// calledBack allocates again what it has freed, by the trace around it, as a call-back of the
// allocator inside may.
type calledBack struct {
	alloc.Allocator
	trace *wrap.Trace
	again unsafe.Pointer
}

func (c *calledBack) FreeSized(p unsafe.Pointer, size, align int) {
	c.Allocator.FreeSized(p, size, align)
	if c.again == nil {
		c.again, _ = c.trace.Alloc(size, align)
	}
}

// TestTraceOfAnAddressThatComesAtOnce: another goroutine may get the address while the free
// is still at work.
func TestTraceOfAnAddressThatComesAtOnce(t *testing.T) {
	var text bytes.Buffer
	inside := &calledBack{Allocator: newHeap(t)}
	a := wrap.NewTrace(inside, &text)
	inside.trace = a
	p, err := a.Alloc(64, 0)
	require.NoError(t, err)
	a.FreeSized(p, 64, 0)
	require.Equal(t, p, inside.again)
	require.NoError(t, a.Flush())
	require.Equal(t, fmt.Sprintf("1: malloc %p 64\n1: free %[1]p\n1: malloc %[1]p 64\n", p), text.String())
	a.FreeSized(p, 64, 0)
}

// full is a writer that takes so many bytes and then has an error.
type full struct{ left int }

var errDisk = errors.New("the disk is full")

func (f *full) Write(b []byte) (int, error) {
	n := min(len(b), f.left)
	f.left -= n
	if n < len(b) {
		return n, errDisk
	}
	return n, nil
}

func TestTraceKeepsTheErrorOfItsWriter(t *testing.T) {
	a := wrap.NewTrace(newHeap(t), &full{left: 100})
	for range 10_000 {
		p, err := a.Alloc(64, 0)
		require.NoError(t, err, "the allocator works on")
		a.FreeSized(p, 64, 0)
	}
	require.ErrorIs(t, a.Flush(), errDisk)
	require.ErrorIs(t, a.Close(), errDisk)
}

func BenchmarkTrace(b *testing.B) {
	a := wrap.NewTrace(newHeap(b), io.Discard)
	for b.Loop() {
		freeAll(a, []live{got(b, a, 64)})
	}
}

func TestTraceOfSeveralGoroutines(t *testing.T) {
	var text bytes.Buffer
	a := wrap.NewTrace(newHeap(t), &text)
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			freeAll(a, randomCalls(t, a, rand.New(rand.NewPCG(5, uint64(g))), 2000, func(live, int, bool) {}))
		})
	}
	group.Wait()
	require.NoError(t, a.Close())
	require.NoError(t, wellFormed(text.Bytes()))
}
