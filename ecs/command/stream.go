package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// A stream is a sequence of records in chunks of the world's universe. One goroutine at a time
// writes to it. It is cut into segments, each with its place in the order of playback; within a
// segment, records are in recording order.

// ErrLimit is wrapped by the error of recording beyond the buffer's Limit.
var ErrLimit = errors.New("the buffer's limit of memory is reached")

// ErrTorn is wrapped by the error of Play and PlayRest after two goroutines recorded through one
// writer at once. Nothing is played then, and everything recorded is dropped.
var ErrTorn = errors.New("two goroutines recorded by one writer at once")

// ErrSize is wrapped by the error of recording a command that is larger than the largest run of
// chunks.
var ErrSize = errors.New("the command is too large")

// page is a run of chunks that holds records. No record crosses its end.
type page struct {
	first alloc.ChunkIndex
	units int
	base  unsafe.Pointer
	used  int // bytes
}

// stream is the sequence of records of one writer.
type stream struct {
	b        *Buffer
	worker   int // worker + 1; 0 for the buffer's own
	pages    []page
	filled   int // pages with records; the last of them is written to
	segments []segment
	ops
	values  []any          // Go values, by number
	numbers map[any]uint64 // of values, number + 1

	era   uint64 // in which it named an entity last, see stale.go
	marks []mark // by position

	next, end int        // numbers of placeholders at hand: [next, end)
	newest    ecs.Entity // last placeholder handed out; Null if none since the last clear

	writers [4]Writer // of parts, in turn, so that a writer kept beyond its part is noticed
	turns   int

	inside bool // a record is being written

	// What record1 needs for the buffer's own writer while nothing stands against another record of
	// its segment: how many bytes the page has left, 0 if something does; the page and the segment.
	quick   int
	page    *page
	segment *segment

	need need // chunks of pages with records
}

// mark is where the records of an era begin in a stream.
type mark struct {
	era      uint64
	page, at int
}

// segment is consecutive records of a stream that are played together.
type segment struct {
	key     int64
	flight  uint64 // of a job; 0 for the buffer's own
	ordinal int
	stream  *stream
	page    int // where the records begin: page and offset
	at      int
	n       int // records
	first   int // number of the first record among those with the same key, flight and ordinal; see inOrder
}

// before orders segments by key, flight, ordinal and worker.
func before(a, b segment) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.flight, b.flight), cmp.Compare(a.ordinal, b.ordinal),
		cmp.Compare(a.stream.worker, b.stream.worker))
}

// inOrder appends the segments of all streams to a list, and returns it in the order of playback.
func inOrder(list []segment, streams []*stream) []segment {
	for _, s := range streams {
		if s != nil {
			list = append(list, s.segments...)
		}
	}
	if !slices.IsSortedFunc(list, before) {
		slices.SortStableFunc(list, before)
	}
	for i := 1; i < len(list); i++ {
		if one := &list[i-1]; before(*one, list[i]) == 0 {
			list[i].first = one.first + one.n
		}
	}
	return list
}

// room returns n more bytes of the stream; n is a multiple of 8.
func (s *stream) room(n int) unsafe.Pointer {
	if s.filled > 0 {
		if p := &s.pages[s.filled-1]; p.used+n <= p.units*alloc.ChunkSize {
			p.used += n
			return unsafe.Add(p.base, p.used-n) // Safe because the n bytes lie inside the page.
		}
	}
	p := s.turn(n)
	p.used = n
	return p.base
}

// quicken lets the buffer's own writer record quickly, once it has written a record.
func (s *stream) quicken() {
	if s.worker == 0 && !s.b.traces {
		s.page, s.segment = &s.pages[s.filled-1], &s.segments[len(s.segments)-1]
		s.quick = s.page.units*alloc.ChunkSize - s.page.used
	}
}

// next1 writes the head of a record of size bytes, if that is quick; otherwise it returns nil.
func (s *stream) next1(number uint16, e ecs.Entity, size int) *commandRecord {
	if size > s.quick || s.inside {
		return nil
	}
	s.inside = true
	// Safe because the bytes lie inside the page, and are the record's.
	r := (*commandRecord)(unsafe.Add(s.page.base, s.page.used))
	s.page.used += size
	s.quick -= size
	*r = commandRecord{op: number, size: uint32(size), e: e}
	s.segment.n++
	s.inside = false
	return r
}

// turn begins a page with room for n bytes: the next page of the stream, or a new one.
func (s *stream) turn(n int) *page {
	if s.filled == len(s.pages) || s.pages[s.filled].units*alloc.ChunkSize < n {
		if err := s.insert((n + alloc.ChunkSize - 1) / alloc.ChunkSize); err != nil {
			s.inside = false
			panic(err)
		}
	}
	s.filled++
	return &s.pages[s.filled-1]
}

// insert allocates a page of some chunks and makes it the next to be filled.
func (s *stream) insert(units int) error {
	p, err := s.take(units)
	if err == nil {
		s.pages = slices.Insert(s.pages, s.filled, p)
	}
	return err
}

// take allocates a page of some chunks.
func (s *stream) take(units int) (page, error) {
	b, bytes := s.b, int64(units)*alloc.ChunkSize
	if held := b.held.Add(bytes); b.limit > 0 && held > b.limit {
		b.held.Add(-bytes)
		return page{}, fmt.Errorf("command: recording %d B more than %d B: %w (%d B)",
			bytes, held-bytes, ErrLimit, b.limit)
	}
	u := b.w.Universe()
	first, err := u.AllocExact(units)
	if err != nil {
		b.held.Add(-bytes)
		return page{}, fmt.Errorf("command: recording %d B more: %w", bytes, err)
	}
	door.Hold(b.w, units)
	// Safe because the chunks are the stream's until it is closed.
	return page{first: first, units: units, base: unsafe.Pointer(u.Pointer(first))}, nil
}

