package container

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
	"quarry/alloc"
)

func mix(x uint64) uint64 {
	x *= 0x9E3779B97F4A7C15
	x ^= x >> 32
	x *= 0xD6E8FEB86659FD93
	return x ^ x>>32
}

var sink uint64

func cpu() int64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return ts.Nano()
}

func TestZZ(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("ZN"))
	if n == 0 {
		t.Skip()
	}
	runtime.LockOSThread()
	var opts []alloc.Option
	if os.Getenv("ZSMALL") != "" {
		opts = append(opts, alloc.SmallPages())
	}
	u, _ := alloc.NewUniverse(opts...)
	h, _ := alloc.NewHeap(u)
	var ms runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&ms)
	before := ms.HeapInuse
	gm := map[uint64]uint64{}
	m, _ := NewMap[uint64, uint64](h)
	lap := func(name string, f func() uint64) {
		s := cpu()
		sink += f()
		fmt.Printf("%-14s %6.1f ns\n", name, float64(cpu()-s)/float64(n))
	}
	lap("go insert", func() uint64 {
		for i := range uint64(n) {
			gm[mix(i)] = i
		}
		return 0
	})
	lap("our insert", func() uint64 {
		for i := range uint64(n) {
			m.Set(mix(i), i)
		}
		return 0
	})
	runtime.GC()
	runtime.ReadMemStats(&ms)
	fmt.Printf("go %.2f B/entry, ours %.2f live, %.2f chunks\n", float64(ms.HeapInuse-before)/float64(n), float64(h.Stats().LiveBytes)/float64(n), float64(h.Stats().Chunks*alloc.ChunkSize)/float64(n))
	const block = 20000
	ways := []func(i uint64) uint64{
		func(i uint64) (x uint64) {
			for j := i; j < i+block; j++ {
				x += gm[mix(mix(j)%uint64(n))]
			}
			return
		},
		func(i uint64) (x uint64) {
			for j := i; j < i+block; j++ {
				v, _ := m.Get(mix(mix(j) % uint64(n)))
				x += v
			}
			return
		},
		func(i uint64) (x uint64) {
			for j := i; j < i+block; j++ {
				x += gm[mix(j+uint64(n))]
			}
			return
		},
		func(i uint64) (x uint64) {
			for j := i; j < i+block; j++ {
				v, _ := m.Get(mix(j + uint64(n)))
				x += v
			}
			return
		},
	}
	ways = append(ways, manyHook(m, n))
	times := make([][]float64, len(ways))
	for r := range 200 {
		for w, f := range ways {
			s := cpu()
			sink += f(uint64((r*4 + w) * block))
			times[w] = append(times[w], float64(cpu()-s)/block)
		}
	}
	for w, name := range []string{"go hit", "our hit", "go miss", "our miss", "our many"} {
		fmt.Printf("%.0f\n", times[w][:12])
		sort.Float64s(times[w])
		fmt.Printf("%-10s min %.1f p10 %.1f p25 %.1f median %.1f\n", name, times[w][0], times[w][20], times[w][50], times[w][100])
	}
	lap("go range", func() (x uint64) {
		for k, v := range gm {
			x += k ^ v
		}
		return
	})
	lap("our range", func() (x uint64) {
		for k, v := range m.All() {
			x += k ^ v
		}
		return
	})
	runtime.KeepAlive(gm)
	b, _ := os.ReadFile("/proc/self/smaps_rollup")
	fmt.Println(string(b))
	m.Close()
	h.Close()
	u.Close()
}

func init() {
	manyHook = func(m *Map[uint64, uint64], n int) func(i uint64) uint64 {
		keys, vals, found := make([]uint64, 2000), make([]uint64, 2000), make([]bool, 2000)
		return func(i uint64) (x uint64) {
			for j := i; j < i+20000; j += 2000 {
				for k := range keys {
					keys[k] = mix(mix(j+uint64(k)) % uint64(n))
				}
				m.GetMany(keys, vals, found)
				for _, v := range vals {
					x += v
				}
			}
			return
		}
	}
}

var manyHook func(m *Map[uint64, uint64], n int) func(i uint64) uint64
