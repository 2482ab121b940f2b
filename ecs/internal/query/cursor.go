package query

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"quarry/internal/debug"
	"quarry/internal/store"
)

// Cursors. A Cursor goes through the same rows in the same order as Query.Walk, but the caller's
// loop drives it: there is neither a function to call for each chunk nor a deferred one. What defer
// does for a walk, the Next that returns false does here, or Close.
//
//	        NewCursor              Next ... Next         Next, false
//	no loop ---------> first chunk ------------> chunks -----------> no loop
//	   ^               the world is locked from here on |
//	   +-----------------------Close--------------------+
//
// The state of the loop lies in its scan, so that the compiler keeps the two words of a Cursor,
// scan and number of the loop, in registers; a struct that Next changes would be copied for each
// turn of a for loop. A cursor that is used after its end finds another number in the scan, which
// may serve another loop by then, and changes nothing.

// OpenCursor is ecs.Query.Cursor: it begins a loop that stands at its first chunk, or has ended.
func OpenCursor(q *Query) (s *Scan, loop uint64) {
	if q == nil || q.Matching == nil || atomic.LoadUint64(&q.ownerSeen) != q.World.QueryEpochs.OwnerMatched {
		if !q.prepare() {
			return q.openCursorOfSome()
		}
	}
	w := q.World
	s = &ScansOf(w).Outer
	if w.Loops.Open != 0 || debug.On {
		s = OpenScan(w, q)
	} else { // OpenScan, but nothing is stored that is there already: loads of it would wait
		w.Loops.Open = 1
		if s.Query != q {
			s.Query = q
		}
		s.open = true
	}
	if debug.On {
		s.cursor.origin = origin()
	}
	loop = s.loop
	// Scan.moveCursor to the first chunk, inlined by hand.
	bindings := q.Bindings
	for i := range bindings {
		t := &bindings[i]
		g := &t.Archetype.Table.Store
		n, chunks := g.Len(), g.Chunks()
		if n == 0 {
			continue
		}
		k := &s.cursor
		k.next = noChunk
		if len(chunks) > 1 || i+1 < len(bindings) {
			k.binding, k.pos, k.next = i, 1, anyChunk
			n = g.RowsOf(0)
		}
		c := &chunks[0]
		if s.Binding != t {
			s.Binding = t
		}
		s.MoveTo(0, uintptr(g.Scale(c.Order)), true)
		// Safe because the chunk is one of the world's universe.
		if base := unsafe.Add(w.Base, uintptr(c.First)*store.SmallSize); k.base != base {
			k.base = base
		}
		k.span = MakeRows(s, nil, n).Span
		s.Fresh = loop
		return s, loop
	}
	s.loop++
	s.End()
	return s, loop
}

// RowsAt is ecs.Cursor.Rows.
func (s *Scan) RowsAt(loop uint64) Rows {
	if s.loop != loop {
		return Rows{}
	}
	return Rows{s, s.cursor.base, s.cursor.span}
}

// Advance is ecs.Cursor.Next behind the first chunk.
//
//go:noinline
func (s *Scan) Advance(loop uint64) bool {
	if s.loop != loop {
		return false
	}
	switch s.cursor.next {
	case noChunk:
		s.loop++
		s.End()
		return false
	case anyChunk:
		return s.moveCursor(s.Query, s.cursor.binding, s.cursor.pos)
	}
	return s.nextOfSome()
}

// moveCursor moves the loop to the next chunk that has rows, from a chunk of a binding on, or ends
// it.
func (s *Scan) moveCursor(q *Query, i, pos int) bool {
	bindings := q.Bindings
	for ; i < len(bindings); i, pos = i+1, 0 {
		t := &bindings[i]
		g := &t.Archetype.Table.Store
		chunks := g.Chunks()
		if pos >= len(chunks) || g.Len() == 0 {
			continue
		}
		c := &chunks[pos]
		scale := int(g.Scale(c.Order))
		n := min(g.PerUnit()*scale>>store.UnitOrder, g.Len()-c.Start)
		if s.Binding != t { // what is there already is not stored again: loads of it would wait
			s.Binding = t
		}
		s.MoveTo(pos, uintptr(scale), true)
		// Safe because the chunk is one of the world's universe.
		base := unsafe.Add(s.World.Base, uintptr(c.First)*store.SmallSize)
		k := &s.cursor
		if k.base != base {
			k.base = base
		}
		k.span, k.next = MakeRows(s, nil, n).Span, noChunk
		if pos+1 < len(chunks) || i+1 < len(bindings) {
			k.binding, k.pos, k.next = i, pos+1, anyChunk
		}
		return true
	}
	s.loop++
	s.End()
	return false
}

