package wrap_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// The protobuf encoding guide has the first, third and fourth of these as its examples.
func TestMessageIsProtobuf(t *testing.T) {
	want := "0896 01" + "12 07 74657374696e67" + "1200" + "1a 03 0896 01" + "32 06 03 8e02 9ea705" +
		"8001 ffffffffffffffffff01" + "22 c801" + strings.Repeat("00", 200)
	require.Equal(t, strings.ReplaceAll(want, " ", ""), fmt.Sprintf("%x", wrap.Message()))
}

// needsGo skips a test that calls pprof where there is no go command. It stands before the first
// allocation: blocks that a skip left would be leaks to the heap's clean-up.
func needsGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command:", err)
	}
}

// pprof runs go tool pprof on what p writes.
func pprof(t *testing.T, p *wrap.Profile, flags ...string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, p.WriteProfile(&b))
	file := filepath.Join(t.TempDir(), "profile.pb.gz")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	flags = append([]string{"tool", "pprof", "-nodefraction=0"}, flags...)
	run := exec.Command("go", append(flags, file)...)
	run.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// rawSample is a sample as go tool pprof -raw shows it.
type rawSample struct {
	values    [4]int64 // objects and bytes allocated, objects and bytes in use
	allocator string
	size      int
}

var (
	valuesOf = regexp.MustCompile(`^ *(\d+) +(\d+) +(\d+) +(\d+): [\d ]+$`)
	labelOf  = regexp.MustCompile(`^ *(allocator|bytes):\[(\S+?)(?: bytes)?\]`)
)

// rawSamples returns the samples of a profile by way of go tool pprof -raw.
func rawSamples(t *testing.T, p *wrap.Profile) (list []rawSample) {
	for line := range strings.Lines(pprof(t, p, "-raw")) {
		line = strings.TrimRight(line, "\n")
		if m := valuesOf.FindStringSubmatch(line); m != nil {
			var s rawSample
			for i := range s.values {
				s.values[i], _ = strconv.ParseInt(m[i+1], 10, 64)
			}
			list = append(list, s)
		} else if m := labelOf.FindStringSubmatch(line); m != nil && m[1] == "allocator" {
			list[len(list)-1].allocator = m[2]
		} else if m != nil {
			list[len(list)-1].size, _ = strconv.Atoi(m[2])
		}
	}
	return list
}

// totals adds up the samples of an allocator.
func totals(list []rawSample, allocator string) (sum [4]int64) {
	for _, s := range list {
		if s.allocator == allocator {
			for i := range sum {
				sum[i] += s.values[i]
			}
		}
	}
	return sum
}

//go:noinline
func textures(t testing.TB, a alloc.Allocator, n, size int) (list []live) {
	for range n {
		list = append(list, got(t, a, size))
	}
	return list
}

//go:noinline
func meshes(t testing.TB, a alloc.Allocator, n, size int) (list []live) {
	for range n {
		p, err := inlined(a, size)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, live{p: p, size: size})
	}
	return list
}

func inlined(a alloc.Allocator, size int) (unsafe.Pointer, error) { return a.Alloc(size, 0) }

//go:noinline
func got(t testing.TB, a alloc.Allocator, size int) live {
	p, err := a.Alloc(size, 0)
	if err != nil {
		t.Fatal(err)
	}
	return live{p: p, size: size}
}

