package container

import (
	"fmt"
	"sync"
	"unsafe"

	"quarry/alloc"
)

// BufferPool hands out buffers and keeps the blocks of those that are given back. It differs from a
// sync.Pool: it knows how many buffers are out, and gives memory back. Any goroutine may use it; a
// buffer is its user's, one goroutine at a time.
//
// Get makes a Buffer, of some hundred bytes on the Go heap, for the block that it hands out: so a
// buffer that is used after Put panics, even when its block serves another one. There is no
// replacement of a sync.Pool of []byte: nothing would report a slice that is used after Put, and
// sync.Pool drops its values silently, so blocks off the heap would leak.
//
// Use NewBufferPool.
type BufferPool struct {
	lock   sync.Mutex
	made   source // copied for each buffer
	most   int    // bytes of blocks that it keeps
	kept   int    // bytes of blocks
	blocks [][]byte
	out    int // buffers
}

// NewBufferPool returns a pool that keeps blocks of at most the given number of bytes together; a
// block that would be more than that is freed when its buffer is given back. Any goroutine may call
// the allocator, so it cannot be a Local or an Arena: NewBufferPool panics then.
func NewBufferPool(from alloc.Allocator, bytes int) *BufferPool {
	made := newSource("NewBufferPool", from)
	if bytes < 0 {
		panic(fmt.Sprintf("container: NewBufferPool: bytes=%d is negative", bytes))
	}
	for a := from; a != nil; {
		switch v := a.(type) {
		case *alloc.Local, *alloc.Arena:
			panic(fmt.Sprintf("container: NewBufferPool: the allocator is for one goroutine at a time (%T)", a))
		case interface{ Unwrap() alloc.Allocator }:
			a = v.Unwrap()
		default:
			a = nil
		}
	}
	return &BufferPool{made: made, most: bytes}
}

// Get returns an empty buffer, with the block of the one that was given back last, or without one.
func (p *BufferPool) Get() *Buffer {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.made.check("BufferPool.Get")
	b := &Buffer{source: p.made, pool: p}
	if n := len(p.blocks); n > 0 {
		b.data = p.blocks[n-1]
		p.blocks[n-1] = nil
		p.blocks = p.blocks[:n-1]
		p.kept -= cap(b.data)
	}
	p.out++
	return b
}

// Put gives a buffer back; the buffer must not be used afterwards. After Close of the pool it frees
// the block. It panics when the buffer was given back before, or is not of this pool.
func (p *BufferPool) Put(b *Buffer) {
	if b == nil || b.pool != p {
		panic("container: BufferPool.Put: the buffer is not of this pool")
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	b.check("BufferPool.Put")
	p.out--
	if d := b.data; !p.made.closed && cap(d) > 0 && cap(d) <= p.most-p.kept {
		p.blocks = append(p.blocks, d[:0])
		p.kept += cap(d)
	} else {
		b.freeBlock()
	}
	b.closed, b.data, b.read = true, nil, 0
}

// leave counts a buffer that was closed.
func (p *BufferPool) leave() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.out--
}

// Trim frees the blocks that the pool keeps.
func (p *BufferPool) Trim() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.made.check("BufferPool.Trim")
	p.drop()
}

// drop frees the blocks that the pool keeps.
func (p *BufferPool) drop() {
	for n := len(p.blocks); n > 0; n-- { // each by itself: a free may panic
		d := p.blocks[n-1]
		p.blocks[n-1] = nil
		p.blocks = p.blocks[:n-1]
		p.kept -= cap(d)
		// Safe because it is the address of a block that no buffer has.
		p.made.free(unsafe.Pointer(unsafe.SliceData(d)), cap(d), 1)
	}
	p.blocks = nil
}

// Len returns the number of buffers that are out, and the bytes of the blocks that the pool keeps.
func (p *BufferPool) Len() (out, kept int) {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.out, p.kept
}

// Close frees the blocks that the pool keeps. If buffers are out, the error wraps alloc.ErrLeak and
// counts them; they stay usable, and Put frees them. A second Close does nothing.
func (p *BufferPool) Close() error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.made.from == nil || p.made.closed {
		return nil
	}
	if !p.made.hold.Lost() {
		p.drop()
	}
	p.made.closed, p.blocks, p.kept = true, nil, 0
	if p.out > 0 {
		return fmt.Errorf("container: BufferPool.Close: %d buffers were not given back: %w", p.out, alloc.ErrLeak)
	}
	return nil
}

// Verify checks that the pool keeps as many bytes as it counts, and no more than it may.
func (p *BufferPool) Verify() error {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.made.check("BufferPool.Verify")
	sum := 0
	for _, d := range p.blocks {
		sum += cap(d)
	}
	if sum != p.kept || sum > p.most || p.out < 0 {
		return fmt.Errorf("container: F2: the pool keeps %d bytes, counts %d, may keep %d; %d buffers are out",
			sum, p.kept, p.most, p.out)
	}
	return nil
}
