package command

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"
	"quarry/internal/debug"
)

// The buffer.
//
// Commands are recorded in streams: one for the owner of the buffer and one for each worker of a
// job. Play puts the streams' segments in order and works out what the commands do to each entity,
// without touching the world (check.go, program.go). Then it applies them to all entities with the
// same commands at once (play.go, subjectgroup.go, fill.go):
//
//	record      stream: Add(1v1, Hit{3})  Set(7v1, ..)  Add(2v1, Hit{5})  Remove(2v1, Slow) ...
//	check       subject of 1v1: [Body] +Hit           subject of 2v1: [Body Slow] +Hit -Slow ...
//	play        all subjects of [Body] +Hit: a group of one transaction, one copy of a column
//
// What a command means, whether it can apply and where it leads is worked out once per edge of a
// tree, not once per entity; program.go draws the tree and has its words.
//
// Entities that are created alike, one after the other, are checked by comparing their records with
// the records of the first. They have no links (pattern.go).
//
// Two commands need a world in which all earlier commands are done: a command about the matches of
// a query (query.go), and an Instantiate of an entity that earlier commands changed. Each ends a
// run, and the runs are played one after the other.
//
// Invariants:
//
//	C1 The order of playback is (key, flight, ordinal, sequence). None of them depends on
//	   which worker recorded a command, or when.
//	C2 The world is unchanged when Play refuses a buffer.
//	C3 A command is applied in full or is among the failures. One exception: if elements find
//	   no room, the entity still gets the buffer, empty.
//	C4 The commands of an entity have the same effect as one by one, in order, and its row is
//	   moved at most once per run.
//	C5 After Play, Clear and Close the world holds no placeholder of the buffer.

// Buffer is a command buffer: it records changes of a world, which Play makes later. Recording,
// through the buffer or one of its Writers, needs no access to the world. Nothing recorded is
// visible before Play.
type Buffer struct {
	*Writer    // the owner's
	w          *ecs.World
	id         uint32
	keep       bool
	traces     bool
	limit      int64        // bytes of pages; 0: none
	held       atomic.Int64 // bytes of pages
	numbers    atomic.Int64 // placeholders handed to streams, a block at a time
	state      atomic.Int32
	torn       atomic.Bool       // since the last clear, two goroutines recorded through one writer at once
	lent       bool              // a Lender's: it alone seals and closes the buffer
	why        string            // reason given to Lender.Seal
	recordings *world.Recordings // of the world
	recording  world.Recording
	mu         sync.Mutex // guards the search for a worker's stream
	streams    []*stream  // by worker + 1; the first is the owner's
	player     player
}

// States of a buffer.
const (
	recording = iota
	playing
	played // and nothing recorded since
	sealed
	closed
)

// ids numbers the buffers of the process, for their placeholders.
var ids atomic.Uint32

// Option changes how NewBuffer works.
type Option func(*Buffer)

// Keep is an option that lets a buffer be played many times: the buffer keeps its commands until
// Clear. Its placeholders stand for new entities in each Play.
func Keep(b *Buffer) {
	if b == nil {
		panic("command: Keep: the buffer is nil; NewBuffer calls its options")
	}
	b.keep = true
}

// Trace is an option that records the source line of each command, for reports of failures. It
// costs about 200 ns a command. Debug builds always trace.
func Trace(b *Buffer) {
	if b == nil {
		panic("command: Trace: the buffer is nil; NewBuffer calls its options")
	}
	b.traces = true
}

// Limit returns an option that bounds the memory of the records, in bytes; memory is taken in
// chunks of 16 KiB. Recording beyond the limit panics with an error that wraps ErrLimit; see
// Buffer.Reserve. Limit panics if bytes is not positive.
func Limit(bytes int64) Option {
	if bytes <= 0 {
		panic(fmt.Sprintf("command: Limit: %d B: the limit must be positive", bytes))
	}
	return func(b *Buffer) { b.limit = bytes }
}

// NewBuffer returns a buffer for commands to w. It takes no memory before the first command. It
// panics if w is nil or closed.
func NewBuffer(w *ecs.World, options ...Option) *Buffer { return newBuffer("NewBuffer", w, options) }