func TestProfileOfEverything(t *testing.T) {
	needsGo(t)
	h := newHeap(t)
	p := wrap.NewProfile(1)
	a := p.Wrap(h, "textures")
	b := wrap.NewLimit(p.Wrap(h, "meshes"), 1<<30) // frames of Limit are not shown
	one, two := textures(t, a, 1000, 64), meshes(t, b, 300, 1<<16)
	freeAll(a, one[:250])
	freeAll(b, two[:100])
	freeAll(a, textures(t, a, 1, 0))
	_, err := b.Alloc(1<<30, 0)
	require.ErrorIs(t, err, alloc.ErrFull)

	list := rawSamples(t, p)
	require.Equal(t, [4]int64{1001, 64_000, 750, 48_000}, totals(list, "textures"))
	require.Equal(t, [4]int64{300, 300 << 16, 200, 200 << 16}, totals(list, "meshes"))
	for _, s := range list {
		require.Equal(t, s.values[0]*int64(s.size), s.values[1])
	}

	top := pprof(t, p, "-top", "-sample_index=inuse_space", "-unit=b")
	require.Regexp(t, `Showing nodes accounting for 13155200B, 100% of 13155200B total`, top)
	require.Regexp(t, `(?m)^ *13107200B .* 13107200B .*%  quarry/alloc/wrap_test\.inlined \(inline\)$`, top)
	require.Regexp(t, `(?m)^ *0 .* 13107200B .*%  quarry/alloc/wrap_test\.meshes$`, top)
	require.Regexp(t, `(?m)^ *48000B .* 48000B .*%  quarry/alloc/wrap_test\.got$`, top)
	require.NotContains(t, top, "wrap.(*")
	require.Regexp(t, `(?m)^ *1001 .*wrap_test\.got$`, pprof(t, p, "-top", "-sample_index=alloc_objects"))
	require.Contains(t, pprof(t, p, "-top"), "Type: inuse_space")

	tags := pprof(t, p, "-tags", "-unit=b")
	require.Regexp(t, `(?s)allocator: Total 13155200B.*13107200B \(.*%\): meshes.*48000B \(.*%\): textures`, tags)
	require.Regexp(t, `(?s)48000B .*wrap_test\.textures`,
		pprof(t, p, "-top", "-unit=b", "-tagfocus=allocator=textures"))
	freeAll(a, one[250:])
	freeAll(b, two[100:])
	require.Equal(t, [4]int64{1001, 64_000, 0, 0}, totals(rawSamples(t, p), "textures"))
	require.Zero(t, a.Known())
}

// TestProfileEstimates allocates what is known and looks whether the estimate is within five
// standard deviations; the seed makes it the same at each run. With weights w the variance of an
// estimated count n is n (w - 1).
func TestProfileEstimates(t *testing.T) {
	needsGo(t)
	h := newHeap(t)
	p := wrap.NewProfileSeeded(4096, 1)
	a := p.Wrap(h, "a")
	var blocks []live
	counts := []struct {
		size int
		n    [2]int64 // allocated, and in use at the end
	}{{16, [2]int64{40_000, 10_000}}, {64, [2]int64{40_000, 20_000}}, {1000, [2]int64{8000, 500}},
		{4096, [2]int64{3000, 1000}}, {30_000, [2]int64{300, 100}}}
	var want [4]int64
	for _, c := range counts {
		size, n := c.size, c.n
		made := textures(t, a, int(n[0]), size)
		freeAll(a, made[n[1]:])
		blocks = append(blocks, made[:n[1]]...)
		want[1] += n[0] * int64(size)
		want[3] += n[1] * int64(size)
	}
	list := rawSamples(t, p)
	for _, c := range counts {
		weight := 1 / (1 - math.Exp(-float64(c.size)/4096))
		for i, n := range c.n {
			var of float64
			for _, s := range list {
				if s.size == c.size {
					of += float64(s.values[2*i])
				}
			}
			sigma := math.Sqrt(float64(n) * (weight - 1))
			require.InDelta(t, n, of, 5*sigma+2, "size %d value %d", c.size, 2*i)
			require.Greater(t, float64(n), 5*sigma, "the test could not tell it from nothing")
		}
	}
	sum := totals(list, "a")
	require.InEpsilon(t, want[1], sum[1], 0.03)
	require.InEpsilon(t, want[3], sum[3], 0.05)
	require.Less(t, a.Known(), 4000, "of 31,600 live blocks")
	freeAll(a, blocks)
	require.Zero(t, a.Known(), "frees of sampled blocks are found")
	sum = totals(rawSamples(t, p), "a")
	require.Equal(t, []int64{0, 0}, sum[2:])
	set, _ := a.Hits()
	require.Zero(t, set)
}

func TestProfileOfTwoGoroutines(t *testing.T) {
	needsGo(t)
	for _, rate := range []int{1, 10_000} {
		h := newHeap(t)
		p := wrap.NewProfile(rate)
		a, outer := p.Wrap(h, "a"), p.Wrap(wrap.NewStats(p.Wrap(h, "inner")), "outer")
		hand := make(chan []live, 4)
		var group sync.WaitGroup
		var kept []live
		group.Go(func() { // what the other one allocates is freed here
			for list := range hand {
				kept = append(kept, list[:10]...)
				freeAll(a, list[10:])
			}
		})
		group.Go(func() {
			for range 200 {
				hand <- textures(t, a, 50, 500)
				freeAll(outer, textures(t, outer, 20, 300))
				require.NoError(t, p.WriteProfile(&bytes.Buffer{}))
			}
			close(hand)
		})
		group.Wait()
		list := rawSamples(t, p)
		if rate == 1 {
			require.Equal(t, [4]int64{10_000, 5_000_000, 2000, 1_000_000}, totals(list, "a"))
			require.Equal(t, [4]int64{4000, 1_200_000, 0, 0}, totals(list, "inner"))
			require.Equal(t, [4]int64{4000, 1_200_000, 0, 0}, totals(list, "outer"))
		} else {
			require.InEpsilon(t, 5_000_000, totals(list, "a")[1], 0.25, "some 500 samples")
		}
		freeAll(a, kept)
		require.Zero(t, a.Known()+outer.Known())
	}
}

