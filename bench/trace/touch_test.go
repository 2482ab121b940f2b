package trace

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"quarry/alloc"
	"quarry/bench/recorded"
)

// The method of the reference figures that come with the recordings: the first and the last byte of
// each block are written when it is allocated and checked when it is freed, on one thread, and the
// clock is stopped while the remaining blocks are freed.

// touched are the traces of at least 4,000 lines.
var touched = []string{
	"aosp/surfaceflinger.zip", "wee_alloc/dogfood.trace", "wee_alloc/gcc-hello.trace",
	"recorded/cc1.zip", "recorded/git-log.zip",
}

type touch struct {
	p    unsafe.Pointer
	size int
}

// at is byte i of a block.
func (b *touch) at(i int) *byte {
	// Safe because i is below the block's size.
	return (*byte)(unsafe.Add(b.p, i))
}

func (b *touch) write(size int) {
	b.size = size
	if size > 0 {
		*b.at(0), *b.at(size - 1) = byte(size), byte(size)
	}
}

func (b *touch) wrong() bool {
	return b.size > 0 && (*b.at(0) != byte(b.size) || *b.at(b.size - 1) != byte(b.size))
}

// caller is a Local, or a heap if l is nil: a branch, not an indirect call.
type caller struct {
	l *alloc.Local
	h *alloc.Heap
}

// pass replays the operations once and returns the number of calls and of failed checks. each, if
// not nil, is called for every block that was written, with its operation.
func (c caller) pass(ops []Op, blocks []touch, each func(i int, b *touch)) (calls, bad int) {
	for i := range ops {
		op := &ops[i]
		if op.Effect() == Nothing {
			continue
		}
		calls++
		b := &blocks[op.Slot]
		if op.Effect() != Get && b.wrong() {
			bad++
		}
		var err error
		switch op.Effect() {
		case Get:
			if c.l != nil {
				b.p, err = c.l.Alloc(int(op.Size), int(op.Align()))
			} else {
				b.p, err = c.h.Alloc(int(op.Size), int(op.Align()))
			}
		case Resize:
			if c.l != nil {
				b.p, err = c.l.Realloc(b.p, int(op.Size), 0)
			} else {
				b.p, err = c.h.Realloc(b.p, int(op.Size), 0)
			}
		case Drop:
			if c.l != nil {
				c.l.Free(b.p)
			} else {
				c.h.Free(b.p)
			}
			b.p = nil
			continue
		}
		if err != nil {
			return calls, bad + 1
		}
		b.write(int(op.Size))
		if each != nil {
			each(i, b)
		}
	}
	return calls, bad
}

// rest frees the blocks that a pass has left.
func (c caller) rest(blocks []touch) {
	for i := range blocks {
		if blocks[i].p == nil {
			continue
		}
		if c.l != nil {
			c.l.Free(blocks[i].p)
		} else {
			c.h.Free(blocks[i].p)
		}
		blocks[i].p = nil
	}
}

func BenchmarkTouch(b *testing.B) {
	folder := recorded.Path(b, "alloc")
	for _, name := range touched {
		t, err := Read(filepath.Join(folder, name))
		if err != nil {
			b.Fatal(err)
		}
		blocks := make([]touch, t.Slots)
		for _, impl := range []string{"Local", "Heap"} {
			b.Run("trace="+filepath.Base(name)+"/impl="+impl, func(b *testing.B) {
				u, err := alloc.NewUniverse()
				if err != nil {
					b.Fatal(err)
				}
				h, err := alloc.NewHeap(u)
				if err != nil {
					b.Fatal(err)
				}
				l := h.NewLocal()
				c := caller{h: h}
				if impl == "Local" {
					c.l = l
				}
				calls, bad := 0, 0
				var clock time.Duration
				for b.Loop() {
					from := time.Now()
					n, wrong := c.pass(t.Ops, blocks, nil)
					clock += time.Since(from)
					c.rest(blocks)
					calls += n
					bad += wrong
				}
				if bad > 0 {
					b.Errorf("got %d failed checks or calls", bad)
				}
				b.ReportMetric(float64(clock.Nanoseconds())/float64(calls), "ns/call")
				l.Close()
				if err := h.Close(); err != nil {
					b.Error(err)
				}
				if err := u.Close(); err != nil {
					b.Error(err)
				}
			})
		}
	}
}

// TestUtilisation replays the traces of more than 4 MB and compares the live bytes at the peak with
// what the heap then holds: all of its chunks and mappings, touched or not, and 20 KiB of books per
// megachunk.
func TestUtilisation(t *testing.T) {
	folder := recorded.Path(t, "alloc")
	for _, name := range []string{"wee_alloc/gcc-hello.trace", "recorded/git-log.zip"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			tr, err := Read(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			u, err := alloc.NewUniverse(alloc.Size(64 << 20))
			if err != nil {
				t.Fatal(err)
			}
			h, err := alloc.NewHeap(u)
			if err != nil {
				t.Fatal(err)
			}
			c := caller{l: h.NewLocal(), h: h}
			peak, held := tr.peak(), 0
			blocks := make([]touch, tr.Slots)
			if _, bad := c.pass(tr.Ops, blocks, func(i int, _ *touch) {
				if i == peak {
					s := h.Stats()
					held = s.Chunks*alloc.ChunkSize + s.Mapped + s.Kept + s.Chunks/64*20<<10
				}
			}); bad > 0 {
				t.Errorf("got %d failed checks or calls", bad)
			}
			live := tr.Stats().PeakLiveBytes
			t.Logf("%d bytes live of %d held: %.3f", live, held, float64(live)/float64(held))
			if float64(live) < 0.8*float64(held) {
				t.Errorf("got %d bytes live of %d held, want four fifths", live, held)
			}
			c.rest(blocks)
			c.l.Close()
			if err := errors.Join(h.Verify(), h.Close(), u.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// peak returns the operation after which the most bytes are live.
func (t *Trace) peak() (at int) {
	var l ledger
	size := make([]int64, t.Slots)
	for i := range t.Ops {
		op := &t.Ops[i]
		before := l.peakBytes
		switch op.Effect() {
		case Get:
			l.change(0, op.Size, false, true)
		case Resize:
			l.change(size[op.Slot], op.Size, true, true)
		case Drop:
			l.change(size[op.Slot], 0, true, false)
			continue
		default:
			continue
		}
		size[op.Slot] = op.Size
		if l.peakBytes > before {
			at = i
		}
	}
	return at
}