func newBuffer(op string, w *ecs.World, options []Option) *Buffer {
	if w == nil {
		panic("command: " + op + ": the world is nil")
	}
	if w.Closed() {
		panic("command: " + op + ": the world is closed")
	}
	b := &Buffer{w: w, id: ids.Add(1), traces: debug.On}
	for _, o := range options {
		if o == nil {
			panic("command: " + op + ": an option is nil")
		}
		o(b)
	}
	b.recordings = door.RecordingsOf(w)
	own := &stream{b: b}
	b.streams = []*stream{own}
	b.Writer = &Writer{stream: own}
	return b
}

// Part identifies the part of a job's rows that a call of its body records for; see Parallel. A
// *job.Ctx is one.
type Part interface {
	Worker() int    // number of the worker, 0 to 4,095; one goroutine has it at a time
	Flight() uint64 // number of the job's flight, from 1; later flights have higher numbers
	// Number of the part in the flight, from 0, the same for any number of workers; when the part
	// has ended, another number or -1.
	Ordinal() int
}

// Parallel returns a writer for one part of a job. Any goroutine may call it. The writer belongs
// to the caller until its worker takes the next part. Within a key, commands of parts are played
// after the commands of the buffer's own writer, in the order (flight, ordinal, sequence).
func (b *Buffer) Parallel(part Part) *Writer {
	const op = "Buffer.Parallel"
	b.checkMade(op)
	if part == nil {
		panic("command: " + op + ": the part is nil; bodies of jobs have one: cb.Parallel(c)")
	}
	worker := part.Worker()
	if worker < 0 || worker > mostWorkers || part.Flight() == 0 {
		panic(fmt.Sprintf("command: %s: worker %d, flight %d: workers are from 0 to %d, flights from 1",
			op, worker, part.Flight(), mostWorkers))
	}
	if part.Ordinal() < 0 {
		panic("command: " + op + ": the part has ended: what a body gets is good until it returns")
	}
	return b.streamOf(worker).writer(part)
}

// mostWorkers is the highest number of a worker: each has a stream of its own in the buffer.
const mostWorkers = 4095

// checkMade panics for a nil buffer or one that did not come from NewBuffer.
func (b *Buffer) checkMade(op string) {
	if b == nil || b.w == nil {
		panic("command: " + op + ": the buffer is nil or the zero value; buffers come from NewBuffer")
	}
}

// streamOf returns the stream of a worker, which it makes at first use.
func (b *Buffer) streamOf(worker int) *stream {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake("Buffer.Parallel")
	for len(b.streams) <= worker+1 {
		b.streams = append(b.streams, nil)
	}
	s := b.streams[worker+1]
	if s == nil {
		s = &stream{b: b, worker: worker + 1}
		b.streams[worker+1] = s
	}
	return s
}

// wake makes the buffer ready to record.
func (b *Buffer) wake(op string) {
	switch b.state.Load() {
	case recording:
	case played:
		b.clear()
		b.state.Store(recording)
	default:
		b.refuse(op)
	}
}

// refuse panics because the buffer's state does not allow op.
func (b *Buffer) refuse(op string) {
	is := "closed"
	switch b.state.Load() {
	case playing:
		is = "being played; record after it"
	case sealed:
		is = "sealed: " + b.why
	}
	panic("command: " + op + ": the buffer is " + is)
}

// Len returns the number of recorded commands that Play would apply. No goroutine may record during
// the call.
func (b *Buffer) Len() (n int) {
	b.checkMade("Buffer.Len")
	if s := b.state.Load(); s == played || s == sealed {
		return 0
	}
	for _, s := range b.streams {
		if s == nil {
			continue
		}
		for i := range s.segments {
			n += s.segments[i].n
		}
	}
	return n
}

// mostListed is the most commands that String lists.
const mostListed = 100

// String lists the first hundred commands in the order of playback. Each line has the key, flight,
// part and number under which the command was recorded, its bytes (without a Trace), and what it
// does. Traced source lines appear in failures only, so the list is the same in every build. No
// goroutine may record during the call.
func (b *Buffer) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d commands, %d B\n", b.Len(), b.Bytes())
	if b.Len() == 0 {
		return text.String()
	}
	text.WriteString("key flight  part   no.  bytes  command")
	listed := 0
	for _, g := range inOrder(nil, b.streams) {
		c := g.cursor()
		for i := range g.n {
			if listed++; listed > mostListed {
				return text.String() + "\nand others"
			}
			r := c.next()
			fmt.Fprintf(&text, "\n%3d %6d %5d %5d %6d  %s",
				g.key, g.flight, g.ordinal, g.first+i, r.bytes(), r.text(&g.stream.list[r.op]))
		}
	}
	return text.String()
}

