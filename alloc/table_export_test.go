package alloc

// Corrupt breaks one invariant of a table that has more than one chunk, and returns
// what puts it right.
func (t *Table) Corrupt(invariant string) (restore func()) {
	g := &t.store
	switch invariant {
	case "T1":
		g.count -= g.per
		return func() { g.count += g.per }
	case "T2":
		old := g.chunks[0]
		g.chunks[0].First = g.chunks[1].First
		return func() { g.chunks[0] = old }
	case "T2 not in use":
		c := g.chunks[0].First.Chunk()
		word, bit := g.u.Index.Word(int(c/ChunksPerMegachunk)), int(c)%ChunksPerMegachunk
		word.TryFree(bit, 1)
		return func() { word.TryAllocAt(bit, 1) }
	case "T3":
		old := g.growth
		g.growth = Growth{}
		return func() { g.growth = old }
	case "T4":
		g.columns[0].Offset += 8
		return func() { g.columns[0].Offset -= 8 }
	case "T4 plan":
		t.plan.Rows--
		return func() { t.plan.Rows++ }
	case "T6":
		t.columns[0].offset += 64
		return func() { t.columns[0].offset -= 64 }
	case "T6 twice":
		column, place := t.columns[1], t.plan.Places[1]
		t.columns[1], t.plan.Places[1] = t.columns[0], t.plan.Places[0]
		return func() { t.columns[1], t.plan.Places[1] = column, place }
	}
	return nil
}

// Reserve returns the number of chunks of the table that hold no record.
func (t *Table) Reserve() int { return t.store.Reserve() }
