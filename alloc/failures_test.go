package alloc_test

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// withHeap runs f with a heap on a universe that refuses by s, and checks that all memory is given
// back.
func withHeap(s *alloc.Failures, f func(h *alloc.Heap) error) error {
	u, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(s))
	if err != nil {
		return err
	}
	h, err := alloc.NewHeap(u)
	if err != nil {
		return err
	}
	err = f(h)
	return errors.Join(err, h.Verify(), h.Close(), u.Verify(), u.Close())
}

// blocks allocates blocks of many sizes, resizes some, and frees all that it got.
func blocks(a alloc.Allocator, sizes ...int) (err error) {
	type block struct {
		p    unsafe.Pointer
		size int
	}
	var live []block
	for i, size := range sizes {
		p, err2 := a.Alloc(size, 0)
		if err2 != nil {
			err = err2
			break
		}
		live = append(live, block{p, size})
		if b := &live[i]; a.ResizeSized(b.p, b.size, 0, b.size+b.size/8) {
			b.size += b.size / 8
		}
		setAll(bytesOf(live[i].p, live[i].size), 7)
	}
	for i := len(live) - 1; i >= 0; i-- {
		a.FreeSized(live[i].p, live[i].size, 0)
	}
	return err
}

// programs allocate in each way that there is, and give all back.
var programs = map[string]func(*alloc.Failures) error{
	"heap": func(s *alloc.Failures) error {
		return withHeap(s, func(h *alloc.Heap) error { return blocks(h, programSizes...) })
	},
	"local": func(s *alloc.Failures) error {
		return withHeap(s, func(h *alloc.Heap) error {
			l := h.NewLocal()
			defer l.Close()
			return blocks(l, programSizes...)
		})
	},
	"universe": func(s *alloc.Failures) error {
		return withHeap(s, func(h *alloc.Heap) error {
			return blocks(h.Universe().Allocator(), 10, 20_000, 200_000, 1<<20)
		})
	},
	"pages": func(s *alloc.Failures) error {
		p := alloc.NewPages(alloc.InjectFailures(s))
		return errors.Join(blocks(p, programSizes...), p.Verify(), p.Close())
	},
	"arena": func(s *alloc.Failures) error {
		return withHeap(s, func(h *alloc.Heap) error {
			a := alloc.NewArena(h)
			defer a.Close()
			m := a.Mark()
			err := blocks(a, programSizes...)
			a.Rewind(m)
			return errors.Join(err, a.Verify(), blocks(a, programSizes...), a.Verify())
		})
	},
	"stack": func(s *alloc.Failures) error {
		return withHeap(s, func(h *alloc.Heap) error {
			stack, err := alloc.NewStack(h, 8<<20)
			if err != nil {
				return err
			}
			return errors.Join(blocks(stack, programSizes...), stack.Close())
		})
	},
	"pool": func(s *alloc.Failures) error {
		return withHeap(s, func(h *alloc.Heap) error {
			p, err := alloc.NewPool[[1000]byte](h)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Verify(), p.Close()) }()
			var live []*[1000]byte
			for range 60 {
				v, err2 := p.New()
				if err2 != nil {
					err = err2
					break
				}
				live = append(live, v)
			}
			for _, v := range live {
				p.Free(v)
			}
			return err
		})
	},
	"slice": func(s *alloc.Failures) error {
		return withHeap(s, func(h *alloc.Heap) (err error) {
			var v []int
			for i := range 100_000 {
				if v, err = alloc.Append(h, v, i); err != nil {
					break
				}
			}
			for i := range v {
				if v[i] != i {
					return fmt.Errorf("value %d is %d", i, v[i])
				}
			}
			alloc.FreeSlice(h, v)
			return err
		})
	},
}

var programSizes = []int{10, 200, 5000, 9000, 100_000, 1 << 20, 3 << 20, 8000, 20}

func TestCheckEveryFailure(t *testing.T) {
	for name, f := range programs {
		t.Run(name, func(t *testing.T) {
			runs := 0
			require.NoError(t, alloc.CheckEveryFailure(func(s *alloc.Failures) error {
				runs++
				return f(s)
			}))
			require.Greater(t, runs, 3)
		})
	}
}

