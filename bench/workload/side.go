package workload

import (
	"runtime"
	"strings"
	"time"
)

// Side is the result of one side of a workload.
type Side struct {
	OK        bool               // every check held
	Detail    string             // one line in words: the checks, or the error
	Time      time.Duration      // of the work, without reading input and checking
	Ops       int                // entities or calls that took the time; the same on both sides
	Committed int64              // bytes held outside the Go heap; 0 for the plain side
	Heap      int64              // bytes held live on the Go heap
	Figures   map[string]float64 // the workload's own figures, by name
	Lines     []string           // more in words, for people
	Drawings  []Drawing          // pictures of the work
	Picture   string             // PNG file that was drawn; "" = none
	Other     *Side              // for a plain side: plain Go written in another way; nil = none
	OtherName string             // in a word: "slots" is shown as "go slots"
}

// Progress is called now and then with the work done and the total. It may be nil.
type Progress func(done, total int)

// Fail records what differed and makes the side wrong; without arguments it does nothing. The first
// failure replaces the words of success, later ones are appended.
func (s *Side) Fail(what ...string) {
	if len(what) == 0 {
		return
	}
	if !s.OK && s.Detail != "" {
		what = append([]string{s.Detail}, what...)
	}
	s.OK, s.Detail = false, strings.Join(what, "; ")
}

// NsPerOp returns nanoseconds per entity or call, 0 when there were none.
func (s *Side) NsPerOp() float64 {
	if s.Ops == 0 {
		return 0
	}
	return float64(s.Time.Nanoseconds()) / float64(s.Ops)
}

// LiveHeap collects garbage and returns the bytes that are live on the Go heap.
func LiveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
