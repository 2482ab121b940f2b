package mmap_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"math/rand"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/child"
	"quarry/mmap"
)

// underLimit runs body in a child process with a limit that the shell sets, and
// more environment.
func underLimit(t *testing.T, limit string, body func(t *testing.T), environment ...string) {
	t.Helper()
	if !mmap.Real {
		t.Skip("regions of this build are Go objects; the Go runtime dies under such limits")
	}
	child.Run(t, limit, body, environment...)
}

func TestAddressSpaceLimit(t *testing.T) {
	underLimit(t, "ulimit -v 3000000", func(t *testing.T) {
		r, err := mmap.Reserve(16 << 30)
		require.Nil(t, r)
		require.ErrorIs(t, err, mmap.ErrAddressSpace)
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.Regexp(t, "^mmap: Reserve: 17179869184 bytes of address space: cannot allocate memory: "+
			"the limit is 3072000000, of which [0-9]{10} are in use, and 307200000 are left to Go "+
			`\(lower the size, release regions, or raise the limit that "ulimit -v" shows\)$`, err.Error())
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
		require.True(t, strings.HasPrefix(err.Error(), "mmap: Commit: 1069547520 bytes at offset 4194304: "),
			err.Error())
		require.Equal(t, g, r.Committed())
		require.NoError(t, r.Verify())
		require.NoError(t, r.Commit(2*g, 64<<20))
		requireZero(t, r, 2*g, 64<<20)
		require.NoError(t, r.Release())
	})
}

// TestUpToLimit: under a limit a smaller region is reserved, has the reason, and works.
func TestUpToLimit(t *testing.T) {
	underLimit(t, "ulimit -v 3500000", func(t *testing.T) {
		r, err := mmap.ReserveUpTo(16<<30, 64<<20)
		require.NoError(t, err)
		size := r.Size()
		require.Equal(t, 16<<30, r.Asked())
		require.Contains(t, []int{128 << 20, 256 << 20, 512 << 20}, size, "what the Go runtime left")
		require.Regexp(t, fmt.Sprintf("^mmap: Reserve: %d bytes of address space: cannot allocate memory: "+
			`the limit is 3584000000, of which [0-9]{10} are in use, and 358400000 are left to Go `+
			`\(lower the size, release regions, or raise the limit that "ulimit -v" shows\)$`, 2*size),
			r.Refusal().Error())
		require.NoError(t, r.Commit(0, 64<<20))
		require.NoError(t, r.Prefault(0, 64<<20))
		require.NoError(t, r.Guard(page, page))
		require.ErrorIs(t, mmap.Guarded(func() { r.Bytes()[page] = 1 }), mmap.ErrFault)
		requireZero(t, r, g, 62<<20)
		require.NoError(t, r.Release())

		spare := make([]byte, size/8) // the Go heap still has its share
		runtime.GC()
		spare[len(spare)-1] = 1
		full, err := mmap.Reserve(32 * size)
		require.Nil(t, full)
		require.ErrorIs(t, err, mmap.ErrAddressSpace)
		again, err := mmap.Reserve(size) // parked address space is not lost
		require.NoError(t, err)
		require.NoError(t, again.Release())
	})
}

// requireGoGrows: the Go heap has room for 60 MiB more and collects. The runtime ends
// the process when it has not.
func requireGoGrows(t *testing.T) {
	t.Helper()
	var held [][]byte
	for range 60 {
		held = append(held, make([]byte, 1<<20))
	}
	runtime.GC()
	require.Len(t, held, 60)
}

