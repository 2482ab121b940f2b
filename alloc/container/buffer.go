package container

import (
	"fmt"
	"io"
	"math"
	"unsafe"

	"quarry/alloc"
)

// The buffer.
//
// One block, of which the bytes from read to the end of data are unread:
//
//	block   | read already | unread          | room |
//	        0            read        len(data)      cap(data)
//
// A write that finds no room moves the unread bytes to the front, if that makes room and they are
// at most half of the block; otherwise the block doubles, in place where the allocator can.
//
// Invariants:
//
//	F1 0 <= read <= len(data) <= cap(data), and there is a block unless cap(data) is 0.
//	F2 A pool keeps as many bytes as it counts, and no more than it may.

const firstBufferBytes = 64

// Buffer is a bytes.Buffer off the heap: an io.Writer, Reader, ByteWriter, ByteReader,
// StringWriter, ReaderFrom and WriterTo, so it serves fmt.Fprintf, json.NewEncoder and
// binary.Write. Where bytes.Buffer panics when it has no memory, a write returns the allocator's
// error and has written nothing; what was there stays. Use NewBuffer, or a BufferPool.
type Buffer struct {
	source
	data []byte
	read int
	busy bool        // within the Read or Write of ReadFrom or WriteTo
	pool *BufferPool // to which Put gives it; nil: none
}

// NewBuffer returns an empty buffer, which has no block yet.
func NewBuffer(from alloc.Allocator) *Buffer {
	return &Buffer{source: newSource("NewBuffer", from)}
}

// check panics if the buffer cannot be used, or is being used.
func (b *Buffer) check(name string) {
	if b.from == nil || b.closed || b.busy || b.hold.Lost() {
		b.refuse(name)
	}
}

//go:noinline
func (b *Buffer) refuse(name string) {
	if b.closed && b.pool != nil {
		panic("container: " + name + ": the buffer was given back")
	}
	if b.busy {
		panic("container: " + name + ": called by the reader or writer of ReadFrom or WriteTo")
	}
	b.source.refuse(name)
}

// Write appends p, which may be part of the buffer itself. On an error, which is the allocator's, n
// is 0 and the buffer is unchanged.
func (b *Buffer) Write(p []byte) (n int, err error) {
	b.check("Buffer.Write")
	// Safe because nobody changes p during the call, and the string is not kept.
	return b.write("Buffer.Write", unsafe.String(unsafe.SliceData(p), len(p)))
}

// WriteString is Write of a string.
func (b *Buffer) WriteString(s string) (n int, err error) {
	b.check("Buffer.WriteString")
	return b.write("Buffer.WriteString", s)
}

func (b *Buffer) write(name, s string) (int, error) {
	if len(s) > cap(b.data)-len(b.data) {
		// Safe because only addresses are compared.
		at := uintptr(unsafe.Pointer(unsafe.StringData(s))) - uintptr(unsafe.Pointer(unsafe.SliceData(b.data)))
		own := at < uintptr(cap(b.data))
		if err := b.grow(len(s), !own); err != nil {
			return 0, fmt.Errorf("container: %s: %d bytes: %w", name, len(s), err)
		}
		if own {
			// Safe because the block has these bytes at the same offset, wherever it is now.
			s = unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.data)), at)), len(s))
		}
	}
	b.data = append(b.data, s...)
	return len(s), nil
}

// WriteByte appends a byte. An error is the allocator's.
func (b *Buffer) WriteByte(c byte) error {
	b.check("Buffer.WriteByte")
	if len(b.data) == cap(b.data) {
		if err := b.grow(1, true); err != nil {
			return fmt.Errorf("container: Buffer.WriteByte: %w", err)
		}
	}
	b.data = append(b.data, c)
	return nil
}

