package mmap_test

import (
	"bufio"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

func pagesSpace() *mmap.Space { return mmap.NewSpace(mmap.Systems()["pages"]()) }

// mapping is one entry of /proc/self/smaps, cut to a region.
type mapping struct {
	from, to  uintptr // offsets from the base of the region
	access    string  // "rw-p" or "---p"
	rss, huge int     // KiB in memory; of these, in huge pages
}

func mappings(t *testing.T, r *mmap.Region) (all []mapping) {
	file, err := os.Open("/proc/self/smaps")
	require.NoError(t, err)
	defer file.Close()
	base, end := uintptr(r.Base()), uintptr(r.Base())+uintptr(r.Size())
	inside := false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var from, to uintptr
		var access string
		line := lines.Text()
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &access); n == 3 {
			inside = from < end && to > base
			if inside {
				all = append(all, mapping{from: max(from, base) - base, to: min(to, end) - base, access: access})
			}
		} else if inside {
			last := &all[len(all)-1]
			_, _ = fmt.Sscanf(line, "Rss: %d kB", &last.rss)
			_, _ = fmt.Sscanf(line, "AnonHugePages: %d kB", &last.huge)
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

// TestKernelAgrees compares the access of every granule with what the kernel
// says, through scattered transitions, and counts memory before and after.
func TestKernelAgrees(t *testing.T) {
	s := pagesSpace()
	const granules = 12
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
	for i := 0; i < granules; i += 2 {
		require.NoError(t, r.Commit(i*g, g))
		dirty(r, i*g, g)
	}
	agree()
	require.Equal(t, granules/2*g/1024, rss(mappings(t, r)), "KiB in memory")
	require.NoError(t, r.Decommit(4*g, g))
	require.NoError(t, r.Commit(7*g, g))
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

// TestHugePages: whether the kernel has huge pages to give is its own business,
// but told not to, it must not.
func TestHugePages(t *testing.T) {
	for _, huge := range []string{"", "off"} {
		t.Setenv("QUARRY_HUGEPAGES", huge)
		r := reserve(t, pagesSpace(), 8*g)
		require.NoError(t, r.Commit(0, 8*g))
		dirty(r, 0, 8*g)
		all := mappings(t, r)
		require.Equal(t, 8*g/1024, rss(all))
		for _, m := range all {
			t.Logf("QUARRY_HUGEPAGES=%q: %s %d KiB, %d KiB in huge pages", huge, m.access, m.rss, m.huge)
			require.True(t, huge == "" || m.huge == 0)
		}
		require.NoError(t, r.Release())
	}
}

// underLimit runs body in a child process with a limit that the shell sets.
func underLimit(t *testing.T, limit string, body func(t *testing.T)) {
	if !mmap.Real {
		t.Skip("regions of this build are Go objects; the Go runtime dies under such limits")
	}
	if bits.UintSize == 32 {
		t.Skip("sizes of this test need 64 bits")
	}
	if os.Getenv("QUARRY_TEST_CHILD") == limit {
		body(t)
		return
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to set a limit with")
	}
	child := exec.Command(shell, "-c", limit+`; exec "$0" -test.v -test.run "^$1\$"`, os.Args[0], t.Name())
	child.Env = append(os.Environ(), "QUARRY_TEST_CHILD="+limit)
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
}

func TestAddressSpaceLimit(t *testing.T) {
	underLimit(t, "ulimit -v 3000000", func(t *testing.T) {
		r, err := mmap.Reserve(4 << (bits.UintSize / 2)) // 16 GiB; the shift keeps 32-bit compilers content
		require.Nil(t, r)
		require.ErrorIs(t, err, mmap.ErrAddressSpace)
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.EqualError(t, err, "mmap: Reserve: 17179869184 bytes of address space: cannot allocate memory "+
			`(lower the size, or raise the limit that "ulimit -v" shows)`)
		var refused *mmap.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "Reserve", refused.Op)

		r, err = mmap.Reserve(64 << 20)
		require.NoError(t, err)
		require.NoError(t, r.Commit(0, 64<<20))
		dirty(r, 0, 64<<20)
		require.NoError(t, r.Release())
	})
}

func TestDataLimit(t *testing.T) {
	underLimit(t, "ulimit -d 700000", func(t *testing.T) {
		const size = 1 << 30
		r, err := mmap.Reserve(size)
		require.NoError(t, err)
		require.NoError(t, r.Commit(g, g))
		dirty(r, g, g)
		err = r.Commit(2*g, size-2*g)
		require.ErrorIs(t, err, mmap.ErrMemory)
		require.True(t, strings.HasPrefix(err.Error(), "mmap: Commit: 1069547520 bytes at offset 4194304: "), err.Error())
		require.Equal(t, g, r.Committed())
		require.NoError(t, r.Verify())
		require.NoError(t, r.Commit(2*g, 64<<20))
		requireZero(t, r, 2*g, 64<<20)
		require.NoError(t, r.Release())
	})
}