// openCursorOfSome is OpenCursor for a query that may skip some chunks or rows.
//
//go:noinline
func (q *Query) openCursorOfSome() (s *Scan, loop uint64) {
	if b := LoanOf(q.World); b != nil {
		s = &b.Take("Query.Cursor", q).Scan
	} else {
		s = OpenScan(q.World, q)
	}
	if debug.On {
		s.cursor.origin = origin()
	}
	s.loop = max(s.loop, 1) // the first of an accessor
	loop, s.Since = s.loop, q.Since
	s.cursor.next, s.cursor.binding, s.cursor.pos = someChunks, 0, 0
	if set := q.driving(); set != nil {
		s.cursor.next, s.keys = chunksByKey, q.appendRowKeys(s.keys[:0], set)
	}
	if s.nextOfSome() {
		s.Fresh = loop
	}
	return s, loop
}

// nextOfSome is nextChunk for a query that may skip some chunks or rows.
//
//go:noinline
func (s *Scan) nextOfSome() bool {
	q, k := s.Query, &s.cursor
	rows, ok := Rows{}, false
	if k.next == chunksByKey {
		rows, ok = s.nextOfKeys()
	} else {
		rows, ok = s.nextOfBindings()
	}
	if ok {
		k.base, k.span = rows.Base, rows.Span
		return true
	}
	s.endCursor()
	if s.Borrow == nil && q.advancesSince() {
		q.Since = q.World.Tables.Version
		q.World.Advance()
	}
	return false
}

// nextOfBindings moves the loop to the next chunk with a row that matches.
func (s *Scan) nextOfBindings() (rows Rows, ok bool) {
	q, k := s.Query, &s.cursor
	filters := q.MaySkipChunks(s.Since)
	for ; k.binding < len(q.Bindings); k.binding++ {
		s.Binding = &q.Bindings[k.binding]
		a := s.Binding.Archetype
		for a.Table.Store.Len() > 0 && k.pos < len(a.Table.Store.Chunks()) {
			pos := k.pos
			k.pos++
			if filters && !q.ChunkPasses(s.Borrow, a, pos, 0, a.Table.Store.RowsOf(pos), s.Since) {
				continue
			}
			if rows, ok = s.Chunk(pos); ok {
				return rows, true
			}
		}
		k.pos = 0
	}
	return Rows{}, false
}

// nextOfKeys moves the loop to the next chunk in which an entry of the driving set matches.
func (s *Scan) nextOfKeys() (rows Rows, ok bool) {
	q, k := s.Query, &s.cursor
	filters := q.MaySkipChunks(s.Since)
	for keys := s.keys[k.binding:]; len(keys) > 0; {
		n, pos := sameChunk(keys), keys[0].pos()
		k.binding += n
		s.Binding = &q.Bindings[keys[0].binding()]
		if a := s.Binding.Archetype; !filters ||
			q.ChunkPasses(s.Borrow, a, pos, 0, a.Table.Store.RowsOf(pos), s.Since) {
			if rows, ok = s.rowsOfKeys(q, pos, keys[:n]); ok {
				return rows, true
			}
		}
		keys = keys[n:]
	}
	return Rows{}, false
}

// CloseCursor is ecs.Cursor.Close.
func (s *Scan) CloseCursor(loop uint64) {
	if s.loop == loop {
		s.endCursor()
	}
}

// endCursor ends the loop of a cursor.
func (s *Scan) endCursor() {
	s.loop++
	s.Fresh = 0
	if b := s.Borrow; b != nil {
		b.GiveBack(b.accessorOf(s))
		return
	}
	s.End()
}

// accessorOf returns the accessor of a scan.
func (b *Borrow) accessorOf(s *Scan) *Accessor {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.accessors[slices.IndexFunc(b.accessors, func(r *Accessor) bool { return &r.Scan == s })]
}

// origin returns where the loop of a cursor begins: in the first function outside this package and
// the face.
func origin() string {
	var calls [16]uintptr
	const skip = 2 // runtime.Callers, origin
	frames := runtime.CallersFrames(calls[:runtime.Callers(skip, calls[:])])
	for {
		f, more := frames.Next()
		if !more || !strings.HasSuffix(f.Function, "Cursor") && !strings.HasSuffix(f.Function, "CursorOfSome") {
			return f.File + ":" + strconv.Itoa(f.Line)
		}
	}
}
