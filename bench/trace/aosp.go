package trace

import "math/bits"

// maxNameAlign is the greatest alignment that a line may request, in bytes.
const maxNameAlign = 1 << 31

// aosp is the reader of the AOSP form.
type aosp struct {
	b    *builder
	live map[uint64]uint32 // name of a live block to its slot
}

// readAOSP reads the AOSP form: fields divided by one space, the thread number with a colon first.
func readAOSP(b *builder) error {
	a := aosp{b: b, live: map[uint64]uint32{}}
	for b.next() {
		l := line{b.text}
		tid, ok := l.dec()
		if !ok || !l.lit(": ") {
			return b.bad("TID: and a call")
		}
		thread, err := b.thread(tid)
		if err != nil {
			return err
		}
		if err := a.call(l, thread); err != nil {
			return err
		}
	}
	return b.err
}

// call reads what follows the thread number.
func (a *aosp) call(l line, thread uint16) error {
	switch string(l.word()) {
	case "malloc":
		return a.malloc(l, thread)
	case "calloc":
		return a.calloc(l, thread)
	case "memalign":
		return a.memalign(l, thread)
	case "realloc":
		return a.realloc(l, thread)
	case "free":
		return a.free(l, thread)
	case "thread_done":
		if !l.lit(" 0x0") || !l.done() {
			return a.b.bad("TID: thread_done 0x0")
		}
		return a.b.add(Op{Slot: NoSlot, Thread: thread, call: calls(ThreadDone, Nothing)}, 0)
	}
	return a.b.bad("malloc, calloc, memalign, realloc, free or thread_done after TID:")
}

func (a *aosp) malloc(l line, thread uint16) error {
	name, ok := name(&l)
	size, ok2 := number(&l)
	if !ok || !ok2 || !l.done() {
		return a.b.bad("TID: malloc PTR SIZE")
	}
	return a.get(Op{Thread: thread}, Malloc, name, size)
}

func (a *aosp) calloc(l line, thread uint16) error {
	name, ok := name(&l)
	count, ok2 := number(&l)
	size, ok3 := number(&l)
	if !ok || !ok2 || !ok3 || !l.done() {
		return a.b.bad("TID: calloc PTR COUNT SIZE")
	}
	hi, product := bits.Mul64(count, size)
	if hi != 0 {
		if name != 0 {
			return a.b.bad("COUNT x SIZE to fit 64 bits")
		}
		product = ^uint64(0) // the overflow is why the call failed
	}
	return a.get(Op{Thread: thread}, Calloc, name, product)
}

func (a *aosp) memalign(l line, thread uint16) error {
	name, ok := name(&l)
	align, ok2 := number(&l)
	size, ok3 := number(&l)
	if !ok || !ok2 || !ok3 || !l.done() {
		return a.b.bad("TID: memalign PTR ALIGN SIZE")
	}
	if bad := align == 0 || align&(align-1) != 0 || align > maxNameAlign; bad && name == 0 {
		align = 0 // the call failed because of this alignment
	} else if bad {
		return a.b.bad("ALIGN to be a power of two up to %d", uint64(maxNameAlign))
	}
	op := Op{Thread: thread}
	op.setAlign(align)
	return a.get(op, Memalign, name, size)
}

// get adds a call that makes the block name, or that failed if name is 0.
func (a *aosp) get(op Op, kind Kind, name, size uint64) error {
	if name == 0 {
		op.Slot, op.call = NoSlot, calls(kind, Nothing)
		return a.b.add(op, size)
	}
	if _, ok := a.live[name]; ok {
		return a.b.bad("a PTR that is not live, and %#x is", name)
	}
	slot, err := a.b.take()
	if err != nil {
		return err
	}
	a.live[name] = slot
	op.Slot, op.call = slot, calls(kind, Get)
	return a.b.add(op, size)
}

func (a *aosp) realloc(l line, thread uint16) error {
	to, ok := name(&l)
	from, ok2 := name(&l)
	size, ok3 := number(&l)
	if !ok || !ok2 || !ok3 || !l.done() {
		return a.b.bad("TID: realloc NEWPTR OLDPTR SIZE")
	}
	op := Op{Thread: thread}
	if from == 0 {
		return a.get(op, Realloc, to, size)
	}
	if op.Slot, ok = a.live[from]; !ok {
		return a.b.bad("OLDPTR to be a live block, and %#x is not", from)
	}
	effect := Nothing
	switch {
	case to == from:
		effect = Resize
	case to != 0:
		if _, ok := a.live[to]; ok {
			return a.b.bad("a NEWPTR that is not live, and %#x is", to)
		}
		effect = Resize
		delete(a.live, from)
		a.live[to] = op.Slot
	case size == 0:
		effect = Drop
		delete(a.live, from)
		a.b.slots.give(op.Slot)
	}
	op.call = calls(Realloc, effect)
	return a.b.add(op, size)
}

func (a *aosp) free(l line, thread uint16) error {
	name, ok := name(&l)
	if !ok || !l.done() {
		return a.b.bad("TID: free PTR")
	}
	op := Op{Slot: NoSlot, Thread: thread, call: calls(Free, Nothing)}
	if name == 0 {
		return a.b.add(op, 0)
	}
	if op.Slot, ok = a.live[name]; !ok {
		return a.b.bad("PTR to be a live block, and %#x is not", name)
	}
	op.call = calls(Free, Drop)
	delete(a.live, name)
	a.b.slots.give(op.Slot)
	return a.b.add(op, 0)
}

// name consumes a space and a pointer.
func name(l *line) (uint64, bool) {
	if !l.lit(" ") {
		return 0, false
	}
	return l.hex()
}

// number consumes a space and a decimal number.
func number(l *line) (uint64, bool) {
	if !l.lit(" ") {
		return 0, false
	}
	return l.dec()
}