// reserveAll reserves regions of that size until one is refused.
func reserveAll(t *testing.T, size int) (all []*mmap.Region, err error) {
	t.Helper()
	for {
		r, err := mmap.Reserve(size)
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
}

// others returns the bytes of addresses that the process has beside parked ranges and regions of so
// many bytes.
func others(t *testing.T, regions int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	var pages int
	_, err = fmt.Sscan(string(text), &pages)
	require.NoError(t, err)
	_, parked := mmap.Parked()
	return pages*os.Getpagesize() - parked - regions
}

// TestGoKeepsRoom: whatever size is requested, and however often, our error comes while the Go
// runtime can grow, and what was released serves any other size. Of that a quarter of the limit
// stays parked; Go may take of the rest what it needs.
func TestGoKeepsRoom(t *testing.T) {
	underLimit(t, "ulimit -v 2500000", func(t *testing.T) {
		_, bytes := mmap.Parked()
		require.Zero(t, bytes)
		most, before := 0, 0
		const threads = 160 << 20 // one may begin between two looks, and its C heap takes 128 MiB for a moment
		for _, size := range []int{g, 16 * g, 3 * g, 100 * g, 7 * g, 2 * g, 200 * g, 5 * g} {
			all, err := reserveAll(t, size)
			require.ErrorIs(t, err, mmap.ErrAddressSpace)
			require.ErrorIs(t, err, syscall.ENOMEM)
			require.Regexp(t, fmt.Sprintf("^mmap: Reserve: %d bytes of address space: cannot allocate memory: "+
				"the limit is 2560000000, of which [0-9]+ are in use, and 256000000 are left to Go ", size),
				err.Error())
			if most == 0 {
				requireGoGrows(t)
				more, err := reserveAll(t, size) // what Go has left
				require.ErrorIs(t, err, mmap.ErrAddressSpace)
				all = append(all, more...)
			}
			ranges, left := mmap.Parked()
			require.LessOrEqual(t, left, ranges*(size-g), "no parked range has room for one more")
			now := others(t, len(all)*size)
			require.LessOrEqual(t, most-ranges*size-max(now-before, 0)-threads, len(all)*size,
				"as much as ever, but for what is left of each range and what Go took")
			if len(all)*size > most {
				most, before = len(all)*size, now
			}
			if len(all) > 0 { // a thread's mapping can part the ranges, and no part has 200 granules then
				require.NoError(t, all[0].Commit(0, g))
				requireZero(t, all[0], 0, g)
			}
			for _, i := range rand.Perm(len(all)) {
				require.NoError(t, all[i].Release())
			}
		}
		requireGoGrows(t)
	})
}

// TestTwoTakeAllRoom has two goroutines reserve regions until each is refused.
func TestTwoTakeAllRoom(t *testing.T) {
	underLimit(t, "ulimit -v 2500000", func(t *testing.T) {
		for range 20 {
			var all sync.WaitGroup
			var got [2][]*mmap.Region
			var refused [2]error
			for w := range got {
				all.Go(func() {
					for size := 64 * g; size >= g; size /= 2 {
						for err := error(nil); err == nil; {
							var r *mmap.Region
							if r, err = mmap.Reserve(size - w*g/2); err == nil {
								got[w] = append(got[w], r)
							}
							refused[w] = err
						}
					}
				})
			}
			all.Wait()
			for w, regions := range got {
				require.ErrorIs(t, refused[w], mmap.ErrAddressSpace)
				for _, r := range regions {
					require.NoError(t, r.Release())
				}
			}
			requireGoGrows(t)
		}
	})
}

// TestAllAddresses takes every address that a process has: the error is ours, and after
// a release all of them can be had again in other sizes.
func TestAllAddresses(t *testing.T) {
	underLimit(t, child.NoLimit, func(t *testing.T) {
		var sum [2]int
		for round := range sum {
			var all []*mmap.Region
			for size := 1 << (bits.UintSize * 5 / 8); size >= 64<<20; size /= 2 { // 1 TiB
				more, err := reserveAll(t, size-round*g)
				require.ErrorIs(t, err, mmap.ErrAddressSpace)
				require.ErrorContains(t, err,
					"of address space: cannot allocate memory (lower the size, release regions, or raise")
				if len(more) > 1000 {
					t.Skip("this process has more addresses than can be taken here")
				}
				all = append(all, more...)
			}
			requireGoGrows(t)
			for _, r := range all {
				sum[round] += r.Size()
				require.NoError(t, r.Release())
			}
		}
		t.Logf("%d GiB, and %d in other sizes", sum[0]>>30, sum[1]>>30)
		require.InEpsilon(t, sum[0], sum[1], 0.01)
	})
}

// TestLockLimit: a lock over the limit is an error, and leaves memory that can be
// decommitted.
func TestLockLimit(t *testing.T) {
	underLimit(t, "ulimit -l 3000", func(t *testing.T) {
		r, err := mmap.Reserve(8 * g)
		require.NoError(t, err)
		require.NoError(t, r.Commit(0, 8*g))
		err = r.Lock(0, 8*g)
		if os.Getuid() != 0 { // the superuser may lock what it likes
			require.ErrorIs(t, err, mmap.ErrMemory)
			require.ErrorContains(t, err, `mmap: Lock: 16777216 bytes at offset 0: `)
			require.ErrorContains(t, err, `(lock less, or raise the limit that "ulimit -l" shows)`)
			require.NoError(t, r.Lock(g, g))
			require.NoError(t, r.Unlock(g, g))
		} else {
			require.NoError(t, err)
			require.NoError(t, r.Unlock(0, 8*g))
		}
		require.NoError(t, r.Verify())
		require.NoError(t, r.Decommit(0, 8*g))
		require.NoError(t, r.Release())
	})
}

// mapCount is how many mappings the process has, and may have.
func mapCount(t *testing.T) (now, most int) {
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	limit, err := os.ReadFile("/proc/sys/vm/max_map_count")
	require.NoError(t, err)
	for _, digit := range strings.TrimSpace(string(limit)) {
		most = most*10 + int(digit-'0')
	}
	return bytes.Count(maps, []byte("\n")), most
}

// requireRoom: after our refusal the Go runtime still gets mappings of its own.
// It dies when it does not.
func requireRoom(t *testing.T) {
	now, most := mapCount(t)
	t.Logf("%d of %d mappings in use at the refusal", now, most)
	require.Less(t, now, most*3/4, "the kernel is not near its limit")
	require.Greater(t, now, most/4, "the budget is not spent in vain")
	var held [][]byte
	for range 64 {
		held = append(held, make([]byte, 4<<20))
	}
	runtime.GC()
	require.Len(t, held, 64)
}

// TestGuardBudgetChild spends the whole budget on every other page, without
// marks: the error is ours and comes before the kernel's.
func TestGuardBudgetChild(t *testing.T) {
	underLimit(t, child.NoLimit, func(t *testing.T) {
		require.Equal(t, mmap.GuardAccess, mmap.Guards())
		_, most := mapCount(t)
		if most > 1<<18 {
			t.Skip("vm.max_map_count is too large to be reached here: ", most)
		}
		r, err := mmap.Reserve((most/4 + 8) * 2 * page)
		require.NoError(t, err)
		require.NoError(t, r.Commit(0, r.Size()))
		require.NoError(t, r.Hint(mmap.SmallPages, true))
		n := 0
		for ; err == nil; n++ {
			r.Bytes()[2*n*page] = 1
			err = r.Guard((2*n+1)*page, page)
		}
		require.ErrorIs(t, err, mmap.ErrMemory)
		require.EqualError(t, err, fmt.Sprintf("mmap: Guard: %d bytes at offset %d: too many separate ready ranges "+
			"(use fewer guards, or a kernel that marks pages (6.13), or raise vm.max_map_count)", page, (2*n-1)*page))
		require.Equal(t, most/4, n, "one run was the region itself")
		requireRoom(t)
		require.NoError(t, r.Verify())
		require.NoError(t, r.Unguard(page, page))
		require.NoError(t, r.Guard(page, page), "what is given back can be used again")
		require.NoError(t, r.Release())
		now, _ := mapCount(t)
		require.Less(t, now, most/8, "nothing leaks")
	}, "QUARRY_GUARDS=access")
}

// TestGuardMarksChild sets more marks than the kernel permits mappings.
func TestGuardMarksChild(t *testing.T) {
	if mmap.Guards() != mmap.GuardMark {
		t.Skip("this kernel does not mark pages")
	}
	underLimit(t, child.NoLimit, func(t *testing.T) {
		before, most := mapCount(t)
		n := min(most+100, 1<<17)
		r, err := mmap.Reserve(2 * n * page)
		require.NoError(t, err)
		require.NoError(t, r.Commit(0, r.Size()))
		for i := range n {
			require.NoError(t, r.Guard((2*i+1)*page, page))
		}
		require.Equal(t, n*page, r.GuardedSize())
		now, _ := mapCount(t)
		require.Less(t, now, before+100, "marks are not mappings")
		var fault *mmap.FaultError
		require.ErrorAs(t, mmap.Guarded(func() { r.Bytes()[(2*n-1)*page] = 1 }), &fault)
		require.Equal(t, []int{(2*n - 1) * page, int(mmap.FaultGuard)}, []int{fault.Offset, int(fault.State)})
		require.NoError(t, r.Release())
	})
}

// TestReadyBudgetChild spends the whole budget on every other granule.
func TestReadyBudgetChild(t *testing.T) {
	underLimit(t, child.NoLimit, func(t *testing.T) {
		_, most := mapCount(t)
		if most > 1<<18 {
			t.Skip("vm.max_map_count is too large to be reached here: ", most)
		}
		r, err := mmap.Reserve((most/4 + 8) * 2 * g)
		require.NoError(t, err)
		n := 0
		for ; err == nil; n++ {
			err = r.Commit(2*n*g, g)
		}
		require.ErrorIs(t, err, mmap.ErrMemory)
		require.ErrorContains(t, err, "too many separate ready ranges")
		require.Equal(t, most/4+1, n)
		requireRoom(t)
		require.NoError(t, r.Verify())
		require.NoError(t, r.Release())
	})
}

// TestFaultOutsideChild: without Guarded a fault ends the process, with it in
// another goroutine too.
func TestFaultOutsideChild(t *testing.T) {
	if os.Getenv("QUARRY_TEST_CHILD") == "fault" {
		r, err := mmap.Reserve(g)
		require.NoError(t, err)
		_ = mmap.Guarded(func() {
			done := make(chan bool)
			go func() {
				r.Bytes()[0] = 1
				close(done)
			}()
			<-done
		})
		t.Fatal("returned")
	}
	if !mmap.Real {
		t.Skip("Go memory does not fault: TestGuardedCalls")
	}
	alone := exec.Command(os.Args[0], "-test.run", "^TestFaultOutsideChild$")
	alone.Env = append(os.Environ(), "QUARRY_TEST_CHILD=fault")
	out, err := alone.CombinedOutput()
	require.Error(t, err)
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("this program runs on an emulator and cannot start itself")
	}
	require.Contains(t, string(out), "unexpected fault address")
	require.NotContains(t, string(out), "returned")
}

