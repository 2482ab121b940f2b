package change

import (
	"fmt"

	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// Transactions. A change of many rows goes in three steps, so that it happens as a whole or not at
// all:
//
//	select   the rows, by table, each part with its outcome           Selection, Part, Outcome
//	reserve  rows in the tables that they come to, blocks, ids        Reserve: may be refused
//	commit   chunks change hands, rows move, entities end             Commit: cannot fail
//
// A world has one transaction at a time: package world refuses a structural change while another is
// under way.

// TableRange is consecutive rows of a table, by index in the table. It may cover several chunks.
type TableRange struct {
	Table *table.Table
	Start int
	N     int
}

// Tx is a structural change of many rows: the one under way, or the last one.
type Tx struct {
	Selection
	Spans   []TableRange // rows that the change has made or moved, at their new places
	writer  *Writer
	targets []target
	entries []entries
	blocks  []value.Header // taken by Take
	leaving []uint64       // rows of lists, for Finish
	used    int            // number of blocks returned by Block
	also    func() error   // makes further room, see Also; nil: none
}

// target is a table that receives rows.
type target struct {
	t              *table.Table
	rowsToCome     int  // rows that need room
	sources        int  // parts and other sources of rows
	fullChunksCome bool // full chunks come as well
}

// EntrySet has the values of a sparse type.
type EntrySet interface {
	// RoomFor makes room for more entries. Its error is from the universe, or entity.ErrFull.
	RoomFor(entries int) error
}

// entries is a set that receives entries.
type entries struct {
	to     EntrySet
	toCome int
}

// Begin begins a transaction without rows.
func (r *Writer) Begin() *Tx {
	tx := &r.tx
	tx.begin()
	tx.Spans, tx.targets, tx.blocks, tx.used = tx.Spans[:0], tx.targets[:0], tx.blocks[:0], 0
	tx.entries, tx.also = tx.entries[:0], nil
	return tx
}

// Last returns the last transaction.
func (r *Writer) Last() *Tx { return &r.tx }

// aim returns the target of a table, and counts one more source.
func (tx *Tx) aim(t *table.Table) *target {
	state := tx.stateOf(t.Index)
	if state.target == 0 {
		tx.targets = append(tx.targets, target{t: t})
		state.target = int32(len(tx.targets))
	}
	to := &tx.targets[state.target-1]
	to.sources++
	return to
}

// Expect announces n rows for a table. A table without rows returns to its own layout.
func (tx *Tx) Expect(t *table.Table, n int) {
	tx.aim(t).rowsToCome += n
	t.UseOwnLayout()
}

// ExpectEntries announces n entries for a set, which the caller adds after Commit: Reserve makes
// room for them, after ids, because a set has a place for each id.
func (tx *Tx) ExpectEntries(to EntrySet, n int) {
	for i := range tx.entries {
		if tx.entries[i].to == to {
			tx.entries[i].toCome += n
			return
		}
	}
	tx.entries = append(tx.entries, entries{to, n})
}

// plan decides how the rows of parts move, once all outcomes are known, and counts the rows that
// need room. All chunks of a part change hands if no other rows come and the target has none, so
// that it can use the layout. A small chunk never changes hands, nor do chunks of a group.
func (tx *Tx) plan() {
	for i := range tx.Parts {
		if p := &tx.Parts[i]; p.Outcome.Transition() != nil {
			tx.aim(p.Outcome.Transition().To)
		}
	}
	for i := range tx.Parts {
		p := &tx.Parts[i]
		if transition := p.Outcome.Transition(); transition != nil {
			tx.planPart(p, transition, &tx.targets[tx.stateOf(transition.To.Index).target-1])
		}
	}
}

func (tx *Tx) planPart(p *Part, transition *table.Transition, to *target) {
	if p.ofGroup {
		to.rowsToCome += p.Rows
		return
	}
	p.all = p.Whole && !p.Table.Store.HasSmall() && to.sources == 1 && transition.To.Len() == 0 &&
		(transition.MovesChunks || transition.FitsSourceLayout())
	switch {
	case p.all:
	case p.movesChunks():
		to.rowsToCome += p.Table.PartFull()
		to.fullChunksCome = true
	default:
		to.rowsToCome += p.Rows
	}
}

// movesChunks reports whether full chunks change hands.
func (p *Part) movesChunks() bool {
	return p.Whole && p.Outcome.Transition().MovesChunks && p.Table.FullChunks() > 0
}

// Take takes a block for a buffer of n elements, which Block hands out. The error is from the
// Spill. Cancel frees the blocks, and so does a Reserve that fails.
func (tx *Tx) Take(s *value.Spill, k *value.Shape, n int) error {
	h, err := s.Take(k, n)
	if err == nil {
		tx.blocks = append(tx.blocks, h)
	}
	return err
}

// Block returns the next block, in the order in which Take took them.
func (tx *Tx) Block() value.Header {
	tx.used++
	return tx.blocks[tx.used-1]
}

// Also sets a function that makes room elsewhere: Reserve calls it last, when there is room for all
// rows, ids and entries, and fails with its error. It may be called twice.
func (tx *Tx) Also(room func() error) { tx.also = room }

// Cancel abandons a transaction that was not committed.
func (tx *Tx) Cancel() {
	for i := range tx.blocks[tx.used:] {
		tx.writer.buffers.Free(&tx.blocks[tx.used+i])
	}
	tx.blocks, tx.used, tx.targets = tx.blocks[:0], 0, tx.targets[:0]
}

// Reserve makes room for the rows of all parts that move, for rows and entries announced by Expect
// and ExpectEntries, and for ids. After an error the transaction is canceled: no row, record or id
// has changed, and the targets have given their reserves back.
func (tx *Tx) Reserve(ids int) error {
	tx.plan()
	// What one target takes beyond its need may be missing for another target or for the ids.
	err := tx.grow(false, ids)
	if err != nil {
		err = tx.grow(true, ids)
	}
	if err != nil {
		tx.Cancel()
	}
	tx.targets = tx.targets[:0]
	return err
}

// grow grows the targets, by policy or exactly, and makes room for ids and entries; all or none.
func (tx *Tx) grow(exactly bool, ids int) (err error) {
	for i := range tx.targets {
		if err = tx.targets[i].t.MakeRoom(tx.targets[i].room(), exactly); err != nil {
			break
		}
	}
	if err == nil {
		err = tx.writer.reserveIDs(ids)
	}
	for i := 0; err == nil && i < len(tx.entries); i++ {
		err = tx.entries[i].to.RoomFor(tx.entries[i].toCome)
	}
	if err == nil && tx.also != nil {
		err = tx.also()
	}
	for i := range tx.targets {
		t := tx.targets[i].t
		if err == nil {
			tx.writer.promote(t)
			continue
		}
		t.Settle()
		t.Store.Trim(0) // a new target is dropped after an error, and must hold nothing
	}
	return err
}

// room returns the number of rows to make room for. If full chunks come to a small chunk and there
// are other rows too, that is at least one more row than the small chunk has room for.
func (to *target) room() int {
	if g := &to.t.Store; to.fullChunksCome && g.Units() == 0 && to.rowsToCome+g.Len() > 0 {
		return max(to.rowsToCome, g.SmallRows()-g.Len()+1)
	}
	return to.rowsToCome
}

// Commit moves and ends the rows of all parts by their outcomes, and returns how many moved and how
// many ended. No table is both the source of one part and the target of another, since a change
// leaves its own results unchanged. Groups may have both.
func (tx *Tx) Commit() (moved, ended int) {
	for i := range tx.Parts {
		if p := &tx.Parts[i]; p.Outcome.Transition() != nil {
			tx.moveChunks(p)
		}
	}
	for i := range tx.Parts {
		if p := &tx.Parts[i]; p.Outcome.Transition() != nil {
			moved += p.Rows
			tx.send(p)
		}
	}
	for i := range tx.Parts {
		if p := &tx.Parts[i]; p.Outcome.Ends() {
			ended += p.Rows
			tx.end(p)
		}
	}
	return moved, ended
}

// moveChunks hands over the chunks of a whole table, if that is enough.
func (tx *Tx) moveChunks(p *Part) {
	transition := p.Outcome.Transition()
	if p.ofGroup {
		return
	}
	if p.all && !transition.MovesChunks {
		transition.UseSourceLayout()
	}
	n := p.Table.FullChunks()
	if p.all {
		n = len(p.Table.Store.Chunks())
	}
	if p.Whole && transition.MovesChunks && n > 0 {
		tx.Note(tx.writer.moveChunks(transition, n))
	}
}

// send moves the part's rows along their transition. moveChunks has already handed over chunks that
// change hands. A chunk that is left because it is small or part full goes as a chunk too, with its
// values.
func (tx *Tx) send(p *Part) {
	chunks := p.Whole && p.Outcome.Transition().MovesChunks
	runs := p.Backward()
	runs.prefetches = p.purpose()
	for pos, row, n, ok := runs.Next(); ok; pos, row, n, ok = runs.Next() {
		if chunks {
			tx.Note(tx.writer.sendChunk(p.Outcome.Transition(), pos))
		} else {
			tx.Note(tx.writer.send(p.Outcome.Transition(), pos, row, n))
		}
		p.takeOut(pos, row, n)
	}
}

// end ends the entities of the part's rows.
func (tx *Tx) end(p *Part) {
	runs := p.Backward()
	runs.prefetches = p.purpose()
	for pos, row, n, ok := runs.Next(); ok; pos, row, n, ok = runs.Next() {
		tx.writer.end(p.Table, pos, row, n)
		p.takeOut(pos, row, n)
	}
}

// Note adds rows to Spans, extending the last span if they follow it.
func (tx *Tx) Note(rows TableRange) {
	if last := len(tx.Spans) - 1; last >= 0 {
		if s := &tx.Spans[last]; s.Table == rows.Table && s.Start+s.N == rows.Start {
			s.N += rows.N
			return
		}
	}
	tx.Spans = append(tx.Spans, rows)
}

// Verify checks C1.
func (r *Writer) Verify() error {
	if tx := &r.tx; len(tx.targets) > 0 || tx.used < len(tx.blocks) {
		return fmt.Errorf(
			"ecs: C1: no change is under way, but rows are coming to %d tables, and %d of %d blocks are kept",
			len(tx.targets), len(tx.blocks)-tx.used, len(tx.blocks))
	}
	return nil
}
