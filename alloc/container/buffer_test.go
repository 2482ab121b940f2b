package container

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// bufferStream runs operations on a buffer beside a bytes.Buffer.
func bufferStream(t testing.TB, a alloc.Allocator, p *tape) {
	r := &refuser{Allocator: a}
	b := NewBuffer(r)
	defer b.Close()
	var model bytes.Buffer
	next := byte(0)
	fresh := func(n int) []byte {
		s := make([]byte, n)
		for i := range s {
			next++
			s[i] = next
		}
		return s
	}
	wrote := func(s []byte, n int, err error) {
		if err != nil {
			require.True(t, r.refuse)
			require.ErrorIs(t, err, errRefused)
			require.Zero(t, n)
			return
		}
		require.Equal(t, len(s), n)
		model.Write(s)
	}
	for !p.ended() {
		op := p.next(14)
		s := fresh(p.next(16) * p.next(20))
		switch op {
		case 0, 1:
			n, err := b.Write(s)
			wrote(s, n, err)
		case 2:
			n, err := b.WriteString(string(s))
			wrote(s, n, err)
		case 3:
			if err := b.WriteByte(7); err == nil {
				model.WriteByte(7)
			} else {
				require.ErrorIs(t, err, errRefused)
			}
		case 4: // its own bytes
			own := b.Bytes()
			was := bytes.Clone(own)
			n, err := b.Write(own)
			wrote(was, n, err)
		case 5:
			n, err := b.ReadFrom(iotest.OneByteReader(bytes.NewReader(s)))
			require.True(t, err == nil && int(n) == len(s) || r.refuse && errors.Is(err, errRefused))
			model.Write(s[:n])
		case 6, 7, 8, 9:
			readBoth(t, op, b, &model, len(s))
		case 10:
			n := p.next(256) * b.Len() / 256
			b.Truncate(n)
			model.Truncate(n)
		case 11:
			b.Trim()
		case 12:
			r.refuse = p.next(3) == 0
		case 13:
			if p.next(6) == 0 {
				b.Reset()
				model.Reset()
			}
			if n := len(s); b.Grow(n) == nil {
				require.GreaterOrEqual(t, b.Cap(), b.Len()+n)
			}
		}
		require.NoError(t, b.Verify())
		require.Equal(t, model.Len(), b.Len())
		require.True(t, bytes.Equal(model.Bytes(), b.Bytes()), "op %d", op)
	}
	require.Equal(t, model.String(), b.String())
}

// readBoth reads from a buffer and from its model in one of three ways.
func readBoth(t testing.TB, op int, b *Buffer, model *bytes.Buffer, size int) {
	switch op {
	case 6, 7:
		to, want := make([]byte, size), make([]byte, size)
		n, err := b.Read(to)
		wantN, wantErr := model.Read(want)
		require.True(t, n == wantN && err == wantErr && bytes.Equal(to, want))
	case 8:
		c, err := b.ReadByte()
		want, wantErr := model.ReadByte()
		require.True(t, c == want && err == wantErr)
	case 9:
		var to, want bytes.Buffer
		n, err := b.WriteTo(&to)
		wantN, _ := model.WriteTo(&want)
		require.NoError(t, err)
		require.True(t, n == wantN && bytes.Equal(to.Bytes(), want.Bytes()))
	}
}

func TestBufferModel(t *testing.T) { withTapes(t, 20, 400, bufferStream) }

func FuzzBuffer(f *testing.F) {
	f.Add([]byte("a buffer of bytes"))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if len(bytes) <= 1000 {
			runTape(t, bytes, bufferStream)
		}
	})
}

// funcIO is a reader and a writer.
type funcIO func(p []byte) (int, error)

func (f funcIO) Read(p []byte) (int, error)  { return f(p) }
func (f funcIO) Write(p []byte) (int, error) { return f(p) }