func TestProfileOfResizes(t *testing.T) {
	needsGo(t)
	h := newHeap(t)
	p := wrap.NewProfile(1)
	a := p.Wrap(h, "a")
	q := got(t, a, 100_000)
	require.True(t, a.ResizeSized(q.p, 100_000, 0, 90_000))
	require.False(t, a.ResizeSized(q.p, 90_000, 0, 1<<30))
	require.True(t, a.ResizeSized(q.p, 90_000, 0, 90_000))
	require.Equal(t, [4]int64{2, 190_000, 1, 90_000}, totals(rawSamples(t, p), "a"))
	raw := pprof(t, p, "-raw")
	require.Equal(t, 2, strings.Count(raw, "wrap_test.TestProfileOfResizes "), "one location a line")
	require.Contains(t, raw, "inuse_space/bytes[dflt]")
	require.NotContains(t, raw, "runtime.goexit")
	a.FreeSized(q.p, 90_000, 0)
	a.FreeSized(nil, 1, 0)
	require.Equal(t, [4]int64{2, 190_000, 0, 0}, totals(rawSamples(t, p), "a"))
}

// TestProfileOfResizesSampled: a block that was sampled and then is resized is no longer in use
// with its old size, and is sampled with the odds of the new one.
func TestProfileOfResizesSampled(t *testing.T) {
	needsGo(t)
	p := wrap.NewProfileSeeded(4096, 2)
	a := p.Wrap(newHeap(t), "a")
	list := textures(t, a, 400, 2000)
	for i := range list {
		require.True(t, a.ResizeSized(list[i].p, 2000, 0, 2001))
		list[i].size = 2001
	}
	sigma := math.Sqrt(400 * (1/(1-math.Exp(-2000.0/4096)) - 1))
	for _, size := range []int{2000, 2001} {
		var sum [4]int64
		for _, s := range rawSamples(t, p) {
			if s.size == size {
				sum = s.values
			}
		}
		require.InDelta(t, 400, sum[0], 5*sigma)
		if size == 2000 {
			sum[2] += sum[0]
		}
		require.Equal(t, sum[0], sum[2], "size %d", size)
	}
	freeAll(a, list)
	require.Zero(t, a.Known())
}

//go:noinline
func down(t testing.TB, a alloc.Allocator, n int) live {
	if n == 0 {
		return got(t, a, 64)
	}
	return down(t, a, n-1)
}

// TestProfileOfDeepStacks: the function below a recursion has its part, and allocators that are
// called from one place each have their own.
func TestProfileOfDeepStacks(t *testing.T) {
	needsGo(t)
	h := newHeap(t)
	p := wrap.NewProfile(1)
	for i, a := range []*wrap.Sampled{p.Wrap(h, "a"), p.Wrap(h, "b"), p.Wrap(h, "b")} {
		for _, depth := range []int{100, 200} {
			freeAll(a, []live{down(t, a, depth+i/2)})
		}
	}
	list := rawSamples(t, p)
	require.Equal(t, [4]int64{2, 128, 0, 0}, totals(list, "a"))
	require.Equal(t, [4]int64{4, 256, 0, 0}, totals(list, "b"))
	require.Len(t, list, 5, "stacks that are deeper than what is kept are one")
	top := pprof(t, p, "-top", "-unit=b", "-sample_index=alloc_space")
	require.Regexp(t, `(?m)^ *0 .* 192B .*wrap_test\.TestProfileOfDeepStacks$`, top)
	require.Regexp(t, `(?m)^ *0 .* 384B .*wrap_test\.down$`, top)
}

func TestProfileOfOneHash(t *testing.T) {
	require.Equal(t, []int64{2, 2, 2, 2}, wrap.NewProfile(1).SameHash())
}