// grow makes room for n more bytes; it moves the unread ones to the front only if it may.
func (b *Buffer) grow(n int, slide bool) error {
	if n <= cap(b.data)-len(b.data) {
		return nil
	}
	unread := len(b.data) - b.read
	if n > math.MaxInt-len(b.data) {
		return alloc.ErrTooBig
	}
	if slide && unread <= cap(b.data)/2 && n <= cap(b.data)-unread {
		b.slide()
		return nil
	}
	need := len(b.data) + n
	room := alloc.Doubling().Next(cap(b.data), max(need, firstBufferBytes))
	err := b.setRoom(room)
	if err != nil && room > need {
		err = b.setRoom(need)
	}
	if err != nil && slide && n <= cap(b.data)-unread {
		b.slide()
		return nil
	}
	return err
}

// slide moves the unread bytes to the front.
func (b *Buffer) slide() {
	b.data = b.data[:copy(b.data, b.data[b.read:])]
	b.read = 0
}

// setRoom gives the block another size, at least that of data.
func (b *Buffer) setRoom(room int) error {
	// Safe because it is the address of the block, or nil.
	p, err := b.realloc(unsafe.Pointer(unsafe.SliceData(b.data)), cap(b.data), 1, room)
	if err != nil {
		return err
	}
	// Safe because the block has room bytes, of which the first were data's.
	b.data = unsafe.Slice((*byte)(p), room)[:len(b.data)]
	return nil
}

// Grow makes room for n more bytes. An error is the allocator's; the buffer's bytes are unchanged
// then. It panics when n is negative.
func (b *Buffer) Grow(n int) error {
	b.check("Buffer.Grow")
	if n < 0 {
		panic(fmt.Sprintf("container: Buffer.Grow: n=%d is negative", n))
	}
	if err := b.grow(n, true); err != nil {
		return fmt.Errorf("container: Buffer.Grow: %d bytes: %w", n, err)
	}
	return nil
}

// Bytes returns the unread bytes, valid until the next call that writes, resets or closes: they are
// not on the Go heap, and must not be kept.
func (b *Buffer) Bytes() []byte {
	b.check("Buffer.Bytes")
	return b.data[b.read:len(b.data):len(b.data)]
}

// String returns the unread bytes as a string of Go, a copy on the Go heap.
func (b *Buffer) String() string {
	b.check("Buffer.String")
	return string(b.data[b.read:])
}

// Len returns the number of unread bytes.
func (b *Buffer) Len() int {
	b.check("Buffer.Len")
	return len(b.data) - b.read
}

// Cap returns the size of the block.
func (b *Buffer) Cap() int {
	b.check("Buffer.Cap")
	return cap(b.data)
}

// Reset removes all bytes and keeps the block.
func (b *Buffer) Reset() {
	b.check("Buffer.Reset")
	b.data, b.read = b.data[:0], 0
}

// Truncate keeps the first n unread bytes. It panics unless n is in 0..Len.
func (b *Buffer) Truncate(n int) {
	b.check("Buffer.Truncate")
	if n < 0 || n > len(b.data)-b.read {
		panic(fmt.Sprintf("container: Buffer.Truncate: n=%d of %d unread bytes", n, len(b.data)-b.read))
	}
	b.data = b.data[:b.read+n]
}

// Trim gives back the room behind the bytes; without unread bytes, the block. A block that cannot
// be replaced by a smaller one stays.
func (b *Buffer) Trim() {
	b.check("Buffer.Trim")
	b.slide()
	if len(b.data) == 0 {
		b.freeBlock()
	} else if len(b.data) < cap(b.data) {
		_ = b.setRoom(len(b.data)) // a refusal leaves the block as it is
	}
}

// Read moves up to len(p) unread bytes to p. Without any it returns io.EOF, unless p is empty.
func (b *Buffer) Read(p []byte) (n int, err error) {
	b.check("Buffer.Read")
	if b.read == len(b.data) {
		b.data, b.read = b.data[:0], 0
		if len(p) > 0 {
			return 0, io.EOF
		}
		return 0, nil
	}
	n = copy(p, b.data[b.read:])
	b.read += n
	return n, nil
}

// ReadByte returns the next unread byte, or io.EOF.
func (b *Buffer) ReadByte() (byte, error) {
	b.check("Buffer.ReadByte")
	if b.read == len(b.data) {
		b.data, b.read = b.data[:0], 0
		return 0, io.EOF
	}
	b.read++
	return b.data[b.read-1], nil
}