func TestBufferBadInput(t *testing.T) {
	b := NewBuffer(openHeap(t))
	defer b.Close()
	_, err := b.WriteString("abc")
	require.NoError(t, err)
	says := func(want string, f func()) {
		t.Helper()
		require.PanicsWithValue(t, "container: Buffer."+want, f)
		require.Equal(t, "abc", b.String())
		require.NoError(t, b.Verify())
	}
	says("Truncate: n=4 of 3 unread bytes", func() { b.Truncate(4) })
	says("Truncate: n=-1 of 3 unread bytes", func() { b.Truncate(-1) })
	says("Grow: n=-1 is negative", func() { b.Grow(-1) })
	says("ReadFrom: the reader returned n=-1 of 512 bytes",
		func() { b.ReadFrom(funcIO(func(p []byte) (int, error) { return -1, nil })) })
	says("WriteTo: the writer returned n=4 of 3 bytes",
		func() { b.WriteTo(funcIO(func(p []byte) (int, error) { return 4, nil })) })
	again := ": called by the reader or writer of ReadFrom or WriteTo"
	says("Write"+again, func() { b.ReadFrom(funcIO(func(p []byte) (int, error) { return b.Write(p) })) })
	says("Close"+again, func() { b.WriteTo(funcIO(func(p []byte) (int, error) { b.Close(); return len(p), nil })) })
	require.ErrorIs(t, b.Grow(math.MaxInt), alloc.ErrTooBig)
	require.ErrorIs(t, b.Grow(math.MaxInt-3), alloc.ErrTooBig)
	n, err := b.ReadFrom(funcIO(func(p []byte) (int, error) { return 0, nil }))
	require.ErrorIs(t, err, io.ErrNoProgress)
	require.Zero(t, n)
	broken := errors.New("broken")
	n, err = b.ReadFrom(funcIO(func(p []byte) (int, error) { return copy(p, "de"), broken }))
	require.True(t, n == 2 && err == broken)
	n, err = b.WriteTo(funcIO(func(p []byte) (int, error) { return 1, broken }))
	require.True(t, n == 1 && err == broken)
	n, err = b.WriteTo(funcIO(func(p []byte) (int, error) { return 2, nil }))
	require.True(t, n == 2 && err == io.ErrShortWrite)
	require.Equal(t, "de", b.String())
	b.read = 9
	require.ErrorContains(t, b.Verify(), "F1: 9 bytes are read, of 5")
	b.read = 0
	require.PanicsWithValue(t, "container: Buffer.Len: the container was not made by its New function",
		func() { new(Buffer).Len() })
}

// TestBufferReadFromEnds: only io.EOF itself ends a reader, as for package io; an error that wraps
// it means that bytes are missing.
func TestBufferReadFromEnds(t *testing.T) {
	b := NewBuffer(openHeap(t))
	defer b.Close()
	cut := fmt.Errorf("the stream was cut: %w", io.EOF)
	n, err := b.ReadFrom(funcIO(func(p []byte) (int, error) { return copy(p, "ab"), cut }))
	require.True(t, n == 2 && err == cut)
	n, err = b.ReadFrom(funcIO(func(p []byte) (int, error) { return copy(p, "cd"), io.EOF }))
	require.True(t, n == 2 && err == nil)
	require.Equal(t, "abcd", b.String())
}

// TestBufferReadFromTakesTheArenaBack: after a reader has given up the buffer's block, the buffer
// does not take that of another for its own.
func TestBufferReadFromTakesTheArenaBack(t *testing.T) {
	a := alloc.NewArena(openHeap(t))
	defer a.Close()
	b := NewBuffer(a)
	gone := "container: Buffer.ReadFrom: the allocator was closed, or gave up the blocks (Arena.Reset, Arena.Rewind)"
	require.PanicsWithValue(t, gone, func() {
		_, _ = b.ReadFrom(funcIO(func(p []byte) (int, error) {
			a.Reset(alloc.KeepAll)
			_, err := a.Alloc(4096, 8) // another's
			return len(p), err
		}))
	})
	b.Close()
}

func TestBufferServesJSON(t *testing.T) {
	b := NewBuffer(openHeap(t))
	defer b.Close()
	want := map[string]int{}
	for i := range 2000 {
		want[fmt.Sprint(i)] = i
	}
	require.NoError(t, json.NewEncoder(b).Encode(want))
	var got map[string]int
	require.NoError(t, json.NewDecoder(b).Decode(&got))
	require.Equal(t, want, got)
}

func TestBufferGone(t *testing.T) {
	gone(t, func(a alloc.Allocator) (func(), string, func()) {
		b := NewBuffer(a)
		return func() { require.NoError(t, b.WriteByte(1)) }, "container: Buffer.WriteByte", b.Close
	})
}

func TestBufferFailures(t *testing.T) {
	everyFailure(t, func(a alloc.Allocator) (err error) {
		b := NewBuffer(a)
		defer b.Close()
		n := 0
		for range 100 {
			m, e := b.WriteString(strings.Repeat("x", 99))
			n += m
			if err = e; err != nil {
				break
			}
		}
		if err == nil {
			var m int64
			m, err = b.ReadFrom(strings.NewReader(strings.Repeat("x", 100_000)))
			n += int(m)
		}
		if b.String() != strings.Repeat("x", n) {
			return fmt.Errorf("%d bytes, %d were written", b.Len(), n)
		}
		return err
	})
}