// TestLockedProcessChild: where everything is locked the kernel neither drops
// nor marks pages. That is an error, and states stay.
func TestLockedProcessChild(t *testing.T) {
	for _, guards := range []string{"mark", "access"} {
		underLimit(t, ": "+guards, func(t *testing.T) {
			if err := syscall.Mlockall(2); err != nil { // MCL_FUTURE
				t.Skip("this process may not lock all memory: ", err)
			}
			r, err := mmap.Reserve(2 * g)
			require.NoError(t, err)
			require.NoError(t, r.Commit(0, 2*g))
			for _, err := range []error{r.Guard(page, page), r.Decommit(0, g), r.Release()} {
				require.ErrorIs(t, err, mmap.ErrMemory)
				require.ErrorIs(t, err, syscall.EINVAL)
				require.ErrorContains(t, err, "munlockall")
				require.NoError(t, r.Verify())
				require.Equal(t, []int{2 * g, 0}, []int{r.Committed(), r.GuardedSize()})
				r.Bytes()[page]++
			}
			require.NoError(t, syscall.Munlockall())
			require.NoError(t, r.Guard(page, page))
			require.NoError(t, r.Release())
		}, "QUARRY_GUARDS="+guards)
	}
}

// TestSeamsChild commits even granules, touches them, and then the odd ones, so
// that the space counts one run where the kernel has a mapping for every other
// granule, region after region: the refusal still comes before the kernel's.
func TestSeamsChild(t *testing.T) {
	underLimit(t, child.NoLimit, func(t *testing.T) {
		_, most := mapCount(t)
		if most > 1<<17 {
			t.Skip("vm.max_map_count is too large to be reached here: ", most)
		}
		n := most / 8
		var all []*mmap.Region
		var err error
		for err == nil && len(all) < 32 {
			r, refused := mmap.Reserve(2 * n * g)
			require.NoError(t, refused)
			all = append(all, r)
			for i := 0; i < 2*n && err == nil; i++ {
				at := 2 * i // even ones, then odd ones
				if i >= n {
					at = 2*(i-n) + 1
				}
				if err = r.Commit(at*g, g); err == nil {
					r.Bytes()[at*g] = 1
				}
			}
		}
		require.ErrorIs(t, err, mmap.ErrMemory)
		require.ErrorContains(t, err, "too many separate ready ranges")
		now, _ := mapCount(t)
		t.Logf("%d of %d mappings in use at the refusal, in region %d", now, most, len(all))
		require.Less(t, now, most-most/10)
		var held [][]byte
		for range 64 {
			held = append(held, make([]byte, 4<<20))
		}
		runtime.GC()
		require.Len(t, held, 64)
	}, "QUARRY_HUGEPAGES=off")
}

