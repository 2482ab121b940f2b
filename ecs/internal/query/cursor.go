package query

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"quarry/ecs/internal/world"
	"quarry/internal/debug"
)

// Cursors. A Cursor goes through the same rows in the same order as Query.Walk, but the caller's
// loop drives it: there is neither a function to call for each chunk nor a deferred one. What defer
// does for a walk, the Next that returns false does here, or Close.
//
//	        OpenCursor      Next          Next ... Next        Next, false
//	no loop ----------> loop ---> a chunk ------------> chunks -----------> no loop
//	   ^                the world is locked from here on |
//	   +------------------------Close--------------------+
//
// The state of the loop lies in its scan, so that the compiler keeps the words of a Cursor in
// registers; a struct that Next changes would be copied for each turn of a for loop. A cursor that
// is used after its end finds another number in the scan, which may serve another loop by then, and
// changes nothing.
//
// Where all rows of a query match and writes need no barrier, the loop goes through the view's
// ready chunks (ready.go), else it looks at each chunk, as Scan.Walk does.

// Cursor is ecs.Cursor without the type of its view.
type Cursor struct {
	scan *Scan
	loop uint64
}

// cursorState is the part of a Scan that serves the loop of a Cursor.
type cursorState struct {
	chunks  *Ready                    // what the loop goes through; nil: it looks at each chunk
	next    int                       // of them
	loop    uint64                    // Scan.loop while a Cursor drives the scan
	shown   int                       // next, when rows were made
	ready   unsafe.Pointer            // the view's struct of the current rows; nil without any
	rows    Rows                      // the current ones
	fill    func(Rows) unsafe.Pointer // makes ready of rows, where the loop looks at each chunk
	byKey   bool                      // a set drives
	binding int                       // of the current chunk; where a set drives, the number of the next key
	pos     int                       // of the next chunk in the binding's archetype
	origin  string                    // in debug builds, where the loop began; "" if no Cursor drives the scan
}

// OpenCursor is ecs.View.Cursor.
func OpenCursor(r *Ready) Cursor {
	if r == nil || r.Query == nil || !r.current() {
		return r.openCursor()
	}
	q := r.Query
	w := q.World
	s := &ScansOf(w).Outer
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
		if err := r.verify(); err != nil {
			panic(err.Error())
		}
	}
	k := &s.cursor
	if k.chunks != r {
		k.chunks = r
	}
	k.next, k.shown, k.loop, k.ready = 0, 0, s.loop, nil
	return Cursor{s, s.loop}
}

// openCursor is OpenCursor where they are not current.
//
//go:noinline
func (r *Ready) openCursor() Cursor {
	const op = "View.Cursor"
	if r == nil || r.Query == nil {
		panic("ecs: " + op + ": the view is nil or the zero value; views come from NewView")
	}
	q := r.Query
	if q.Ready(op); r.refresh() {
		return OpenCursor(r)
	}
	var s *Scan
	if b := LoanOf(q.World); b != nil {
		s = &b.Take(op, q).Scan
	} else {
		s = OpenScan(q.World, q)
	}
	s.cursor = cursorState{fill: r.FillNext()}
	if debug.On {
		s.cursor.origin = origin()
	}
	s.loop = max(s.loop, 1) // the first of an accessor
	s.cursor.loop, s.Since = s.loop, q.Since
	if set := q.driving(); set != nil {
		s.cursor.byKey, s.keys = true, q.appendRowKeys(s.keys[:0], set)
	}
	return Cursor{s, s.loop}
}

// Next is ecs.Cursor.Next.
func (c Cursor) Next() bool { return c.scan.advance(c.loop) }

//go:noinline
func (s *Scan) advance(loop uint64) bool {
	s.checkCursor()
	if s.loop != loop {
		return false
	}
	k := &s.cursor
	if k.chunks == nil {
		return s.nextOfSome()
	}
	if i := k.next; i < len(k.chunks.list) {
		// Safe because each chunk has one.
		k.next, k.ready = i+1, unsafe.Add(k.chunks.structs, uintptr(i)*k.chunks.size)
		s.ExpireRows()
		version := s.World.Tables.Version
		for _, m := range k.chunks.list[i].marks {
			*m = version
		}
		return true
	}
	s.loop++
	s.End()
	return false
}

// checkCursor panics for the zero Cursor.
func (s *Scan) checkCursor() {
	if s == nil {
		panic("ecs: Cursor: the cursor is the zero value; cursors come from View.Cursor")
	}
}

// Ready returns the view's struct of the current rows, or nil if there are none.
func (c Cursor) Ready() unsafe.Pointer {
	if c.scan != nil && c.scan.loop == c.loop {
		return c.scan.cursor.ready
	}
	return nil
}

// Rows is ecs.Cursor.Rows.
func (c Cursor) Rows() Rows {
	s := c.scan
	s.checkCursor()
	k := &s.cursor
	if s.loop != c.loop || k.ready == nil {
		return Rows{}
	}
	if k.chunks != nil && k.shown != k.next {
		t := &k.chunks.list[k.next-1]
		s.Binding = &s.Query.Bindings[t.binding]
		at := s.Binding.Archetype.Table.Store.Row(t.pos, 0)
		s.MoveTo(t.pos, at.Scale, true)
		k.rows, k.shown = MakeRows(s, at.Base, t.n), k.next
	}
	return k.rows
}

// Close is ecs.Cursor.Close.
func (c Cursor) Close() {
	c.scan.checkCursor()
	if c.scan.loop == c.loop {
		c.scan.endCursor()
	}
}

// nextOfSome is advance for a loop that looks at each chunk.
//
//go:noinline
func (s *Scan) nextOfSome() bool {
	q, k := s.Query, &s.cursor
	rows, ok := Rows{}, false
	if k.byKey {
		rows, ok = s.nextOfKeys()
	} else {
		rows, ok = s.nextOfBindings()
	}
	if ok {
		k.rows, k.ready = rows, k.fill(rows)
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

// endCursor ends the loop of a cursor.
func (s *Scan) endCursor() {
	s.loop++
	s.cursor.fill, s.cursor.ready = nil, nil
	if b := s.Borrow; b != nil {
		b.GiveBack(b.accessorOf(s))
		return
	}
	s.End()
}

// EndCursors ends the loops of the owner's cursors, the innermost first, and returns their queries
// in this order.
func EndCursors(w *world.World) (of []*Query) {
	for _, s := range slices.Backward(ScansOf(w).List) {
		if s.open && s.cursor.loop == s.loop {
			of = append(of, s.Query)
			s.endCursor()
		}
	}
	return of
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
