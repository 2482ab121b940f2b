package trace

// The letters alone leave three cases open, which the driver of the malloc lab decides by its
// treatment of ids; the lab's own recordings have all three. An id starts as NULL, so r of an id
// that no line named is realloc(NULL, SIZE). r to size 0 frees the block and makes the id NULL
// again. f -1 is free(NULL). An id that f freed is not NULL.

// rep is the reader of one file of the malloclab form. For ids that are not live it holds one bit
// each, up to the greatest id that was freed.
type rep struct {
	b     *builder
	live  map[uint64]uint32 // id of a live block to its slot
	freed []uint64          // bit by id: freed, and not live again
	// From the header: the number of ids, which every ID is below, and the number of lines after
	// the header.
	numIDs, numOps uint64
}

// readRep reads the malloclab form: four numbers (suggested heap size, ids, operations, weight), on
// one line or more, then one operation per line. Blank lines do not count, and neither do blanks at
// the ends of a line.
func readRep(b *builder) error {
	r := rep{b: b, live: map[uint64]uint32{}}
	if err := r.header(); err != nil {
		return err
	}
	for b.next() {
		l := line{b.text}
		l.spaces()
		if l.done() {
			continue
		}
		if uint64(b.ops) == r.numOps {
			return b.bad("the end of the file after %d operations, the number in the header", r.numOps)
		}
		if err := r.op(l); err != nil {
			return err
		}
	}
	if uint64(b.ops) != r.numOps {
		return b.ended("%d operations, the number in the header, after %d", r.numOps, b.ops)
	}
	return b.err
}

// header reads the four numbers. The first and the last are for the driver of the lab and are not
// kept.
func (r *rep) header() error {
	var numbers [4]uint64
	n := 0
	for n < len(numbers) {
		if !r.b.next() {
			return r.b.ended("a header of four numbers: heap size, ids, operations, weight")
		}
		l := line{r.b.text}
		for l.spaces(); !l.done(); l.spaces() {
			v, ok := l.dec()
			if !ok || n == len(numbers) || !(l.done() || l.rest[0] == ' ' || l.rest[0] == '\t') {
				return r.b.bad("a header of four numbers: heap size, ids, operations, weight")
			}
			numbers[n] = v
			n++
		}
	}
	r.numIDs, r.numOps = numbers[1], numbers[2]
	if most := uint64(r.b.limits.lines); r.numIDs > most || r.numOps > most {
		return r.b.beyond("%d ids and operations in the header: cut the recording", most)
	}
	return nil
}

// op reads one line after the header.
func (r *rep) op(l line) error {
	const want = "a ID SIZE, r ID SIZE or f ID"
	if l.rest[0] == 'f' {
		return r.free(l)
	}
	letter := l.rest[0]
	if letter != 'a' && letter != 'r' {
		return r.b.bad(want)
	}
	l.rest = l.rest[1:]
	blank := l.spaces()
	id, ok := l.dec()
	between := l.spaces()
	size, ok2 := l.dec()
	l.spaces()
	if !blank || !ok || !between || !ok2 || !l.done() {
		return r.b.bad("%c ID SIZE", letter)
	}
	if id >= r.numIDs {
		return r.b.bad("an ID below %d, the number of ids in the header", r.numIDs)
	}
	if letter == 'a' {
		return r.alloc(id, size)
	}
	return r.realloc(id, size)
}

func (r *rep) alloc(id, size uint64) error {
	if _, ok := r.live[id]; ok {
		return r.b.bad("an ID that is not live, and block %d is", id)
	}
	return r.get(Malloc, id, size)
}

func (r *rep) get(kind Kind, id, size uint64) error {
	slot, err := r.b.take()
	if err != nil {
		return err
	}
	r.live[id] = slot
	if r.wasFreed(id) {
		r.freed[id/64] &^= 1 << (id % 64)
	}
	return r.b.add(Op{Slot: slot, call: calls(kind, Get)}, size)
}

func (r *rep) realloc(id, size uint64) error {
	slot, ok := r.live[id]
	switch {
	case r.wasFreed(id):
		return r.b.bad("the ID of a live block, and block %d was freed before", id)
	case !ok:
		return r.get(Realloc, id, size)
	case size == 0:
		delete(r.live, id)
		r.b.slots.give(slot)
		return r.b.add(Op{Slot: slot, call: calls(Realloc, Drop)}, 0)
	}
	return r.b.add(Op{Slot: slot, call: calls(Realloc, Resize)}, size)
}

func (r *rep) free(l line) error {
	l.rest = l.rest[1:]
	blank := l.spaces()
	if blank && l.lit("-1") {
		l.spaces()
		if !l.done() {
			return r.b.bad("f ID")
		}
		return r.b.add(Op{Slot: NoSlot, call: calls(Free, Nothing)}, 0)
	}
	id, ok := l.dec()
	l.spaces()
	if !blank || !ok || !l.done() {
		return r.b.bad("f ID")
	}
	if id >= r.numIDs {
		return r.b.bad("an ID below %d, the number of ids in the header", r.numIDs)
	}
	slot, ok := r.live[id]
	if !ok {
		return r.b.bad("the ID of a live block, and block %d is not live", id)
	}
	delete(r.live, id)
	if more := int(id/64) + 1 - len(r.freed); more > 0 {
		r.freed = append(r.freed, make([]uint64, more)...)
	}
	r.freed[id/64] |= 1 << (id % 64)
	r.b.slots.give(slot)
	return r.b.add(Op{Slot: slot, call: calls(Free, Drop)}, 0)
}

// wasFreed reports whether the last block of an id was freed by f.
func (r *rep) wasFreed(id uint64) bool {
	return id/64 < uint64(len(r.freed)) && r.freed[id/64]>>(id%64)&1 != 0
}