// TestParkedAddressesGoBack: under a limit, Go gets what closed regions had. A quarter of the limit
// stays parked, what was parked last.
func TestParkedAddressesGoBack(t *testing.T) {
	const limit = 4_000_000 << 10
	underLimit(t, fmt.Sprintf("ulimit -v %d", limit>>10), func(t *testing.T) {
		for range 2 { // and the second time there is as much as at first
			var all []*mmap.Region
			for {
				r, err := mmap.Reserve(100 << 20)
				if err != nil {
					break
				}
				all = append(all, r)
			}
			require.Greater(t, len(all), 9)
			last := all[len(all)-1].Bytes()
			for i, r := range all {
				require.NoError(t, r.Release())
				_, parked := mmap.Parked()
				require.LessOrEqual(t, parked, limit/4)
				require.GreaterOrEqual(t, parked, min((i+1)*100<<20, limit/4-100<<20))
			}
			var fault *mmap.FaultError
			require.ErrorAs(t, mmap.Guarded(func() { last[0] = 1 }), &fault)
			require.Equal(t, mmap.FaultParked, fault.State)
		}
		var heap [][]byte // of addresses, for nobody touches it
		for range 12 {
			heap = append(heap, make([]byte, 64<<20))
		}
		runtime.KeepAlive(heap)
	})
}
