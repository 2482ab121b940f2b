package command

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"
)

// Writer records commands. One goroutine at a time may use it. The writer embedded in a Buffer is
// the buffer owner's; each writer from Buffer.Parallel is for one part.
//
// Commands of one writer are played in recording order, unless Key changes that. Recording panics
// for an entity or a type of another world and for a placeholder of another buffer. Without memory
// it panics with an error that wraps ErrLimit, ErrSize or the error of the universe.
type Writer struct {
	stream  *stream
	part    Part // nil: the buffer's own writer
	flight  uint64
	ordinal int
	key     int64
	within  bool // a segment with this key has begun
	ended   bool // the part has ended
}

// Recorder is implemented by *Buffer and *Writer.
type Recorder interface{ writer() *Writer }

func (w *Writer) writer() *Writer { return w }

func (b *Buffer) writer() *Writer {
	if b == nil {
		return nil
	}
	return b.Writer
}

// writerOf returns the writer of a recorder. For a nil recorder it returns nil, which check
// refuses.
func writerOf(r Recorder) *Writer {
	if b, ok := r.(*Buffer); ok && b != nil { // without a call, for most
		return b.Writer
	}
	return otherWriter(r)
}

//go:noinline
func otherWriter(r Recorder) *Writer {
	if r == nil {
		return nil
	}
	return r.writer()
}

// Key sets the sort key of the commands that this writer records from now on; 0 by default. Play
// applies lower keys first, across all writers of the buffer.
func (w *Writer) Key(key int64) {
	w.check("Writer.Key")
	if key != w.key {
		w.key, w.within = key, false
		w.stream.quick = 0
	}
}

// open reports whether check would pass at once: w is the buffer's own writer and the buffer
// records.
func (w *Writer) open() bool {
	return w != nil && w.stream != nil && w.part == nil && !w.ended && w.stream.b.state.Load() == recording
}

// check panics unless the writer may record.
func (w *Writer) check(op string) {
	if w == nil || w.stream == nil {
		panic("command: " + op +
			": the buffer or writer is nil or the zero value; buffers come from NewBuffer, writers from Buffer.Parallel")
	}
	if w.ended || w.part != nil && (w.part.Ordinal() != w.ordinal || w.part.Flight() != w.flight) {
		panic("command: " + op +
			": the writer's part has ended: take one from Buffer.Parallel in each call of a body")
	}
	if w.stream.b.state.Load() != recording {
		w.stream.b.mu.Lock()
		defer w.stream.b.mu.Unlock()
		w.stream.b.wake(op)
		w.within = false
	}
}

// record writes a record with n bytes after the list, if there is one, and returns the record and
// the address of those bytes. All steps that can fail come before the first write.
func (w *Writer) record(number uint16, e ecs.Entity, flags uint16, list []ecs.Entity, n int) (r *commandRecord,
	value unsafe.Pointer) {
	s := w.stream
	size := recordSize + roundUp(n)
	if flags&listed != 0 {
		size += 8 + 8*len(list)
	}
	if s.b.traces {
		size += 8
		flags |= traced
	}
	if size > mostBytes {
		panic(fmt.Errorf("command: a command of %d B: %w: one has at most %d B", size, ErrSize, mostBytes))
	}
	if s.inside { // noticed by chance, but soon
		s.b.torn.Store(true)
		panic("command: two goroutines record by one writer at once, and what is recorded is void: bodies of jobs take one each, by Buffer.Parallel")
	}
	s.inside = true
	if !w.within || len(s.segments) == 0 {
		s.begin(w.key, w.flight, w.ordinal)
		w.within = true
	}
	r = (*commandRecord)(s.room(size)) // Safe because the room is the record's, and at least as large as one.
	*r = commandRecord{op: number, flags: flags, size: uint32(size), e: e}
	s.segments[len(s.segments)-1].n++
	at := uintptr(recordSize)
	if flags&listed != 0 {
		*(*uint64)(r.after(at)) = uint64(len(list))
		copy(r.list(), list)
		at += 8 + 8*uintptr(len(list))
	}
	if flags&traced != 0 {
		*(*uint64)(r.after(uintptr(size) - 8)) = uint64(caller()) // Safe because the room has 8 bytes for it.
	}
	s.inside = false
	if w.part == nil {
		s.quicken()
	}
	return r, r.after(at)
}

