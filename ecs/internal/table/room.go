package table

// Room. A table takes chunks before rows come. Only this can fail: functions that move rows cannot.

// Grow makes room for n more rows by the growth policy. A table without rows first returns to its
// own layout. After an error no row has changed.
func (t *Table) Grow(n int) error {
	t.UseOwnLayout()
	err := t.MakeRoom(n, false)
	if err == nil {
		t.Promote()
	}
	return err
}

// MakeRoom makes room for n more rows in the current layout, by the growth policy or exactly. If
// the only chunk is outgrown, its rows stay in it until Promote or Settle. If the universe refuses,
// MakeRoom calls Calls.Trim and tries again. After an error no row has changed.
func (t *Table) MakeRoom(n int, exactly bool) error {
	if n <= t.Store.Room() {
		return nil
	}
	before := len(t.Store.Chunks())
	err := t.grow(n, exactly)
	if err != nil && t.all.calls.Trim() > 0 {
		err = t.grow(n, exactly)
	}
	if err != nil {
		return err
	}
	chunks := t.Store.Chunks()
	for pos := before; pos < len(chunks); pos++ {
		t.enter(chunks[pos], pos)
	}
	return nil
}

// grow takes chunks for n more rows, by the growth policy or exactly.
func (t *Table) grow(n int, exactly bool) error {
	if exactly {
		return t.Store.GrowExact(n)
	}
	return t.Store.Grow(n)
}

// Promote moves the rows of an outgrown chunk to the next chunk. The next chunk takes the position
// of the outgrown one, with the versions of its types and of its order. Promote cannot fail.
func (t *Table) Promote() {
	pos, ok := t.Store.Leaving()
	if !ok {
		return
	}
	n := t.Store.RowsOf(pos)
	t.KeepRows(pos+1, 0, n)
	ids := IDs(t.Store.Row(pos+1, 0).Base, n)
	copy(ids, IDs(t.Store.Row(pos, 0).Base, n))
	t.all.ids.MoveRows(ids, t.At(pos+1, 0))
	t.retire(pos)
	t.Metadata.Promote(pos)
	t.Store.Promote()
	for i := pos; i < len(t.Store.Chunks()); i++ {
		t.place(i)
	}
}

// Settle moves to the reserve the chunks that MakeRoom took and that no row has come to.
func (t *Table) Settle() {
	for last := len(t.Store.Chunks()) - 1; last >= t.Store.Needed(); last-- {
		t.leave(last)
	}
	t.Store.Settle()
}

// Refit frees the reserve, and moves the rows of the last chunk to a smaller chunk if they fit one.
// If the universe refuses, Refit calls Calls.Trim and tries again; if that fails too, the rows
// stay.
func (t *Table) Refit() {
	err := t.Store.Refit()
	if err != nil && t.all.calls.Trim() > 0 {
		err = t.Store.Refit()
	}
	if _, smaller := t.Store.Leaving(); err != nil || !smaller {
		return
	}
	last := t.Store.LastChunk()
	t.enter(t.Store.Chunks()[last], last)
	t.Promote()
}

// FullChunks returns the number of full chunks, which can change hands: all chunks, or all but the
// last. A small chunk never changes hands.
func (t *Table) FullChunks() int {
	n := len(t.Store.Chunks())
	if n > 0 && t.PartFull() > 0 {
		n--
	}
	return n
}

// PartFull returns the number of rows of the last chunk if it is small or not full, else 0.
func (t *Table) PartFull() int {
	last := t.Store.LastChunk()
	c, n := t.Store.Chunks()[last], t.Store.RowsOf(last)
	if c.Small() || n < t.Store.Fits(c) {
		return n
	}
	return 0
}
