package command

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"quarry/ecs"
	"quarry/internal/debug"
	"quarry/internal/seam"
)

// The buffer.
//
// Commands are recorded in streams, one for the owner of the buffer and one for each worker of a
// job. Play puts the streams' segments in order, works out what the commands do to each entity
// without touching the world (check.go, program.go), and then does it, for all entities with the
// same commands at once (play.go, fill.go):
//
//	record      stream: Add(1v1, Hit{3})  Set(7v1, ..)  Add(2v1, Hit{5})  Remove(2v1, Slow) ...
//	check       subject of 1v1: [Body] +Hit           subject of 2v1: [Body Slow] +Hit -Slow ...
//	play        all subjects of [Body] +Hit: a group of one transaction, one copy of a column
//
// A subject is an entity in one run of commands: what they do to it. It ends at a node of a tree,
// whose edges are commands and whose roots are archetypes; so what a command means, whether it can
// apply and where it leads is worked out once for each edge, not for each entity.
//
// Entities that are created alike, one behind the other, are checked by a comparison of their
// records with those of the first, and have no links (pattern.go).
//
// Commands about what a query matches, and an Instantiate of an entity with commands before it,
// need a world in which the earlier commands are done: they end a run, and runs are played one
// after the other.
//
// Invariants:
//
//	C1 The order of playback is (key, flight, ordinal, sequence). None of them depends on
//	   which worker recorded a command, or when.
//	C2 Nothing of the world has changed when Play refuses a buffer.
//	C3 A command is applied or is among the failures, never in part; but where elements find no
//	   room, the entity that was to get the buffer has it, empty.
//	C4 An entity's commands have the effect that they have one by one, in order, and its row is
//	   moved once in a run.
//	C5 After Play, Clear and Close the world has no placeholder of the buffer.

// Buffer is a command buffer: it records changes of a world, to be made when Play is called.
// Recording, with the buffer or a Writer of it, needs no access to the world. Nothing that is
// recorded is seen before Play.
type Buffer struct {
	*Writer // the owner's
	w       *ecs.World
	id      uint32
	keep    bool
	traces  bool
	limit   int64        // bytes of pages; 0: none
	held    atomic.Int64 // bytes of pages
	numbers atomic.Int64 // placeholders given to streams, a block at a time
	state   atomic.Int32
	torn    atomic.Bool // two goroutines recorded by one writer at once, since clear
	why     string      // it is sealed
	mu      sync.Mutex  // held to find a worker's stream
	streams []*stream   // by worker + 1; the first is the owner's
	player  player
}

// What a buffer does.
const (
	recording = iota
	playing
	played // and not recorded to since
	sealed
	closed
)

// ids numbers the buffers of the process, for their placeholders.
var ids atomic.Uint32

// Option changes how NewBuffer works.
type Option func(*Buffer)

// Keep lets a buffer be played many times: it keeps its commands until Clear. Each time
// placeholders stand for new entities.
func Keep(b *Buffer) {
	if b == nil {
		panic("command: Keep: the buffer is nil; NewBuffer calls its options")
	}
	b.keep = true
}

// Trace notes with each command the line that recorded it, for failures. It costs some 200 ns a
// command; debug builds always do.
func Trace(b *Buffer) {
	if b == nil {
		panic("command: Trace: the buffer is nil; NewBuffer calls its options")
	}
	b.traces = true
}

// Limit bounds the memory of recordings, in bytes; it comes in chunks of 16 KiB. Beyond it
// recording panics with an error that wraps ErrLimit; see Buffer.Reserve. It panics when bytes is
// not positive.
func Limit(bytes int64) Option {
	if bytes <= 0 {
		panic(fmt.Sprintf("command: Limit: %d B: the limit must be positive", bytes))
	}
	return func(b *Buffer) { b.limit = bytes }
}

// NewBuffer makes a buffer for commands to w. It takes no memory until the first.
func NewBuffer(w *ecs.World, options ...Option) *Buffer {
	if w == nil {
		panic("command: NewBuffer: the world is nil")
	}
	if w.Closed() {
		panic("command: NewBuffer: the world is closed")
	}
	b := &Buffer{w: w, id: ids.Add(1), traces: debug.On}
	for _, o := range options {
		if o == nil {
			panic("command: NewBuffer: an option is nil")
		}
		o(b)
	}
	own := &stream{b: b}
	b.streams = []*stream{own}
	b.Writer = &Writer{stream: own}
	b.player.b = b
	return b
}

// Batch is what Parallel must know of the batch of rows that records: a *job.Ctx is one.
type Batch interface {
	Worker() int    // number of the worker, from 0: at any time one goroutine has it
	Flight() uint64 // number of the job's flight, from 1: later flights have higher ones
	Ordinal() int   // number of the batch in the flight, from 0, the same for any number of workers; another one, or -1, when it has ended
}

// Parallel returns a writer for one batch of a job. Any goroutine may call it; the writer is its
// own, until the worker takes the next one. Commands of batches are played in the order (key,
// flight, ordinal, sequence) behind those of the buffer's own writer with that key.
func (b *Buffer) Parallel(batch Batch) *Writer {
	const op = "Buffer.Parallel"
	b.checkMade(op)
	if batch == nil {
		panic("command: " + op + ": the batch is nil; bodies of jobs have one: cb.Parallel(c)")
	}
	worker := batch.Worker()
	if worker < 0 || batch.Flight() == 0 {
		panic(fmt.Sprintf("command: %s: worker %d, flight %d: workers are from 0, flights from 1", op, worker, batch.Flight()))
	}
	if batch.Ordinal() < 0 {
		panic("command: " + op + ": the batch has ended: what a body gets is good until it returns")
	}
	return b.streamOf(worker).writer(batch)
}