// record1 is record for a command about one entity, with a short path for the usual case.
func (w *Writer) record1(number uint16, e ecs.Entity, n int) (r *commandRecord, value unsafe.Pointer) {
	s, size := w.stream, recordSize+roundUp(n)
	if r := s.next1(number, e, size); r != nil {
		return r, r.after(recordSize)
	}
	if s.inside || !w.within || len(s.segments) == 0 || s.filled == 0 || s.b.traces {
		return w.record(number, e, 0, nil, n)
	}
	p := &s.pages[s.filled-1]
	if size > p.units*alloc.ChunkSize-p.used {
		return w.record(number, e, 0, nil, n)
	}
	s.inside = true
	// Safe because the bytes lie inside the page, and are the record's.
	r = (*commandRecord)(unsafe.Add(p.base, p.used))
	p.used += size
	*r = commandRecord{op: number, size: uint32(size), e: e}
	s.segments[len(s.segments)-1].n++
	s.inside = false
	if w.part == nil {
		s.quicken()
	}
	return r, r.after(recordSize)
}

// withdraw removes the last record written.
func (w *Writer) withdraw(r *commandRecord) {
	s := w.stream
	s.pages[s.filled-1].used -= int(r.size)
	s.quick = 0
	s.segments[len(s.segments)-1].n--
}

// noteLinks sets the flag hasPlaceholders of a record if its n values at p, size bytes each, hold
// placeholders. It panics for a placeholder of another buffer.
func (w *Writer) noteLinks(r *commandRecord, links []world.Link, p unsafe.Pointer, n int, size uintptr) {
	for i := range n {
		for j := range links {
			// Safe because each value has an entity or an array at each link's offset.
			l, at := &links[j], unsafe.Add(p, uintptr(i)*size+links[j].Offset)
			if l.Count > 0 {
				w.noteLinks(r, l.Each, at, l.Count, l.Size)
				continue
			}
			e := *(*ecs.Entity)(at)
			if !e.IsPlaceholder() {
				if era := w.stream.b.recordings.Era(); era != w.stream.era {
					w.stream.mark(era, int(r.size))
				}
				continue
			}
			if number, id := door.Number(e); id != w.stream.b.id || int64(number) >= w.stream.b.numbers.Load() {
				w.withdraw(r)
				w.checkEntity("a value", e)
			}
			r.flags |= hasPlaceholders
		}
	}
}

// caller returns the program counter of the first caller outside the package.
func caller() uintptr {
	var pcs [8]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "quarry/ecs/command.") || strings.HasSuffix(f.File, "_test.go") {
			return f.PC + 1 // a return address, as CallersFrames expects
		}
		if !more {
			return 0
		}
	}
}

// checkEntity panics if commands of this buffer cannot be about e.
func (w *Writer) checkEntity(op string, e ecs.Entity) {
	b := w.stream.b
	if b.w.Owns(e) {
		if era := b.recordings.Era(); era != w.stream.era {
			w.stream.mark(era, 0)
		}
		return
	}
	if e == w.stream.newest && e != ecs.Null {
		return
	}
	if !e.IsPlaceholder() {
		if e == ecs.Null {
			panic("command: " + op + ": the entity is null")
		}
		panic(fmt.Sprintf("command: %s: %v belongs to another world", op, e))
	}
	number, id := door.Number(e)
	if id == b.id && int64(number) >= b.numbers.Load() {
		panic(fmt.Sprintf("command: %s: %v: the buffer has given out %d placeholders", op, e, b.numbers.Load()))
	}
	if id != b.id {
		panic(fmt.Sprintf(
			"command: %s: %v of buffer %d is of another buffer, or from before this one, %d, was cleared or played",
			op, e, id, b.id))
	}
}
