package trace

import (
	"fmt"
	"math/bits"
)

// Kind is the kind of a recorded call.
type Kind uint8

// The kinds of calls. The malloclab and wee_alloc forms have Malloc, Realloc
// and Free only.
const (
	Malloc Kind = iota
	Calloc
	Memalign
	Realloc
	Free
	ThreadDone // a line, but not a heap call: the thread has ended
)

var kindNames = [...]string{"malloc", "calloc", "memalign", "realloc", "free", "thread_done"}

// String returns the AOSP form's word for the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Effect is what a call does to the table of blocks. The kind alone does not determine it: a
// realloc can have any of the four.
type Effect uint8

// The effects.
const (
	Nothing Effect = iota // free of NULL, a failed call, or the end of a thread
	Get                   // a new block in Slot
	Resize                // the block in Slot gets a new size and keeps its first min(old, new) bytes
	Drop                  // the block in Slot is freed
)

// NoSlot is the Slot of an operation that names no block.
const NoSlot = ^uint32(0)

// Op is one line of a trace, in 16 bytes.
type Op struct {
	Size   int64  // requested bytes; COUNT x SIZE for a calloc; 0 for Free and ThreadDone
	Slot   uint32 // the block: below Trace.Slots, or NoSlot
	Thread uint16 // index into Trace.Threads
	align  uint8  // 0: none; else one more than its logarithm
	call   call
}

// call is a kind and an effect: the effect in the low two bits.
type call uint8

func calls(k Kind, e Effect) call { return call(k)<<2 | call(e) }

// Kind returns the kind of the recorded call.
func (op *Op) Kind() Kind { return Kind(op.call >> 2) }

// Effect returns what the call did.
func (op *Op) Effect() Effect { return Effect(op.call & 3) }

// Align returns the alignment that a Memalign requested, in bytes, a power of two; 0 for other
// calls.
func (op *Op) Align() int64 { return 1 << op.align >> 1 }

// setAlign takes 0 or a power of two.
func (op *Op) setAlign(align uint64) { op.align = uint8(bits.Len64(align)) }

// failed reports whether the recorded call returned 0x0.
func (op *Op) failed() bool {
	return op.Effect() == Nothing && op.Kind() <= Realloc
}

// Form is the kind of text that a trace was read from.
type Form uint8

// The forms.
const (
	AOSP Form = iota
	Malloclab
	WeeAlloc
)

var formNames = [...]string{"AOSP", "malloclab", "wee_alloc"}

// String names the form in words.
func (f Form) String() string {
	if int(f) < len(formNames) {
		return formNames[f]
	}
	return fmt.Sprintf("Form(%d)", uint8(f))
}

// Trace is a well-formed recording: replayed in order, a slot gets a block only while it is empty
// and loses one only while it has one.
type Trace struct {
	Name    string   // the file name passed to Read
	Member  string   // the member of a zip archive, or ""
	Form    Form     // the form of the text
	Bytes   int64    // length of the text, unpacked
	Ops     []Op     // one per line of the text, without headers
	Slots   int      // every Op.Slot is below this, or NoSlot
	Threads []uint64 // thread numbers in the order of their first line; {0} if the form has none
}

// Calls returns the number of heap calls: all lines except ThreadDone.
func (t *Trace) Calls() int {
	n := len(t.Ops)
	for i := range t.Ops {
		if t.Ops[i].Kind() == ThreadDone {
			n--
		}
	}
	return n
}
