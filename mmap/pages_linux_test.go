package mmap_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"quarry/mmap"
)

func pagesSpace() *mmap.Space { return mmap.NewSpace(mmap.Backings()["pages"]()) }

// mapping is one entry of /proc/self/smaps, cut to a region.
type mapping struct {
	from, to  uintptr // offsets from the base of the region
	access    string  // "rw-p" or "---p"
	rss, huge int     // KiB in memory; of these, in huge pages
	flags     string  // two letters each, between blanks
	name      string  // what follows the inode
}

func mappings(t *testing.T, r *mmap.Region) (all []mapping) {
	return mappingsOf(t, uintptr(r.Base()), uintptr(r.Size()))
}

func mappingsOf(t *testing.T, base, size uintptr) (all []mapping) {
	file, err := os.Open("/proc/self/smaps")
	require.NoError(t, err)
	defer file.Close()
	end := base + size
	inside := false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var from, to uintptr
		var access string
		line := lines.Text()
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &access); n == 3 {
			inside = from < end && to > base
			if inside {
				_, name, _ := strings.Cut(line, " 00:00 0 ")
				name = strings.TrimSpace(name)
				all = append(all, mapping{
					from: max(from, base) - base, to: min(to, end) - base, access: access, name: name,
				})
			}
		} else if inside {
			last := &all[len(all)-1]
			_, _ = fmt.Sscanf(line, "Rss: %d kB", &last.rss)
			_, _ = fmt.Sscanf(line, "AnonHugePages: %d kB", &last.huge)
			if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok {
				last.flags = flags + " "
			}
		}
	}
	return all
}

func rss(all []mapping) (kib int) {
	for _, m := range all {
		kib += m.rss
	}
	return kib
}

// TestKernelAgrees compares the access of every granule with that in the kernel, through scattered
// transitions, and counts memory before and after. The first and the last granule are never ready:
// what lies there would be one mapping with a neighbour's, whose memory the kernel counts in one
// number.
func TestKernelAgrees(t *testing.T) {
	s := pagesSpace()
	const granules = 13
	r := reserve(t, s, granules*g)
	agree := func() {
		t.Helper()
		covered := uintptr(0)
		for _, m := range mappings(t, r) {
			covered += m.to - m.from
			for off := m.from; off < m.to; off += g {
				require.Equal(t, r.Ready(int(off/g)), m.access == "rw-p", "granule %d is %s", off/g, m.access)
			}
		}
		require.Equal(t, uintptr(granules*g), covered, "no hole")
	}
	agree()
	for i := 1; i < granules; i += 2 {
		require.NoError(t, r.Commit(i*g, g))
		dirty(r, i*g, g)
	}
	agree()
	require.Equal(t, granules/2*g/1024, rss(mappings(t, r)), "KiB in memory")
	require.NoError(t, r.Decommit(5*g, g))
	require.NoError(t, r.Commit(8*g, g))
	agree()
	require.Equal(t, (granules/2-1)*g/1024, rss(mappings(t, r)), "committed but untouched costs nothing")
	base := r.Base()
	require.NoError(t, r.Release())
	again := reserve(t, s, granules*g)
	require.Equal(t, base, again.Base())
	r = again
	agree()
	require.Zero(t, rss(mappings(t, r)), "a parked range holds no memory")
	require.NoError(t, r.Release())
}

// TestHugePages: whether the kernel has huge pages to give is its own business, but when advised
// not to, it must not. A granule on each side keeps neighbours out of the mapping.
func TestHugePages(t *testing.T) {
	for _, huge := range []string{"", "off"} {
		t.Setenv("QUARRY_HUGEPAGES", huge)
		r := reserve(t, pagesSpace(), 10*g)
		require.NoError(t, r.Commit(g, 8*g))
		dirty(r, g, 8*g)
		all := mappings(t, r)
		require.Equal(t, 8*g/1024, rss(all))
		for _, m := range all {
			t.Logf("QUARRY_HUGEPAGES=%q: %s %d KiB, %d KiB in huge pages", huge, m.access, m.rss, m.huge)
			require.True(t, huge == "" || m.huge == 0)
		}
		require.NoError(t, r.Release())
	}
}

