package trace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// traced makes n random calls through a wrap.Trace around a Limit on a heap, and returns the text
// with the books that it must have. Blocks live at the end stay so until the test is over.
func traced(t *testing.T, n int) (text []byte, want Stats) {
	u, err := alloc.NewUniverse()
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	var out bytes.Buffer
	a := wrap.NewTrace(wrap.NewLimit(h, 4<<20), &out)
	r := rand.New(rand.NewPCG(6, uint64(n)))
	type block struct {
		p           unsafe.Pointer
		size, align int
	}
	var live []block
	var books ledger
	want.Threads = 1
	get := func() {
		b := block{size: r.IntN(1 << r.IntN(18)), align: 1 << r.IntN(13)}
		var err error
		b.p, err = a.Alloc(b.size, b.align)
		if b.align > 16 {
			want.Memalign++
		} else {
			want.Malloc++
		}
		if err != nil {
			want.Failed++
			return
		}
		if b.align > 16 {
			want.MaxAlign = max(want.MaxAlign, int64(b.align))
		}
		want.TotalBytes += int64(b.size)
		books.change(0, int64(b.size), false, true)
		live = append(live, b)
	}
	resize := func(b *block) {
		to := 1 + r.IntN(b.size+b.size/2+1)
		want.Realloc++
		if !a.ResizeSized(b.p, b.size, b.align, to) {
			want.Failed++
			return
		}
		want.TotalBytes += int64(to)
		books.change(int64(b.size), int64(to), true, true)
		b.size = to
	}
	for range n {
		want.Ops++
		switch k := r.IntN(8); {
		case len(live) == 0 || k < 4:
			get()
		case k < 6:
			resize(&live[r.IntN(len(live))])
		default:
			at := r.IntN(len(live))
			b := live[at]
			live = append(live[:at], live[at+1:]...)
			a.FreeSized(b.p, b.size, b.align)
			want.Free++
			books.change(int64(b.size), 0, true, false)
		}
	}
	want.Answer = books.answer()
	require.NoError(t, a.Close())
	for _, b := range live {
		a.FreeSized(b.p, b.size, b.align)
	}
	require.NoError(t, h.Close())
	require.NoError(t, u.Close())
	return out.Bytes(), want
}

// TestWhatWrapTraceWrites reads back what package alloc/wrap wrote, and replays it.
func TestWhatWrapTraceWrites(t *testing.T) {
	for _, n := range []int{1, 100, 20_000} {
		text, want := traced(t, n)
		file := filepath.Join(t.TempDir(), fmt.Sprintf("recorded%d.txt", n))
		require.NoError(t, os.WriteFile(file, text, 0o600))
		tr, err := Read(file)
		require.NoError(t, err)
		require.Equal(t, AOSP, tr.Form)
		got := tr.Stats()
		// The recording keeps no books of these; Run's slow count does.
		want.MaxRequest, want.P50, want.P90, want.P99 = got.MaxRequest, got.P50, got.P90, got.P99
		want.DistinctSizes, want.ZeroSize = got.DistinctSizes, got.ZeroSize
		require.Equal(t, want, got)
		plain, ours, err := Run(Options{File: file}, nil)
		require.NoError(t, err)
		require.True(t, plain.OK, plain.Detail)
		require.True(t, ours.OK, ours.Detail)
		require.Equal(t, float64(want.PeakLiveBytes), ours.Figures["peak_live_bytes"])
		require.Equal(t, float64(want.EndLiveBlocks), ours.Figures["end_live_blocks"])
		if n == 20_000 {
			require.NotZero(t, want.Failed)
			require.Greater(t, want.Ops, 2*want.Failed)
		}
	}
}
