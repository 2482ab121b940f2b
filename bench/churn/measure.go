package churn

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"time"

	"quarry/alloc"
	"quarry/bench/child"
	"quarry/bench/process"
	"quarry/mmap"
)

// way is one of the programs that are compared.
type way struct {
	name string
	open func(n int) (store, error)
	fits bool // the collector is set by alloc.GCFor
}

var ways = []way{
	{"objects", newObjects, false},
	{"slots", newSlots, false},
	{"quarry", newPool, true},
	{"quarry, GC as Go sets it", newPool, false},
}

const (
	garbageBytes = 512 // for each request
	garbageKept  = 64  // blocks that are live at a time
)

// roomForGo is the number of bytes that the ways with alloc.GCFor leave to the Go heap for n
// records: a quarter of what the records and the table take, but at least 32 MB.
func roomForGo(n int) int64 { return max(32<<20, 24*int64(n)) }

// spec is the work of a child process.
type spec struct {
	Way      string `json:"way"`
	Records  int    `json:"records"`
	Requests int    `json:"requests"`
}

// sample is what a child found. Times are in ns, memory in bytes.
type sample struct {
	Answer  answer  `json:"answer"`
	Wrong   string  `json:"wrong,omitempty"` // what did not fit the stream
	Wall    int64   `json:"wall"`            // of all batches
	P50     int64   `json:"p50"`             // of a batch
	P999    int64   `json:"p999"`
	Slowest int64   `json:"slowest"`
	GC      float64 `json:"gc"` // seconds of processor time of the collector
	User    float64 `json:"user"`
	Cycles  int     `json:"cycles"`
	Peak    int64   `json:"peak"`   // resident, above the start
	Steady  int64   `json:"steady"` // the same after the last batch
	OffHeap int64   `json:"off_heap"`
	Heap    int64   `json:"heap"` // live on the Go heap at the end
}

// Serve is main for the child; text follows child.Flag.
func Serve(text string, stdout, stderr io.Writer) int {
	return child.Serve(text, stdout, stderr, spec.measure)
}

// measure runs one way in this process.
func (sp spec) measure() (sample, error) {
	at := slices.IndexFunc(ways, func(w way) bool { return w.name == sp.Way })
	if at < 0 {
		return sample{}, fmt.Errorf("churn: no way %q", sp.Way)
	}
	if err := checkRecords(sp.Records); err != nil {
		return sample{}, err
	}
	w := &ways[at]
	in, err := newStream(sp.Records)
	if err != nil {
		return sample{}, err
	}
	defer in.close()
	times, err := alloc.MakeSlice[int64](in.pages, sp.Requests/batchSize, sp.Requests/batchSize)
	if err != nil {
		return sample{}, err
	}
	defer alloc.FreeSlice(in.pages, times)
	clear(times)
	debug.FreeOSMemory()
	base := process.Resident()
	s, err := w.open(sp.Records)
	if err != nil {
		return sample{}, err
	}
	out := sample{}
	if err := out.run(in, s, times, w.fits); err != nil {
		return sample{}, errors.Join(err, s.close())
	}
	out.Steady = process.Resident() - base
	out.Peak = process.Peak() - base
	out.judge(in, s, times)
	return out, s.close()
}

// run puts the first records and then times the batches.
func (m *sample) run(in *stream, s store, times []int64, fits bool) error {
	batch := make([]request, 0, batchSize)
	for seat := 0; seat < len(in.uses); {
		batch, seat = in.fill(batch, seat)
		if err := s.serve(batch, &m.Answer); err != nil {
			return err
		}
	}
	if fits && mmap.Real { // elsewhere, as in race builds, the records are part of the Go heap
		off := s.offHeap()
		gc, err := alloc.GCFor(off+roomForGo(len(in.uses)), off)
		if err != nil {
			return err
		}
		defer gc.Apply().Apply()
	}
	runtime.GC() // the collector's metrics are as of its last cycle
	before := readCollector()
	var kept [garbageKept][]byte
	batch = batch[:batchSize]
	for i := range times {
		in.draw(batch)
		start := time.Now()
		if err := s.serve(batch, &m.Answer); err != nil {
			return err
		}
		for k := range batchSize {
			kept[(i*batchSize+k)%garbageKept] = make([]byte, garbageBytes)
		}
		times[i] = time.Since(start).Nanoseconds()
	}
	after := readCollector()
	runtime.KeepAlive(&kept)
	m.GC, m.User, m.Cycles = after.gc-before.gc, after.user-before.user, int(after.cycles-before.cycles)
	return nil
}

// judge works out the rest once nothing is timed any more.
func (m *sample) judge(in *stream, s store, times []int64) {
	m.Answer.Live = s.live()
	m.OffHeap = s.offHeap()
	switch a := &m.Answer; {
	case a.Live != in.live():
		m.Wrong = fmt.Sprintf("%d records are live, want %d", a.Live, in.live())
	case a.Missed != in.misses:
		m.Wrong = fmt.Sprintf("%d look-ups found nothing, want %d", a.Missed, in.misses)
	case a.Broken != 0:
		m.Wrong = fmt.Sprintf("%d records that were removed were not there", a.Broken)
	}
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.Heap = int64(stats.HeapAlloc)
	for _, t := range times {
		m.Wall += t
	}
	slices.Sort(times)
	m.P50, m.P999, m.Slowest = times[len(times)/2], times[len(times)*999/1000], times[len(times)-1]
}

// collector is what the collector has done, up to the end of its last cycle.
type collector struct {
	gc, user float64 // seconds of processor time
	cycles   uint64
}

func readCollector() collector {
	s := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/user:cpu-seconds"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(s)
	return collector{s[0].Value.Float64(), s[1].Value.Float64(), s[2].Value.Uint64()}
}

// share is the collector's share of the processor time, in percent.
func (m *sample) share() float64 {
	if m.GC+m.User == 0 {
		return 0
	}
	return 100 * m.GC / (m.GC + m.User)
}