// keepsAdvice reports whether advice shows in the list of mappings. Emulators of
// another processor drop it.
func keepsAdvice(t *testing.T) bool {
	b, err := unix.Mmap(-1, 0, page, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(b)) }()
	require.NoError(t, unix.Madvise(b, unix.MADV_DONTDUMP))
	all := mappingsOf(t, uintptr(unsafe.Pointer(&b[0])), uintptr(page))
	return len(all) == 1 && strings.Contains(all[0].flags, " dd ")
}

// TestKernelHints compares hints, names, locks and prefaulting with the state in the kernel; a
// range that was parked has none of it.
func TestKernelHints(t *testing.T) {
	if !keepsAdvice(t) {
		t.Skip("this kernel, or what stands in for it, does not show advice")
	}
	s := pagesSpace()
	r := reserve(t, s, 6*g)
	require.NoError(t, r.Commit(g, g))
	flagged := func(flag string, lo, hi int) { // exactly [lo, hi) has the flag
		t.Helper()
		for _, m := range mappings(t, r) {
			for off := int(m.from); off < int(m.to); off += g {
				require.Equal(t, lo <= off && off < hi, strings.Contains(m.flags, " "+flag+" "), "%s at %d", flag, off)
			}
		}
	}
	all := map[mmap.Hint]string{mmap.NoDump: "dd", mmap.WipeOnFork: "wf", mmap.SmallPages: "nh"}
	for h, flag := range all {
		if err := r.Hint(h, true); h == mmap.SmallPages && err != nil {
			require.ErrorIs(t, err, mmap.ErrUnsupported)
			delete(all, h)
			continue
		}
		flagged(flag, 0, 6*g)
		require.NoError(t, r.Commit(3*g, g)) // a later Commit has it too
		flagged(flag, 0, 6*g)
		require.NoError(t, r.Decommit(3*g, g))
		require.NoError(t, r.Hint(h, false))
		flagged(flag, 0, 0)
		require.NoError(t, r.Hint(h, true))
	}
	r.Name("columns")
	named := mappings(t, r)[0].name != ""
	for _, m := range mappings(t, r) {
		require.Equal(t, named, m.name == "[anon:columns]", m.name)
	}
	t.Logf("this kernel shows names: %v", named)

	require.NoError(t, r.Commit(3*g, 3*g))
	require.NoError(t, r.Lock(4*g, g))
	flagged("lo", 4*g, 5*g)
	require.Equal(t, g/1024, rss(mappings(t, r)), "Lock touches what it locks")
	require.NoError(t, r.Prefault(3*g, g))
	require.Equal(t, 2*g/1024, rss(mappings(t, r)))
	require.NoError(t, r.Unlock(4*g, g))
	flagged("lo", 0, 0)
	require.NoError(t, r.Lock(3*g, 3*g))

	base := r.Base()
	require.NoError(t, r.Release())
	r = reserve(t, s, 6*g)
	require.Equal(t, base, r.Base())
	require.NoError(t, r.Commit(0, 6*g))
	for _, flag := range all {
		flagged(flag, 0, 0)
	}
	flagged("lo", 0, 0)
	require.Empty(t, mappings(t, r)[0].name)
	require.Zero(t, rss(mappings(t, r)))
	require.NoError(t, r.Release())
}

// TestKernelGuards: a mark is no mapping, a guard of no access is; both give the
// memory of their pages back, and a granule that had guards gets huge pages as
// before.
func TestKernelGuards(t *testing.T) {
	onGuards(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 4*g)
		require.NoError(t, r.Commit(0, 4*g))
		dirty(r, 0, 4*g)
		huge := func() (kib int) {
			for _, m := range mappings(t, r) {
				kib += m.huge
			}
			return kib
		}
		fresh := huge()
		require.Len(t, mappings(t, r), 1)
		const n = 10
		for i := range n {
			require.NoError(t, r.Guard(g+(2*i+1)*page, page))
		}
		want := map[mmap.GuardKind]int{mmap.GuardMark: 1, mmap.GuardAccess: 2*n + 1}[s.Guards()]
		require.Len(t, mappings(t, r), want)
		require.Equal(t, (4*g-n*page)/1024, rss(mappings(t, r)))
		require.NoError(t, r.Decommit(0, 4*g))
		require.NoError(t, r.Commit(0, 4*g))
		require.Len(t, mappings(t, r), 1)
		require.Zero(t, rss(mappings(t, r)))
		dirty(r, 0, 4*g)
		t.Logf("%v: %d KiB in huge pages before, %d after", s.Guards(), fresh, huge())
		require.Equal(t, 4*g/1024, rss(mappings(t, r)))
		require.NoError(t, r.Release())
	})
}