const (
	leastRead  = 512 // bytes of room for a Read
	emptyReads = 100 // in a row, then io.ErrNoProgress
)

// ReadFrom appends what r has until it returns io.EOF. An error is r's or the allocator's; the n
// bytes read until then are in the buffer. r must not use the buffer, nor keep the bytes.
func (b *Buffer) ReadFrom(r io.Reader) (n int64, err error) {
	b.check("Buffer.ReadFrom")
	if r == nil {
		panic("container: Buffer.ReadFrom: the reader is nil")
	}
	for empty := 0; empty < emptyReads; empty++ {
		b.check("Buffer.ReadFrom") // r may have taken the block away, by way of the allocator
		if err := b.grow(leastRead, true); err != nil {
			return n, fmt.Errorf("container: Buffer.ReadFrom: after %d bytes: %w", n, err)
		}
		m, err := b.readOnce(r)
		n += int64(m)
		if err == io.EOF { // an error that wraps io.EOF means that the bytes end too early
			return n, nil
		} else if err != nil {
			return n, err
		}
		if m > 0 {
			empty = -1
		}
	}
	return n, io.ErrNoProgress
}

// readOnce lets r read into the room.
func (b *Buffer) readOnce(r io.Reader) (int, error) {
	b.busy = true
	defer func() { b.busy = false }()
	room := b.data[len(b.data):cap(b.data)]
	m, err := r.Read(room)
	if m < 0 || m > len(room) {
		panic(fmt.Sprintf("container: Buffer.ReadFrom: the reader returned n=%d of %d bytes", m, len(room)))
	}
	b.data = b.data[:len(b.data)+m]
	return m, err
}

// WriteTo writes the unread bytes to w. An error is w's, or io.ErrShortWrite; what was not written
// stays unread. w must not use the buffer, nor keep the bytes.
func (b *Buffer) WriteTo(w io.Writer) (n int64, err error) {
	b.check("Buffer.WriteTo")
	if w == nil {
		panic("container: Buffer.WriteTo: the writer is nil")
	}
	if b.read < len(b.data) {
		m, err := b.writeOnce(w)
		if err != nil {
			return int64(m), err
		}
		if b.read < len(b.data) {
			return int64(m), io.ErrShortWrite
		}
		n = int64(m)
	}
	b.data, b.read = b.data[:0], 0
	return n, nil
}

// writeOnce lets w write the unread bytes.
func (b *Buffer) writeOnce(w io.Writer) (int, error) {
	b.busy = true
	defer func() { b.busy = false }()
	unread := b.data[b.read:len(b.data):len(b.data)]
	m, err := w.Write(unread)
	if m < 0 || m > len(unread) {
		panic(fmt.Sprintf("container: Buffer.WriteTo: the writer returned n=%d of %d bytes", m, len(unread)))
	}
	b.read += m
	return m, err
}

func (b *Buffer) freeBlock() {
	if d := b.data; cap(d) > 0 {
		b.data, b.read = nil, 0
		// Safe because it is the address of the block.
		b.free(unsafe.Pointer(unsafe.SliceData(d)), cap(d), 1)
	}
}

// Close frees the block; a buffer of a BufferPool counts as given back. The buffer must not be used
// afterwards; a second Close does nothing, and so does the Close of a buffer whose allocator has
// given up the block.
func (b *Buffer) Close() {
	if b.from == nil || b.closed {
		return
	}
	lost := b.hold.Lost()
	if !lost {
		b.check("Buffer.Close") // for a reader or writer that closes it
	}
	if b.pool != nil {
		b.pool.leave()
	}
	if !lost {
		b.freeBlock()
	}
	b.closed, b.data, b.read = true, nil, 0
}

// Verify checks F1 and returns an error that names a violation.
func (b *Buffer) Verify() error {
	b.check("Buffer.Verify")
	if b.read < 0 || b.read > len(b.data) || (b.data != nil) != (cap(b.data) > 0) {
		return fmt.Errorf("container: F1: %d bytes are read, of %d, in a block of %d", b.read, len(b.data), cap(b.data))
	}
	return nil
}
