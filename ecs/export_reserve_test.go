package ecs

// CorruptLending breaks one numbered invariant of a world whose first lent block has
// a reserved id in record 0, an alive one in record 1 and none in record 2.
func (w *World) CorruptLending(invariant string) (restore func()) {
	o := w.records.lending.Load()
	b := o.block[0].Load()
	switch invariant {
	case "R4":
		b.count.Add(1)
		return func() { b.count.Add(-1) }
	case "R4 busy":
		count := b.lock()
		return func() { b.count.Store(count) }
	case "R5":
		b.records[2].version++
		return func() { b.records[2].version-- }
	case "R5 held":
		b.held[0] |= 1
		return func() { b.held[0] &^= 1 }
	case "R6":
		o.open[0].And(^uint64(1))
		return func() { o.open[0].Or(1) }
	case "R7":
		o.free.Add(1)
		return func() { o.free.Add(-1) }
	case "R7 alive":
		o.alive++
		return func() { o.alive-- }
	case "R8":
		w.records.total.Add(1)
		return func() { w.records.total.Add(-1) }
	case "R8 table":
		w.records.table[100].Store(b.records)
		return func() { w.records.table[100].Store(nil) }
	case "W1":
		b.records[0].version++ // alive without a row
		o.alive++
		return func() { b.records[0].version--; o.alive-- }
	}
	return nil
}

// CorruptNames breaks W8 of a world with two names that are the same, in three ways.
func (w *World) CorruptNames(way int) (restore func()) {
	for index, n := range w.names.byIndex {
		switch {
		case way == 0:
			n.e.version++
			return func() { n.e.version-- }
		case way == 1 && n.next != nil:
			delete(w.names.byText, n.text)
			return func() { w.names.byText[n.text] = n }
		case way == 2 && n.next == nil:
			delete(w.names.byIndex, index)
			return func() { w.names.byIndex[index] = n }
		}
	}
	return nil
}

// HoldBlock works on a lent block, as another goroutine would, until release.
func (w *World) HoldBlock(k int) (release func()) {
	o := w.records.lending.Load()
	b := o.block[k].Load()
	count := b.lock()
	return func() { o.unlock(b, count, count) }
}

// SharedBlocks returns how many there are, and SearchStart the one that the next
// search begins at.
func (w *World) SharedBlocks() int { return int(w.records.other().n.Load()) }
func (w *World) SearchStart() int  { return int(w.records.other().hint.Load()) }

// LeaveBlocks lets a world make n blocks more, and no others, until restore.
func (w *World) LeaveBlocks(n int) (restore func()) {
	pretended := int32(maxBlocks-n) - w.records.total.Load()
	w.records.total.Add(pretended)
	return func() { w.records.total.Add(-pretended) }
}

// MakeEntity makes one of its bits.
func MakeEntity(ref, version uint32) Entity { return Entity{ref, version} }

// Bits returns those of an entity.
func (e Entity) Bits() (ref, version uint32) { return e.ref, e.version }

// HasNames says whether the world has paid for names.
func (w *World) HasNames() bool { return w.names != nil }