// TestKernelPrefault: all of a range is in memory afterwards, over several steps.
func TestKernelPrefault(t *testing.T) {
	if !keepsAdvice(t) {
		t.Skip("this kernel, or what stands in for it, drops advice")
	}
	s := pagesSpace()
	const granules = 35 // 70 MiB: a step is 64
	r := reserve(t, s, granules*g)
	require.NoError(t, r.Commit(0, granules*g))
	require.Zero(t, rss(mappings(t, r)))
	require.NoError(t, r.Prefault(g, (granules-1)*g))
	require.Equal(t, (granules-1)*g/1024, rss(mappings(t, r)))
	require.NoError(t, r.Release())
}

// TestKernelRelock: a refused Unlock leaves the kernel's locks as they were.
func TestKernelRelock(t *testing.T) {
	if !keepsAdvice(t) {
		t.Skip("this kernel, or what stands in for it, does not show advice")
	}
	f := &mmap.Flaky{Backing: mmap.Backings()["pages"]()}
	s := mmap.NewSpace(f)
	r := reserve(t, s, 4*g)
	require.NoError(t, r.Commit(0, 4*g))
	require.NoError(t, r.Lock(0, 4*g))
	f.At, f.Burst = f.Steps+1, 1
	require.ErrorIs(t, r.Unlock(0, 4*g), mmap.ErrFlaky)
	for _, m := range mappings(t, r) {
		require.Contains(t, m.flags, " lo ", "offset %d", m.from)
	}
	require.NoError(t, r.Release())
}

// TestKernelMerges: guards of no access that come to memory nobody has touched,
// and go when all around them is touched, leave no mapping behind. Without the
// touch in Guard the kernel would never merge those neighbours again, and the
// budget would count one run where there are many mappings.
func TestKernelMerges(t *testing.T) {
	onGuards(t, func(t *testing.T, s *mmap.Space) {
		r := reserve(t, s, 4*g)
		require.NoError(t, r.Commit(g, 2*g))
		const n = 20
		for i := range n {
			require.NoError(t, r.Guard(g+(2*i+1)*page, page))
		}
		for i := range n {
			r.Bytes()[g+2*i*page] = 1
		}
		for i := range n {
			require.NoError(t, r.Unguard(g+(2*i+1)*page, page))
			r.Bytes()[g+(2*i+1)*page] = 1
		}
		require.Len(t, mappings(t, r), 3)
		require.Equal(t, 1, s.Runs())
		require.NoError(t, r.Release())
	})
}

// TestKernelFine: a fine granule takes what is touched, by Prefault or otherwise, and its
// neighbours get huge pages as they did. A range that was parked has no small pages.
func TestKernelFine(t *testing.T) {
	if !keepsAdvice(t) {
		t.Skip("this kernel, or what stands in for it, does not show advice")
	}
	s := pagesSpace()
	r := reserve(t, s, 3*g)
	require.NoError(t, r.Commit(0, 3*g))
	if err := r.Fine(g, true); err != nil {
		require.ErrorIs(t, err, mmap.ErrUnsupported)
		t.Skip("this kernel has no huge pages")
	}
	flagged := func() (off []int) { // granules without huge pages
		for _, m := range mappings(t, r) {
			for at := int(m.from); at < int(m.to); at += g {
				if strings.Contains(m.flags, " nh ") {
					off = append(off, at)
				}
			}
		}
		return off
	}
	require.Equal(t, []int{g}, flagged())
	require.NoError(t, r.Prefault(g+4*page, 4*page))
	dirty(r, 2*g-page, page)
	require.Equal(t, 5*page/1024, rss(mappings(t, r)))
	dirty(r, 0, page)
	dirty(r, 2*g, page)
	for _, m := range mappings(t, r) {
		t.Logf("from %d KiB: %d KiB in memory, %d KiB of them in huge pages", m.from/1024, m.rss, m.huge)
	}
	require.NoError(t, r.Fine(g, false))
	require.Empty(t, flagged())
	require.NoError(t, r.Fine(0, true))
	base := r.Base()
	require.NoError(t, r.Release())
	r = reserve(t, s, 3*g)
	require.Equal(t, base, r.Base())
	require.Empty(t, flagged())
	require.NoError(t, r.Release())
}
