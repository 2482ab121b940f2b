package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
	"unsafe"
)

// The fragmentation test: blocks of sizes that are spread evenly over a range are got until they
// add up, every byte is written, and a random 90 % are freed in random order. Compare the bytes
// resident then, above those before the first block, with the live bytes:
//
//	at_once_mb   right after the frees
//	trimmed_mb   after the allocator was told to give back what it can, at once
//	itself_mb    a while after the frees, in another process, where nobody told it
//	left_mb, left_itself_mb   as these two, after the other 10 % were freed as well
//
// in millions of bytes. While it waits, the program gets and frees a small block now and then,
// since some allocators work only when they are called. The program of C does the same, with the
// same sizes and the same order.

// fragmentOf is the row of blocks of least to most bytes.
func fragmentOf(name string, least, most int) workload {
	return workload{
		name: name, kind: held, second: true,
		what: fmt.Sprintf("block of %d to %d bytes got, written as a whole, and nine of ten freed", least, most),
		run:  func(e *env) error { return fragment(e, least, most) },
		args: func(sc scale, second bool) []any {
			wait := time.Duration(0)
			if second {
				wait = sc.held.wait
			}
			return []any{"fragment", least, most, sc.held.fragment, fragmentSeed, wait.Milliseconds()}
		},
	}
}

// mega is the unit of the figures.
const mega = 1e6

// fragmentSeed is the seed of sizes and order.
const fragmentSeed = 28

// keepOneIn is how many blocks there were for each that stays.
const keepOneIn = 10

// tick is the time between two small blocks while the program waits.
const tick = 10 * time.Millisecond

// draws are pseudo-random numbers, those of splitmix64, which the program of C makes too.
type draws uint64

// below returns a number from 0 to n - 1.
func (d *draws) below(n int) int {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// fragments are the blocks of the test and the order in which they are freed.
type fragments struct {
	m      memory
	blocks []unsafe.Pointer // nil: freed
	sizes  []int32          // bytes
	order  []int32          // all indices; the first nine tenths are freed
}

// newFragments draws sizes until they add up to total, and the order.
func newFragments(m memory, least, most, total int) *fragments {
	f, d := &fragments{m: m}, draws(fragmentSeed)
	for sum := 0; sum < total; {
		size := least + d.below(most-least+1)
		f.sizes = append(f.sizes, int32(size))
		f.order = append(f.order, int32(len(f.order)))
		sum += size
	}
	for i := len(f.order) - 1; i > 0; i-- {
		j := d.below(i + 1)
		f.order[i], f.order[j] = f.order[j], f.order[i]
	}
	f.blocks = make([]unsafe.Pointer, len(f.sizes))
	for i := range f.blocks {
		f.blocks[i] = unsafe.Pointer(f) // written, so resident
	}
	clear(f.blocks)
	return f
}

// doomed are the blocks that are freed, and staying the others.
func (f *fragments) doomed() []int32  { return f.order[:len(f.order)-len(f.order)/keepOneIn] }
func (f *fragments) staying() []int32 { return f.order[len(f.order)-len(f.order)/keepOneIn:] }

func (f *fragments) get() error {
	for i, size := range f.sizes {
		p, err := f.m.alloc(int(size), 0)
		if err != nil {
			return err
		}
		fill(p, int(size), solid(i))
		f.blocks[i] = p
	}
	return nil
}

func (f *fragments) free(list []int32) {
	for _, i := range list {
		f.m.free(f.blocks[i], int(f.sizes[i]), 0)
		f.blocks[i] = nil
	}
}

// check reads every byte of the blocks that stay.
func (f *fragments) check() error {
	for _, i := range f.staying() {
		if n := firstOther(f.blocks[i], int(f.sizes[i]), solid(int(i))); n >= 0 {
			return wrong("block %d: byte %d of %d is %#02x, want %#02x",
				i, n, f.sizes[i], *at(f.blocks[i], n), solid(int(i)))
		}
	}
	return nil
}

func fragment(e *env, least, most int) error {
	f := newFragments(e.m, least, most, e.scale.held.fragment)
	base := base()
	from := time.Now()
	err := f.get()
	if err != nil {
		return err
	}
	e.out.CommittedPeak = e.m.committed()
	f.free(f.doomed())
	e.noteTime(len(f.blocks), time.Since(from))
	if e.second {
		if err := rest(e.m, e.scale.held.wait); err != nil {
			return err
		}
		e.noteGrown("itself_mb", base, mega)
	} else if err := trimmed(e, base); err != nil {
		return err
	}
	live := 0
	for _, i := range f.staying() {
		live += int(f.sizes[i])
	}
	e.out.More["live_mb"] = float64(live) / mega
	if err := f.check(); err != nil {
		return err
	}
	f.free(f.staying())
	return f.left(e, base)
}

// left notes the resident bytes once all blocks are free.
func (f *fragments) left(e *env, base int64) error {
	if e.second {
		err := rest(e.m, e.scale.held.wait)
		e.noteGrown("left_itself_mb", base, mega)
		return err
	}
	t, ok := e.m.(trimmer)
	if !ok {
		return nil
	}
	err := t.trim()
	debug.FreeOSMemory() // what the allocator had of Go memory
	e.noteGrown("left_mb", base, mega)
	runtime.KeepAlive(f) // the books were there before, so they count as base
	return err
}

// trimmed notes the resident bytes at once and, for an allocator that can trim, after that.
func trimmed(e *env, base int64) error {
	e.noteGrown("at_once_mb", base, mega)
	t, ok := e.m.(trimmer)
	if !ok {
		return nil
	}
	from := time.Now()
	if err := t.trim(); err != nil {
		return err
	}
	e.out.More["trim_ms"] = time.Since(from).Seconds() * 1e3
	e.noteGrown("trimmed_mb", base, mega)
	return nil
}

// rest lets time pass.
func rest(m memory, wait time.Duration) error {
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(tick) {
		p, err := m.alloc(64, 0)
		if err != nil {
			return err
		}
		*at(p, 0) = 1
		m.free(p, 64, 0)
	}
	return nil
}