func TestBufferPool(t *testing.T) {
	h := openHeap(t)
	p := NewBufferPool(h, 1000)
	b := p.Get()
	_, err := b.WriteString(strings.Repeat("x", 600))
	require.NoError(t, err)
	block := &b.Bytes()[0]
	c := p.Get()
	_, err = c.WriteString(strings.Repeat("y", 500))
	require.NoError(t, err)
	p.Put(b)
	p.Put(c) // its block is too much
	require.NoError(t, p.Verify())
	out, kept := p.Len()
	require.Equal(t, []int{0, 600}, []int{out, kept})
	d := p.Get()
	require.Zero(t, d.Len())
	require.NoError(t, d.WriteByte(1))
	require.Same(t, block, &d.Bytes()[0])
	require.PanicsWithValue(t, "container: Buffer.Write: the buffer was given back", func() { b.Write([]byte("x")) })
	require.PanicsWithValue(t, "container: BufferPool.Put: the buffer was given back", func() { p.Put(b) })
	b.Close()
	other := NewBuffer(h)
	require.PanicsWithValue(t, "container: BufferPool.Put: the buffer is not of this pool", func() { p.Put(other) })
	other.Close()
	e := p.Get()
	require.NoError(t, e.WriteByte(1))
	e.Close()
	out, kept = p.Len()
	require.Equal(t, []int{1, 0}, []int{out, kept})
	err = p.Close()
	require.ErrorIs(t, err, alloc.ErrLeak)
	require.ErrorContains(t, err, "container: BufferPool.Close: 1 buffers were not given back")
	require.NoError(t, d.WriteByte(2))
	p.Put(d)
	require.NoError(t, p.Close())
	require.PanicsWithValue(t, "container: BufferPool.Get: the container is closed", func() { p.Get() })
	require.Zero(t, h.Stats().LiveBlocks)

	l, a := h.NewLocal(), alloc.NewArena(h)
	defer l.Close()
	defer a.Close()
	require.PanicsWithValue(t, "container: NewBufferPool: the allocator is for one goroutine at a time (*alloc.Local)",
		func() { NewBufferPool(l, 0) })
	require.PanicsWithValue(t, "container: NewBufferPool: the allocator is for one goroutine at a time (*alloc.Arena)",
		func() { NewBufferPool(wrap.NewStats(a), 0) })
	require.PanicsWithValue(t, "container: NewBufferPool: bytes=-1 is negative", func() { NewBufferPool(h, -1) })
	q := NewBufferPool(h, 100)
	q.kept = 1
	require.ErrorContains(t, q.Verify(), "F2")
	q.kept = 0
	q.Trim()
	require.NoError(t, q.Close())
}

func TestBufferPoolGoroutines(t *testing.T) {
	p := NewBufferPool(openHeap(t), 10_000)
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			want := strings.Repeat(string(rune('a'+g)), 300+100*g)
			for range 500 {
				b := p.Get()
				if _, err := b.WriteString(want); err != nil || b.String() != want {
					panic("another's bytes")
				}
				p.Put(b)
			}
		})
	}
	wait.Wait()
	require.NoError(t, p.Verify())
	require.NoError(t, p.Close())
}

func BenchmarkBuffer(b *testing.B) {
	h := openHeap(b)
	line := []byte("a line of some forty bytes, as in a log\n")
	b.Run("Write of 40 B, Reset at 64 KiB", func(b *testing.B) {
		x := NewBuffer(h)
		defer x.Close()
		for range b.N {
			if x.Len() > 64<<10 {
				x.Reset()
			}
			_, _ = x.Write(line)
		}
	})
	b.Run("bytes.Buffer", func(b *testing.B) {
		var x bytes.Buffer
		for range b.N {
			if x.Len() > 64<<10 {
				x.Reset()
			}
			x.Write(line)
		}
	})
	b.Run("BufferPool, Get Write Put", func(b *testing.B) {
		p := NewBufferPool(h, 1<<20)
		for range b.N {
			x := p.Get()
			_, _ = x.Write(line)
			p.Put(x)
		}
		_ = p.Close()
	})
	b.Run("sync.Pool of bytes.Buffer", func(b *testing.B) {
		p := sync.Pool{New: func() any { return new(bytes.Buffer) }}
		for range b.N {
			x := p.Get().(*bytes.Buffer)
			x.Reset()
			x.Write(line)
			p.Put(x)
		}
	})
}