// free gives pages back to the universe.
func (s *stream) free(pages []page) {
	for _, p := range pages {
		s.b.w.Universe().Free(p.first, p.units)
		door.Hold(s.b.w, -p.units)
		s.b.held.Add(-int64(p.units) * alloc.ChunkSize)
	}
}

// reserve makes sure that n records of size bytes fit the stream's pages. When it fails, the stream
// is as it was.
func (s *stream) reserve(n, size int) error {
	for i := max(0, s.filled-1); i < len(s.pages); i++ {
		free := s.pages[i].units * alloc.ChunkSize
		if i < s.filled {
			free -= s.pages[i].used
		}
		n -= free / size
	}
	var taken []page // the next to be filled: those after may be too small for a record
	for units := (size + alloc.ChunkSize - 1) / alloc.ChunkSize; n > 0; n -= units * alloc.ChunkSize / size {
		p, err := s.take(units)
		if err != nil {
			s.free(taken)
			return err
		}
		taken = append(taken, p)
	}
	s.pages = slices.Insert(s.pages, s.filled, taken...)
	s.quick = 0 // pages have moved
	return nil
}

// writer returns the writer of a part, and voids the writer of the part before.
func (s *stream) writer(part Part) *Writer {
	s.writers[s.turns%len(s.writers)].ended = true
	s.turns++
	w := &s.writers[s.turns%len(s.writers)]
	*w = Writer{stream: s, part: part, flight: part.Flight(), ordinal: part.Ordinal()}
	return w
}

// begin starts a segment.
func (s *stream) begin(key int64, flight uint64, ordinal int) {
	one := segment{key: key, flight: flight, ordinal: ordinal, stream: s}
	if s.filled > 0 {
		one.page, one.at = s.filled-1, s.pages[s.filled-1].used
	}
	s.segments = append(s.segments, one)
}

// clear drops the records. It keeps pages of at most twice as many chunks as recent recordings
// took.
func (s *stream) clear() {
	s.quick = 0
	units := 0
	for i := range s.filled {
		units += s.pages[i].units
		s.pages[i].used = 0
	}
	s.filled = 0
	s.keep(2 * s.need.note(units))
	s.segments = s.segments[:0]
	s.era, s.marks = 0, s.marks[:0]
	clear(s.values)
	s.values = s.values[:0]
	clear(s.numbers)
	if len(s.list) > mostOps {
		s.ops = ops{}
	}
}

// mostOps is the most ops that a stream keeps from one recording to the next.
const mostOps = 1024

// trim frees the pages without records.
func (s *stream) trim() {
	s.keep(0)
	s.pages = slices.Clip(s.pages)
}

// keep frees pages without records, from the first on that would exceed most chunks.
func (s *stream) keep(most int) {
	s.quick = 0
	units := 0
	for i := range s.pages {
		if units += s.pages[i].units; units <= most || i < s.filled {
			continue
		}
		s.free(s.pages[i:])
		s.pages = s.pages[:i]
		return
	}
}

// close frees all pages.
func (s *stream) close() {
	s.clear()
	s.trim()
}

// goValue returns the number by which records name a Go value. Equal values have one number.
func (s *stream) goValue(v any) uint64 {
	if n := s.numbers[v]; n != 0 {
		return n - 1
	}
	if s.numbers == nil {
		s.numbers = map[any]uint64{}
	}
	s.values = append(s.values, v)
	n := uint64(len(s.values))
	s.numbers[v] = n
	return n - 1
}

// placeholder returns the next placeholder.
func (s *stream) placeholder() ecs.Entity {
	if s.next == s.end {
		const block = 256
		s.end = int(s.b.numbers.Add(block))
		s.next = s.end - block
	}
	s.next++
	s.newest = door.Placeholder(s.next-1, s.b.id)
	return s.newest
}

// indexOf returns the index of a type. It panics unless the type is of the buffer's world.
func (s *stream) indexOf(name string, t ecs.Type) int {
	i := door.TypeIndex(s.b.w, t)
	if i < 0 {
		refuseType(name, t)
	}
	return i
}

// mark notes that the stream names an entity in an era, by the record that begins back bytes before
// the end of what is written.
func (s *stream) mark(era uint64, back int) {
	m := mark{era: era}
	if s.filled > 0 {
		m.page, m.at = s.filled-1, s.pages[s.filled-1].used-back
	}
	s.era, s.marks = era, append(s.marks, m)
	s.b.recordings.Watch(&s.b.recording, era)
}

// eraAt returns the era of a record.
func (s *stream) eraAt(page, at int) (era uint64) {
	n := sort.Search(len(s.marks), func(i int) bool {
		m := &s.marks[i]
		return m.page > page || m.page == page && m.at > at
	})
	if n == 0 {
		return 0
	}
	return s.marks[n-1].era
}

// cursor walks the records of a segment.
type cursor struct {
	s        *stream
	page, at int
	left     int
}

func (g *segment) cursor() cursor { return cursor{g.stream, g.page, g.at, g.n} }

// turn moves to the page of the next record if the cursor is at the end of a page. There must be a
// next record.
func (c *cursor) turn() {
	for c.at >= c.s.pages[c.page].used {
		c.page, c.at = c.page+1, 0
	}
}

// next returns the next record, or nil.
func (c *cursor) next() *commandRecord {
	if c.left == 0 {
		return nil
	}
	c.turn()
	// Safe because a record begins there.
	r := (*commandRecord)(unsafe.Add(c.s.pages[c.page].base, c.at))
	c.at += int(r.size)
	c.left--
	return r
}