// checkMade panics for a buffer that nobody made.
func (b *Buffer) checkMade(op string) {
	if b == nil || b.w == nil {
		panic("command: " + op + ": the buffer is nil or the zero value; buffers come from NewBuffer")
	}
}

// streamOf returns the stream of a worker.
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

// refuse panics for a buffer that is in no state for op.
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

// Len returns the number of commands recorded that Play would make. Nobody may record meanwhile.
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

// Bytes returns the memory that recordings take, in bytes. What recent ones took is kept for the
// next: when one begins, up to twice the most of the last eight, until Trim or Close.
func (b *Buffer) Bytes() int64 { return b.held.Load() }

// Reserve makes sure that so many commands can be recorded by the buffer's own writer without an
// error, each about one entity with a value of so many bytes, its elements together. The error
// wraps ErrLimit or ErrSize, or is that of alloc.Universe.AllocExact. It holds until Play or Clear.
// It panics for negative numbers.
func (b *Buffer) Reserve(commands, bytes int) error {
	const op = "Buffer.Reserve"
	b.checkMade(op)
	b.wake(op)
	if commands < 0 || bytes < 0 {
		panic(fmt.Sprintf("command: %s: %d commands of %d B: a number is negative", op, commands, bytes))
	}
	size := recordSize + roundUp(bytes)
	if b.traces {
		size += 8
	}
	if size > mostBytes {
		return fmt.Errorf("command: %s: a command of %d B: %w: one has at most %d B", op, size, ErrSize, mostBytes)
	}
	return b.stream.reserve(commands, size)
}

// Made returns the entity that the last Play made for a placeholder, until something is recorded; a
// run of commands behind may have ended it. Of a buffer that a command point of package system has
// played Made answers until the system asks State.Commands of that point again. Null: none was
// made, as where the run that was to make it destroys it too.
func (b *Buffer) Made(placeholder ecs.Entity) ecs.Entity {
	number, id := seam.Number(placeholder)
	if made := b.player.work.made; placeholder.IsPlaceholder() && id == b.id && number < len(made) {
		return made[number]
	}
	return ecs.Null
}

// Clear forgets what is recorded. Placeholders are void. The memory is kept. It completes all jobs
// first, which may record.
func (b *Buffer) Clear() {
	b.checkMade("Buffer.Clear")
	seam.EndBorrows(b.w, "Buffer.Clear")
	b.wake("Buffer.Clear")
	b.clear()
}

// Seal closes the buffer to commands until Unseal: recording, by writers of batches too, Parallel,
// Reserve, Play, Clear and Trim panic and say why. Made still answers. What was recorded and not
// played is lost. It is for code that hands out a buffer and takes it back. It completes all jobs
// first, which may record; it panics for a buffer that is being played or closed. A second call
// changes why.
func (b *Buffer) Seal(why string) {
	const op = "Buffer.Seal"
	b.checkMade(op)
	seam.EndBorrows(b.w, op)
	if s := b.state.Load(); s == playing || s == closed {
		b.refuse(op)
	}
	b.why = why
	b.state.Store(sealed)
}

// Unseal opens a sealed buffer, empty and with key 0, as a new one is. Its memory is kept, and
// placeholders from before are void. It panics for a buffer that is not sealed.
func (b *Buffer) Unseal() {
	const op = "Buffer.Unseal"
	b.checkMade(op)
	if b.state.Load() != sealed {
		panic("command: " + op + ": the buffer is not sealed")
	}
	b.clear()
	b.key, b.within = 0, false
	b.state.Store(recording)
}

func (b *Buffer) clear() {
	for _, s := range b.streams {
		if s != nil {
			s.clear()
			s.next, s.end, s.newest = 0, 0, ecs.Null
		}
	}
	b.torn.Store(false)
	b.numbers.Store(0)
	b.player.work.made = b.player.work.made[:0]
	b.id = ids.Add(1) // placeholders from before are of another buffer
}

// Trim gives the memory back that holds no commands, on Go's heap too. After a frame with very many
// it is given back without Trim, when eight frames had few. Made knows nothing then.
func (b *Buffer) Trim() {
	const op = "Buffer.Trim"
	b.checkMade(op)
	seam.EndBorrows(b.w, op) // jobs may record
	if b.state.Load() != closed {
		b.wake(op)
		for _, s := range b.streams {
			if s != nil {
				s.trim()
			}
		}
		b.player = player{b: b}
	}
}

// Close gives the memory back. Call it before World.Close. It completes all jobs first, which may
// record. A second call does nothing.
func (b *Buffer) Close() {
	b.checkMade("Buffer.Close")
	seam.EndBorrows(b.w, "Buffer.Close")
	switch b.state.Load() {
	case playing:
		b.refuse("Buffer.Close")
	case closed:
		return
	}
	for _, s := range b.streams {
		if s != nil {
			s.close()
		}
	}
	b.state.Store(closed)
	b.player = player{b: b}
}

// ErrPlayed is what Play returns when nothing was recorded since the last call that played
// something. A frame that may record nothing asks Len first, or passes over the error by errors.Is.
var ErrPlayed = errors.New("command: Buffer.Play: the buffer was played already and nothing was recorded since; record again, or make it with Keep")