// TestProfileBeginsAnywhere: the first block of an allocator has no other odds than any.
func TestProfileBeginsAnywhere(t *testing.T) {
	h := newHeap(t)
	p := wrap.NewProfileSeeded(4096, 3)
	known := 0
	for range 1000 {
		a := p.Wrap(h, "a")
		b := got(t, a, 64)
		known += a.Known()
		freeAll(a, []live{b})
	}
	require.InDelta(t, 1000*64/4096, known, 20)
	require.NotZero(t, known)
}

// TestProfileAfterMisuse: a free that panics frees nothing, in the profile neither.
func TestProfileAfterMisuse(t *testing.T) {
	needsGo(t)
	h := newHeap(t)
	p := wrap.NewProfile(1)
	a := p.Wrap(h, "a")
	q := got(t, a, 64)
	require.Panics(t, func() { a.FreeSized(q.p, 5000, 0) })
	require.Equal(t, [4]int64{1, 64, 1, 64}, totals(rawSamples(t, p), "a"))
	h.FreeSized(q.p, 64, 0) // behind its back, until the address comes again
	var others []live
	for r := got(t, a, 64); ; r = got(t, a, 64) {
		if others = append(others, r); r.p == q.p {
			break
		}
	}
	n := int64(len(others))
	require.Equal(t, [4]int64{n + 1, 64 * (n + 1), n, 64 * n}, totals(rawSamples(t, p), "a"))
	freeAll(a, others)
	require.Panics(t, func() { a.FreeSized(q.p, 64, 0) })
	require.Equal(t, [4]int64{n + 1, 64 * (n + 1), 0, 0}, totals(rawSamples(t, p), "a"))
	require.Equal(t, alloc.Allocator(h), a.Unwrap())
}

func TestProfileFilterGrows(t *testing.T) {
	h := newHeap(t)
	a := wrap.NewProfile(1).Wrap(h, "a")
	_, least := a.Hits()
	list := textures(t, a, 1000, 64)
	set, all := a.Hits()
	require.GreaterOrEqual(t, all, 16*1000)
	require.Greater(t, all, least)
	require.InDelta(t, 970, set, 30)
	for _, b := range list {
		require.True(t, a.Asks(b.p))
	}
	other := textures(t, h, 1000, 64)
	asked := 0
	for _, b := range other {
		if a.Asks(b.p) {
			asked++
		}
	}
	require.InDelta(t, 60, asked, 50)
	freeAll(h, other)
	freeAll(a, list)
	set, _ = a.Hits()
	require.Zero(t, set)
}

func TestProfileRates(t *testing.T) {
	require.PanicsWithValue(t, "wrap: NewProfile: rate=-1 is less than 0", func() { wrap.NewProfile(-1) })
	require.Error(t, wrap.NewProfile(1).WriteProfile(&full{}))
	needsGo(t)
	require.Contains(t, pprof(t, wrap.NewProfile(0), "-raw"), "Period: 524288")
}

func BenchmarkSampled(b *testing.B) {
	h := newHeap(b)
	l := h.NewLocal()
	defer l.Close()
	for _, c := range []struct {
		name string
		a    alloc.Allocator
	}{
		{"heap", h}, {"heap-sampled", wrap.NewProfile(0).Wrap(h, "a")},
		{"local", l}, {"local-sampled", wrap.NewProfile(0).Wrap(l, "a")},
		{"heap-everything", wrap.NewProfile(1).Wrap(h, "a")},
	} {
		b.Run("way="+c.name, func(b *testing.B) {
			for b.Loop() {
				p, err := c.a.Alloc(64, 0)
				if err != nil {
					b.Fatal(err)
				}
				c.a.FreeSized(p, 64, 0)
			}
		})
	}
}

// TestProfileOfEmptyBlocks: blocks of size 0 are sampled as those of one byte, and take none.
func TestProfileOfEmptyBlocks(t *testing.T) {
	needsGo(t)
	p := wrap.NewProfileSeeded(4, 1)
	s := p.Wrap(newHeap(t), "empty")
	list := textures(t, s, 4000, 0)
	sum := totals(rawSamples(t, p), "empty")
	require.InDelta(t, 4000, sum[0], 400)
	require.Equal(t, [4]int64{sum[0], 0, sum[0], 0}, sum)
	for _, b := range list {
		s.FreeSized(b.p, 0, 0)
	}
}
