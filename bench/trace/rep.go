package trace

// How the driver of the malloc lab treats an id decides three cases that the
// letters alone leave open; recordings that go with the lab have all of them:
// an id starts as NULL, so r of an id that no line named is realloc(NULL, SIZE);
// r to size 0 frees the block and the id is NULL again; f -1 is free(NULL).

// The states of an id.
type repID struct {
	slot  uint32
	state repState
}

type repState uint8

const (
	repNull repState = iota // never named, or resized to 0: realloc takes it as NULL
	repLive
	repFreed
)

// rep is the reader of one file of the malloclab form.
type rep struct {
	b   *builder
	ids map[uint64]repID
	// From the header: the number of ids, every ID is below it, and the
	// number of lines after the header.
	numIDs, numOps uint64
}

// readRep reads the malloclab form: four numbers (suggested heap size, ids,
// operations, weight), on one line or more, and one operation a line after it.
// Blank lines do not count, and neither do blanks at the ends of a line.
func readRep(b *builder) error {
	r := rep{b: b, ids: map[uint64]repID{}}
	if err := r.header(); err != nil {
		return err
	}
	for b.next() {
		l := line{b.text}
		l.spaces()
		if l.done() {
			continue
		}
		if uint64(len(b.t.Ops)) == r.numOps {
			return b.bad("the end of the file after %d operations, the number in the header", r.numOps)
		}
		if err := r.op(l); err != nil {
			return err
		}
	}
	if n := uint64(len(b.t.Ops)); n != r.numOps {
		return b.ended("%d operations, the number in the header, after %d", r.numOps, n)
	}
	return nil
}

// header reads the four numbers. The first and the last are for the driver of
// the lab and are not kept.
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
	if r.ids[id].state == repLive {
		return r.b.bad("an ID that is not live, and block %d is", id)
	}
	return r.get(Malloc, id, size)
}

func (r *rep) get(kind Kind, id, size uint64) error {
	slot := r.b.slots.take()
	r.ids[id] = repID{slot, repLive}
	return r.b.add(Op{Slot: slot, Kind: kind, Effect: Get}, size)
}

func (r *rep) realloc(id, size uint64) error {
	at := r.ids[id]
	switch {
	case at.state == repFreed:
		return r.b.bad("the ID of a live block, and block %d was freed before", id)
	case at.state == repNull:
		return r.get(Realloc, id, size)
	case size == 0:
		r.ids[id] = repID{}
		r.b.slots.give(at.slot)
		return r.b.add(Op{Slot: at.slot, Kind: Realloc, Effect: Drop}, 0)
	}
	return r.b.add(Op{Slot: at.slot, Kind: Realloc, Effect: Resize}, size)
}

func (r *rep) free(l line) error {
	l.rest = l.rest[1:]
	blank := l.spaces()
	if blank && l.lit("-1") {
		l.spaces()
		if !l.done() {
			return r.b.bad("f ID")
		}
		return r.b.add(Op{Slot: NoSlot, Kind: Free}, 0)
	}
	id, ok := l.dec()
	l.spaces()
	if !blank || !ok || !l.done() {
		return r.b.bad("f ID")
	}
	if id >= r.numIDs {
		return r.b.bad("an ID below %d, the number of ids in the header", r.numIDs)
	}
	at := r.ids[id]
	if at.state != repLive {
		return r.b.bad("the ID of a live block, and block %d is not live", id)
	}
	r.ids[id] = repID{state: repFreed}
	r.b.slots.give(at.slot)
	return r.b.add(Op{Slot: at.slot, Kind: Free, Effect: Drop}, 0)
}