// text describes a record whose op is o.
func (r *commandRecord) text(o *op) string {
	switch {
	case o.query != nil:
		return o.String() + " of " + o.query.String()
	case r.flags&listed != 0:
		return fmt.Sprintf("%v of %d entities", o, len(r.list()))
	case o.kind == instantiate:
		return fmt.Sprintf("%v %v as %v", o, r.source(), r.e)
	case o.kind == create:
		return fmt.Sprintf("%v as %v", o, r.e)
	}
	return fmt.Sprintf("%v of %v", o, r.e)
}

// Bytes returns the memory that the buffer holds for records, in bytes. When a new recording
// begins, the buffer keeps up to twice the peak of the last eight recordings. Trim and Close give
// it back.
func (b *Buffer) Bytes() int64 { return b.held.Load() }

// Reserve makes room for a number of commands, so that the buffer's own writer can record them
// without an error. Each command may be about one entity and have a value, with its elements, of at
// most the given bytes. The room lasts until Play or Clear. The error wraps ErrLimit, ErrSize, or
// an error of alloc.Universe.AllocExact; the buffer is as it was then. Reserve panics for negative
// numbers.
func (b *Buffer) Reserve(commands, bytes int) error {
	const op = "Buffer.Reserve"
	b.checkMade(op)
	b.wake(op)
	if commands < 0 || bytes < 0 {
		panic(fmt.Sprintf("command: %s: %d commands of %d B: a number is negative", op, commands, bytes))
	}
	size := recordSize + roundUp(min(bytes, mostBytes))
	if b.traces {
		size += 8
	}
	if size > mostBytes {
		return fmt.Errorf("command: %s: a command of %d B: %w: one has at most %d B", op, size, ErrSize, mostBytes)
	}
	return b.stream.reserve(commands, size)
}

// Made returns the entity that the last Play made for a placeholder. A later run of the same Play
// may have destroyed it. Made returns Null if no entity was made, for instance because the same run
// creates and destroys it. The answers last until the next command is recorded; for a buffer played
// by a command point of package system, until State.Commands hands it out again.
func (b *Buffer) Made(placeholder ecs.Entity) ecs.Entity {
	number, id := door.Number(placeholder)
	if made := b.player.work.made; placeholder.IsPlaceholder() && id == b.id && number < len(made) {
		return made[number]
	}
	return ecs.Null
}

// Clear drops all recorded commands and keeps the memory. Placeholders become void. Clear first
// completes all jobs, since their bodies may record.
func (b *Buffer) Clear() {
	b.checkMade("Buffer.Clear")
	door.EndBorrows(b.w, "Buffer.Clear")
	b.wake("Buffer.Clear")
	b.clear()
}

func (b *Buffer) clear() {
	for _, s := range b.streams {
		if s != nil {
			s.clear()
			s.next, s.end, s.newest = 0, 0, ecs.Null
		}
	}
	b.recordings.Forget(&b.recording)
	b.torn.Store(false)
	b.numbers.Store(0)
	b.player.work.made = b.player.work.made[:0]
	b.id = ids.Add(1) // earlier placeholders now belong to another buffer
}

// Trim gives back all memory that holds no commands, including memory on Go's heap. A peak of one
// frame is also given back without Trim, after eight frames that needed little. After Trim, Made
// returns Null for all placeholders.
func (b *Buffer) Trim() {
	const op = "Buffer.Trim"
	b.checkMade(op)
	door.EndBorrows(b.w, op) // jobs may record
	if b.state.Load() != closed {
		b.wake(op)
		for _, s := range b.streams {
			if s != nil {
				s.trim()
			}
		}
		b.player = player{}
	}
}

// Close gives the memory back. Call it before World.Close. It first completes all jobs, since their
// bodies may record. A second call does nothing. Close panics for the buffer of a Lender.
func (b *Buffer) Close() {
	const op = "Buffer.Close"
	b.checkMade(op)
	if b.lent {
		panic("command: " + op + ": the buffer is lent, and its lender closes it; Clear drops what was recorded")
	}
	b.close(op)
}

func (b *Buffer) close(op string) {
	door.EndBorrows(b.w, op)
	switch b.state.Load() {
	case playing:
		b.refuse(op)
	case closed:
		return
	}
	for _, s := range b.streams {
		if s != nil {
			s.close()
		}
	}
	b.recordings.Forget(&b.recording)
	b.stream.quick = 0
	b.state.Store(closed)
	b.player = player{}
}
