//go:build race

package alloc_test

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

func init() { underRace = true }

// raceProgram names the program below that a process is to run.
const raceProgram = "QUARRY_RACE_PROGRAM"

// racePrograms have two goroutines write the first word of a block. What orders the
// writes, if anything, stands in the name.
var racePrograms = []struct {
	name   string
	caught bool
	run    func(h *alloc.Heap)
}{
	{"nothing", true, func(h *alloc.Heap) { writeTwice(h) }},
	{"nothing, block of a Local", true, func(h *alloc.Heap) { l := h.NewLocal(); defer l.Close(); writeTwice(l) }},
	{"nothing, block of 100,000 bytes", true, writeLarge},
	{"nothing, written after free", true, func(h *alloc.Heap) { freeAndAlloc(h, true) }},
	{"channel", false, sendBlock},
	{"mutex", false, lockBlock},
	{"free and alloc", false, func(h *alloc.Heap) { freeAndAlloc(h, false) }},
	{"channel, freed by the other, and alloc by a Local", false, freeOfOthers},
}

// TestRaceDetector runs each program in a process of its own: the memory of a universe is the Go
// heap's in race builds, so the detector must find what is wrong with it, and nothing where free
// and alloc, or the program, put writes in an order. There is one processor: on two, a goroutine
// that waits for a block may allocate millions of others first, and after some millions of
// synchronizations the detector forgets earlier writes.
func TestRaceDetector(t *testing.T) {
	if name := os.Getenv(raceProgram); name != "" {
		h := newHeap(t)
		for _, c := range racePrograms {
			if c.name == name {
				c.run(h)
			}
		}
		return
	}
	for _, c := range racePrograms {
		t.Run(c.name, func(t *testing.T) {
			run := exec.Command(os.Args[0], "-test.run=^TestRaceDetector$")
			run.Env = append(os.Environ(), raceProgram+"="+c.name, "GORACE=", "GOMAXPROCS=1")
			out, err := run.CombinedOutput()
			if c.caught {
				require.Error(t, err)
				require.Contains(t, string(out), "WARNING: DATA RACE")
				require.Contains(t, string(out), "race_test.go")
				require.NotContains(t, string(out), "panic")
			} else {
				require.NoError(t, err, "%s", out)
				require.Contains(t, string(out), "PASS")
			}
		})
	}
}

func wordOf(a alloc.Allocator) *uint64 {
	p, err := a.Alloc(64, 0)
	if err != nil {
		panic(err)
	}
	return (*uint64)(p)
}

func freeWord(a alloc.Allocator, w *uint64) { a.FreeSized(unsafe.Pointer(w), 64, 0) }

// awaitWord allocates until w is handed out.
func awaitWord(a alloc.Allocator, w *uint64) {
	var others []*uint64
	for got := wordOf(a); got != w; got = wordOf(a) {
		others = append(others, got)
		runtime.Gosched()
	}
	for _, other := range others {
		freeWord(a, other)
	}
}

func together(list ...func()) {
	var group sync.WaitGroup
	for _, f := range list {
		group.Go(f)
	}
	group.Wait()
}

func writeTwice(a alloc.Allocator) {
	w := wordOf(a)
	together(func() { *w = 1 }, func() { *w = 2 })
	freeWord(a, w)
}

func writeLarge(h *alloc.Heap) {
	p, err := h.Alloc(100_000, 0)
	if err != nil {
		panic(err)
	}
	b := unsafe.Slice((*byte)(p), 100_000)
	together(func() { b[77_777] = 1 }, func() { b[77_777] = 2 })
	h.Free(p)
}

// freeAndAlloc hands a block over by a free and an alloc, and if late writes once
// more after the free.
func freeAndAlloc(h *alloc.Heap, late bool) {
	w := wordOf(h)
	free := func() {
		*w = 1
		freeWord(h, w)
		if late {
			*w = 2
		}
	}
	together(free, func() {
		awaitWord(h, w)
		*w = 3
		freeWord(h, w)
	})
}

func sendBlock(h *alloc.Heap) {
	blocks := make(chan *uint64)
	together(func() {
		w := wordOf(h)
		*w = 1
		blocks <- w
	}, func() {
		w := <-blocks
		*w = 2
		freeWord(h, w)
	})
}

func lockBlock(h *alloc.Heap) {
	w := wordOf(h)
	var mu sync.Mutex
	write := func() {
		mu.Lock()
		defer mu.Unlock()
		*w++
	}
	together(write, write)
	freeWord(h, w)
}

// freeOfOthers frees a Local's block by the heap, from where it comes back to the Local.
func freeOfOthers(h *alloc.Heap) {
	blocks := make(chan *uint64, 1)
	l := h.NewLocal()
	defer l.Close()
	w := wordOf(l)
	*w = 1
	blocks <- w
	together(func() {
		w := <-blocks
		*w = 2
		freeWord(h, w)
	}, func() {
		awaitWord(l, w)
		*w = 3
		freeWord(l, w)
	})
}
