package trace

// weeWant names both calls. The comma at the end of a Free line is the one that the error adds
// after it.
const weeWant = "Alloc(SIZE), or Free(INDEX)"

// readWee reads the wee_alloc form: Alloc(SIZE), and Free(INDEX), where INDEX counts the Alloc
// lines from 0.
func readWee(b *builder) error {
	live := map[uint64]uint32{} // INDEX of a live block to its slot
	var allocs uint64
	for b.next() {
		l := line{b.text}
		switch {
		case l.lit("Alloc("):
			size, ok := l.dec()
			if !ok || !l.lit("),") || !l.done() {
				return b.bad(weeWant)
			}
			slot, err := b.take()
			if err != nil {
				return err
			}
			live[allocs] = slot
			allocs++
			if err := b.add(Op{Slot: slot, call: calls(Malloc, Get)}, size); err != nil {
				return err
			}
		case l.lit("Free("):
			index, ok := l.dec()
			if !ok || !l.lit("),") || !l.done() {
				return b.bad(weeWant)
			}
			if index >= allocs {
				return b.bad("an INDEX below %d, the number of Alloc lines so far", allocs)
			}
			slot, ok := live[index]
			if !ok {
				return b.bad("the INDEX of a live block, and block %d was freed before", index)
			}
			delete(live, index)
			b.slots.give(slot)
			if err := b.add(Op{Slot: slot, call: calls(Free, Drop)}, 0); err != nil {
				return err
			}
		default:
			return b.bad(weeWant)
		}
	}
	return b.err
}