// TestCheckEveryFailureCatches: each mistake is reported.
func TestCheckEveryFailureCatches(t *testing.T) {
	for text, f := range map[string]func(*alloc.Failures) error{
		"nothing refused: memory was lost: ": func(s *alloc.Failures) error {
			return withHeap(s, func(h *alloc.Heap) error { _, err := h.Alloc(10, 0); return err })
		},
		"request 2 of 2, alone, refused: memory was lost: ": func(s *alloc.Failures) error {
			return withHeap(s, func(h *alloc.Heap) error {
				p, err := h.Alloc(10, 0)
				if err != nil {
					return err
				}
				q, err := h.Alloc(100_000, 0)
				if err != nil {
					return err // p is lost
				}
				h.Free(p)
				h.Free(q)
				return nil
			})
		},
		"request 1 of 1, alone, refused: panic: ": func(s *alloc.Failures) error {
			return withHeap(s, func(h *alloc.Heap) error {
				p, _ := h.Alloc(10, 0)
				*(*byte)(p) = 1 // of nil
				h.Free(p)
				return nil
			})
		},
		"request 1 of 1, alone, refused: the error does not wrap alloc.ErrInjected: no luck": func(s *alloc.Failures) error {
			if s.Next() != nil {
				return errors.New("no luck")
			}
			return nil
		},
		"no memory was asked for":       func(*alloc.Failures) error { return nil },
		"nothing refused: never worked": func(s *alloc.Failures) error { _ = s.Next(); return errors.New("never worked") },
	} {
		err := alloc.CheckEveryFailure(f)
		require.ErrorContains(t, err, text)
	}
	require.Contains(t, panicText(func() { alloc.FailAt(0) }), "alloc: FailAt: n=0 is less than 1")
	require.Contains(t, panicText(func() { alloc.FailFrom(0) }), "alloc: FailFrom: n=0 is less than 1")
}

func TestFailuresCount(t *testing.T) {
	one, rest := alloc.FailAt(2), alloc.FailFrom(2)
	for n := 1; n <= 4; n++ {
		require.Equal(t, n == 2, one.Next() != nil)
		require.Equal(t, n >= 2, rest.Next() != nil)
	}
	require.Equal(t, []int{4, 1, 4, 3}, []int{one.Asked(), one.Refused(), rest.Asked(), rest.Refused()})
}

// TestFailuresInAUniverse: every kind of request counts, and what is refused changes
// nothing.
func TestFailuresInAUniverse(t *testing.T) {
	s := alloc.FailFrom(5)
	u := newUniverse(t, alloc.Size(4<<20), alloc.InjectFailures(s))
	c, _, err := u.Alloc(1)
	require.NoError(t, err)
	first, err := u.AllocExact(3)
	require.NoError(t, err)
	require.True(t, u.Extend(first, 3, 1))
	d, _, err := u.AllocZeroed(1)
	require.NoError(t, err)
	live := u.Stats().LiveChunks
	for _, f := range []func() error{
		func() error { _, _, err := u.Alloc(1); return err },
		func() error { _, _, err := u.Alloc(8); return err },
		func() error { _, _, err := u.AllocZeroed(2); return err },
		func() error { _, err := u.AllocExact(1); return err },
		func() error { _, err := u.AllocAligned(4); return err },
	} {
		err := f()
		require.ErrorIs(t, err, alloc.ErrInjected)
		require.ErrorIs(t, err, alloc.ErrCommit)
		require.ErrorContains(t, err, "alloc: Universe.Alloc")
	}
	require.False(t, u.Extend(first, 4, 1))
	require.Equal(t, 10, s.Asked())
	require.Equal(t, 6, s.Refused())
	require.Equal(t, live, u.Stats().LiveChunks)
	u.Free(c, 1)
	u.Free(d, 1)
	u.Free(first, 4)
}

// TestUniverseAllocator: runs as blocks.
func TestUniverseAllocator(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20))
	a := u.Allocator()
	for _, size := range []int{0, 1, 16 << 10, 16<<10 + 1, 100_000, 1 << 20} {
		for _, align := range []int{0, 1, 64, 4096, 16 << 10, 32 << 10, 64 << 10} {
			p, err := a.Alloc(size, align)
			require.NoError(t, err)
			require.Zero(t, uintptr(p)%uintptr(max(align, 1)))
			require.Equal(t, max(1, (size+16<<10-1)>>14), u.Stats().LiveChunks)
			setAll(bytesOf(p, size), 1)
			a.FreeSized(p, size, align)
		}
	}
	p := must(a.Alloc(20_000, 0))
	require.True(t, a.ResizeSized(p, 20_000, 0, 60_000))
	require.True(t, a.ResizeSized(p, 60_000, 0, 10))
	require.Equal(t, 1, u.Stats().LiveChunks)
	q := must(a.Alloc(10, 0))
	require.False(t, a.ResizeSized(p, 10, 0, 20_000))
	require.False(t, a.ResizeSized(p, 10, 0, 2<<20))
	for _, c := range []struct {
		text string
		f    func()
	}{
		{"alloc: Universe.Allocator.FreeSized: ", func() { a.FreeSized(unsafe.Add(p, 8), 10, 0) }},
		{"alloc: Universe.Allocator.ResizeSized: ", func() { a.ResizeSized(unsafe.Pointer(u), 10, 0, 3) }},
		{"Universe.Allocator.Alloc: size=-1", func() { _, _ = a.Alloc(-1, 0) }},
		{"Universe.Free: chunk ", func() { a.FreeSized(p, 20_000, 0); a.FreeSized(p, 20_000, 0) }},
	} {
		require.Contains(t, panicText(c.f), c.text)
	}
	_, err := a.Alloc(1<<20+1, 0)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	_, err = a.Alloc(1, 128<<10)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	_ = q
}
