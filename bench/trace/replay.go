package trace

import (
	"fmt"
	"time"
	"unsafe"
)

// The replay.
//
// Both sides run the same loop over the same operations, and the loop does the same work for both:
// it keeps the books of the sizes, fills every byte of a block that a call returned, and, unless it
// is bare, checks every byte before the block goes to free or realloc. At the end it checks all
// remaining blocks. Only the calls of memory differ. The loop checks:
//
//	R1 a block has exactly the length asked for, and the alignment
//	R2 a calloc block is zero before it is filled
//	R3 a block holds its pattern when it goes and at the end
//	R4 after a realloc the first min(old, new) bytes hold the old pattern
//
// R3 also finds overlapping blocks: the later fill destroys the earlier one. What is timed is bare,
// and its check at the end, samples of memory in use and calls of progress are taken with the clock
// stopped, so they are not in the time of a side. A replay that is not bare follows.

// memory is one side: the source of blocks. Blocks are passed around as slices over exactly the
// requested bytes.
type memory interface {
	// get returns a new block; align 0 stands for malloc's alignment.
	get(size, align int) ([]byte, error)
	// resize returns a block of size bytes with the first min(len(b), size) bytes of b. After an
	// error b is unchanged.
	resize(b []byte, size int) ([]byte, error)
	// drop takes a block back.
	drop(b []byte)
	// traits returns what get promises.
	traits() traits
	// sample returns the bytes in use and keeps the maximum.
	sample() int64
}

// traits are the promises of a side.
type traits struct {
	align  int  // of every block, in bytes
	zeroed bool // get returns zeros, so calloc need not clear
}

// maxFaults bounds how many failed checks are described in words; all are counted.
const maxFaults = 5

// sampleEvery is the number of operations between samples, in addition to samples at new peaks.
const sampleEvery = 1024

// progressEvery is the number of operations between calls of progress.
const progressEvery = 1 << 16

// block is the replay's record of a slot.
type block struct {
	bytes []byte
	stamp uint64 // of its pattern; 0: the slot is empty
}

// blockBytes is the size of a block in the table.
const blockBytes = int64(unsafe.Sizeof(block{}))

// replay is one run of one trace on one side.
type replay struct {
	t      *Trace
	m      memory
	bare   bool // R1, R2 and, but for the end, R3 and R4 are not checked
	traits traits
	blocks []block // by slot
	ledger ledger
	faults int      // failed checks
	told   []string // the first of them, in words
	clock  time.Duration
	at     time.Time // when the clock was last started
	// sampled is the number of live bytes above which the next sample is taken early: 1/16 above
	// the greatest sampled number.
	sampled int64
	usage   *usage
}

func newReplay(t *Trace, m memory) *replay {
	return &replay{t: t, m: m, traits: m.traits(), blocks: make([]block, t.Slots), usage: newUsage(len(t.Ops))}
}

// run replays the whole trace and checks the remaining blocks. Blocks that the trace never frees
// stay live: drain frees them. progress may be nil. An error means that a call failed; the replay
// ends there.
func (r *replay) run(progress func(done int)) error {
	r.at = time.Now()
	for i := range r.t.Ops {
		if err := r.step(i); err != nil {
			r.pause()
			return err
		}
		if i%sampleEvery == sampleEvery-1 || r.ledger.bytes > r.sampled {
			r.pause()
			r.sampled = max(r.sampled, r.ledger.bytes+r.ledger.bytes/16)
			r.usage.note(i, r.ledger.bytes, r.m.sample())
			if progress != nil && i%progressEvery == progressEvery-1 {
				progress(i + 1)
			}
			r.at = time.Now()
		}
	}
	r.pause()
	for slot := range r.blocks {
		if b := &r.blocks[slot]; b.stamp != 0 {
			r.check(len(r.t.Ops), b.bytes, b.stamp, "at the end")
		}
	}
	r.usage.note(len(r.t.Ops), r.ledger.bytes, r.m.sample())
	if progress != nil {
		progress(len(r.t.Ops))
	}
	return nil
}

func (r *replay) pause() {
	r.clock += time.Since(r.at)
}

