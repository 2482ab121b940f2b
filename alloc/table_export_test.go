package alloc

// Corrupt breaks one invariant of a table that has more than one chunk, and returns
// what puts it right.
func (t *Table) Corrupt(invariant string) (restore func()) {
	switch invariant {
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
	return t.store.Corrupt(invariant)
}

// Reserve returns the number of chunks of the table that hold no record.
func (t *Table) Reserve() int { return t.store.Reserve() }
