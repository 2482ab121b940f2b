package trace

// weeWant names both calls. The comma that ends a Free line is the one that the
// error puts after it.
const weeWant = "Alloc(SIZE), or Free(INDEX)"

// readWee reads the wee_alloc form: Alloc(SIZE), and Free(INDEX), where INDEX
// numbers the Alloc lines from 0.
func readWee(b *builder) error {
	// at[INDEX] is the slot of the block, NoSlot when it was freed.
	var at []uint32
	for b.next() {
		l := line{b.text}
		switch {
		case l.lit("Alloc("):
			size, ok := l.dec()
			if !ok || !l.lit("),") || !l.done() {
				return b.bad(weeWant)
			}
			slot := b.slots.take()
			at = append(at, slot)
			if err := b.add(Op{Slot: slot, Kind: Malloc, Effect: Get}, size); err != nil {
				return err
			}
		case l.lit("Free("):
			index, ok := l.dec()
			if !ok || !l.lit("),") || !l.done() {
				return b.bad(weeWant)
			}
			if index >= uint64(len(at)) {
				return b.bad("an INDEX below %d, the number of Alloc lines so far", len(at))
			}
			slot := at[index]
			if slot == NoSlot {
				return b.bad("the INDEX of a live block, and block %d was freed before", index)
			}
			at[index] = NoSlot
			b.slots.give(slot)
			if err := b.add(Op{Slot: slot, Kind: Free, Effect: Drop}, 0); err != nil {
				return err
			}
		default:
			return b.bad(weeWant)
		}
	}
	return nil
}