// drain frees all remaining blocks.
func (r *replay) drain() {
	for slot := range r.blocks {
		if b := &r.blocks[slot]; b.stamp != 0 {
			r.m.drop(b.bytes)
			*b = block{}
		}
	}
}

// step replays operation i.
func (r *replay) step(i int) error {
	op := &r.t.Ops[i]
	switch op.Effect() {
	case Get:
		b, err := r.m.get(int(op.Size), int(op.Align()))
		if err != nil {
			return r.failed(i, err)
		}
		r.place(i, b)
		if op.Kind() == Calloc {
			if !r.traits.zeroed {
				clear(b)
			}
			r.zero(i, b)
		}
		r.keep(i, b)
		r.ledger.change(0, int64(len(b)), false, true)
	case Resize:
		old := &r.blocks[op.Slot]
		size := len(old.bytes)
		r.look(i, old.bytes, old.stamp, "before realloc")
		b, err := r.m.resize(old.bytes, int(op.Size))
		if err != nil {
			return r.failed(i, err)
		}
		r.place(i, b)
		r.look(i, b[:min(size, len(b))], old.stamp, "after realloc")
		r.keep(i, b)
		r.ledger.change(int64(size), int64(len(b)), true, true)
	case Drop:
		b := &r.blocks[op.Slot]
		if !r.bare {
			r.check(i, b.bytes, b.stamp, "before "+op.Kind().String())
		}
		r.m.drop(b.bytes)
		r.ledger.change(int64(len(b.bytes)), 0, true, false)
		*b = block{}
	}
	return nil
}

// place checks length and alignment (R1).
func (r *replay) place(i int, b []byte) {
	if r.bare {
		return
	}
	op := &r.t.Ops[i]
	if len(b) != int(op.Size) {
		r.fault(i, "the block has %d bytes", len(b))
	}
	align := max(int(op.Align()), r.traits.align)
	// Safe because the address is only looked at, and b is live.
	if addr := uintptr(unsafe.Pointer(unsafe.SliceData(b))); addr%uintptr(align) != 0 {
		r.fault(i, "the block is at %#x, which is not a multiple of %d", addr, align)
	}
}

// keep fills a block and records it. Stamps start at 1.
func (r *replay) keep(i int, b []byte) {
	stamp := uint64(i) + 1
	fill(b, stamp)
	r.blocks[r.t.Ops[i].Slot] = block{bytes: b, stamp: stamp}
}

// zero checks that a block is zero (R2).
func (r *replay) zero(i int, b []byte) {
	if r.bare {
		return
	}
	if at := firstSet(b); at >= 0 {
		r.fault(i, "byte %d of %d is %#02x, want 0", at, len(b), b[at])
	}
}

// look checks a block unless the replay is bare.
func (r *replay) look(i int, b []byte, stamp uint64, when string) {
	if !r.bare {
		r.check(i, b, stamp, when)
	}
}

// check compares a block with its pattern (R3, R4).
func (r *replay) check(i int, b []byte, stamp uint64, when string) {
	if at := firstWrong(b, stamp); at >= 0 {
		r.fault(i, "%s: byte %d of the %d that operation %d wrote is %#02x, want %#02x",
			when, at, len(b), stamp, b[at], wantByte(stamp, at))
	}
}

// fault counts a failed check.
func (r *replay) fault(i int, format string, args ...any) {
	r.faults++
	if len(r.told) < maxFaults {
		r.told = append(r.told, r.where(i)+": "+fmt.Sprintf(format, args...))
	}
}

// failed is the error for a call that the side could not do.
func (r *replay) failed(i int, err error) error {
	return fmt.Errorf("%s: %w", r.where(i), err)
}

// where names an operation, from 1.
func (r *replay) where(i int) string {
	if i == len(r.t.Ops) {
		return "after the last operation"
	}
	op := &r.t.Ops[i]
	if op.Effect() == Drop {
		return fmt.Sprintf("operation %d (%s)", i+1, op.Kind())
	}
	return fmt.Sprintf("operation %d (%s of %d bytes)", i+1, op.Kind(), op.Size)
}
