package trace

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"
	"unsafe"
)

// span is [lo, hi) of a live block; a block of size 0 counts as one byte.
type span struct{ lo, hi uintptr }

func spanOf(b []byte) span {
	// Safe because the address is only looked at.
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return span{lo, lo + uintptr(max(len(b), 1))}
}

// spans wraps a memory, keeps its live spans in order and records every new block that overlaps a
// live one.
type spans struct {
	memory
	live    []span // by lo
	overlap []string
}

func (s *spans) at(lo uintptr) int {
	return sort.Search(len(s.live), func(i int) bool { return s.live[i].lo >= lo })
}

func (s *spans) insert(b []byte) {
	n := spanOf(b)
	i := s.at(n.lo)
	if i > 0 && s.live[i-1].hi > n.lo {
		s.overlap = append(s.overlap, fmt.Sprintf("%x overlaps %x", n, s.live[i-1]))
	}
	if i < len(s.live) && n.hi > s.live[i].lo {
		s.overlap = append(s.overlap, fmt.Sprintf("%x overlaps %x", n, s.live[i]))
	}
	s.live = append(s.live, span{})
	copy(s.live[i+1:], s.live[i:])
	s.live[i] = n
}

func (s *spans) remove(b []byte) {
	i := s.at(spanOf(b).lo)
	s.live = append(s.live[:i], s.live[i+1:]...)
}

func (s *spans) get(size, align int) ([]byte, error) {
	b, err := s.memory.get(size, align)
	if err == nil {
		s.insert(b)
	}
	return b, err
}

func (s *spans) resize(b []byte, size int) ([]byte, error) {
	n, err := s.memory.resize(b, size)
	if err == nil {
		s.remove(b)
		s.insert(n)
	}
	return n, err
}

func (s *spans) drop(b []byte) {
	s.remove(b)
	s.memory.drop(b)
}

// testReplay replays a trace on the Go heap, on the universe, and on the universe with the check
// for overlap, and wants the same answer from all three.
func testReplay(t *testing.T, tr *Trace, want Answer) {
	t.Helper()
	run := func(side string, m memory) {
		r := newReplay(tr, m)
		if err := r.run(nil); err != nil {
			t.Errorf("%s: %v", side, err)
		}
		if got := r.ledger.answer(); got != want {
			t.Errorf("%s: got %+v want %+v", side, got, want)
		}
		if r.faults != 0 {
			t.Errorf("%s: got %d failed checks want 0: %s", side, r.faults, strings.Join(r.told, "; "))
		}
		r.drain()
	}
	run("Go heap", newGoMemory())
	for _, side := range []string{"universe", "universe with spans"} {
		m, err := newHeapMemory()
		if err != nil {
			t.Fatal(err)
		}
		if side == "universe" {
			run(side, m)
		} else {
			s := &spans{memory: m}
			run(side, s)
			if len(s.overlap) != 0 {
				t.Errorf("%s: got %d overlaps want 0: %s", side, len(s.overlap), s.overlap[0])
			}
			if len(s.live) != 0 {
				t.Errorf("%s: got %d live blocks after the last free want 0", side, len(s.live))
			}
		}
		if err := m.close(); err != nil {
			t.Errorf("%s: %v", side, err)
		}
	}
}

// broken is the Go heap with one defect.
type broken struct {
	*goMemory
	defect string
	calls  int
	last   []byte // the block from the last get
}

var errBroken = errors.New("out of order")

func (m *broken) get(size, align int) ([]byte, error) {
	m.calls++
	switch m.defect {
	case "short":
		return make([]byte, max(size-1, 0)), nil
	case "misaligned":
		b, err := m.goMemory.get(size+1, 64)
		return b[1:], err
	case "dirty":
		b := make([]byte, size)
		if size > 0 {
			b[size-1] = 1
		}
		return b, nil
	case "same block twice":
		if m.calls == 1 {
			m.last = make([]byte, 1<<16)
		}
		return m.last[:size], nil
	case "fails":
		if m.calls == 2 {
			return nil, errBroken
		}
	case "writes into the first":
		if m.calls == 2 {
			m.last[size-1] ^= 0x80
		}
	}
	b, err := m.goMemory.get(size, align)
	m.last = b
	return b, err
}

func (m *broken) drop(b []byte) {
	if m.defect == "free writes into the last" {
		m.last[len(m.last)-1] ^= 1
	}
	m.goMemory.drop(b)
}

func (m *broken) resize(b []byte, size int) ([]byte, error) {
	switch m.defect {
	case "realloc forgets":
		return make([]byte, size), nil
	case "realloc fails":
		return nil, errBroken
	}
	return m.goMemory.resize(b, size)
}

// TestReplayFinds replays on memories with one defect each: the replay must
// find it and name it.
func TestReplayFinds(t *testing.T) {
	const text = "1: malloc 0x10 40\n1: calloc 0x20 5 8\n1: memalign 0x30 64 100\n" +
		"1: realloc 0x40 0x10 80\n1: free 0x20\n"
	tr, _, err := parseText("t.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	for defect, want := range map[string]string{
		"none":                      "",
		"short":                     "operation 1 (malloc of 40 bytes): the block has 39 bytes",
		"misaligned":                "which is not a multiple of 64",
		"dirty":                     "operation 2 (calloc of 40 bytes): byte 39 of 40 is 0x01, want 0",
		"same block twice":          "before realloc: byte 0 of the 40 that operation 1 wrote",
		"fails":                     "operation 2 (calloc of 40 bytes): out of order",
		"writes into the first":     "operation 4 (realloc of 80 bytes): before realloc: byte 39 of the 40",
		"free writes into the last": "after the last operation: at the end: byte 99 of the 100",
		"realloc forgets":           "operation 4 (realloc of 80 bytes): after realloc: byte 0 of the 40",
		"realloc fails":             "operation 4 (realloc of 80 bytes): out of order",
	} {
		t.Run(defect, func(t *testing.T) {
			r := newReplay(tr, &broken{goMemory: newGoMemory(), defect: defect})
			err := r.run(nil)
			if fails := strings.HasSuffix(defect, "fails"); errors.Is(err, errBroken) != fails {
				t.Errorf("error: got %v want one: %v", err, fails)
			}
			got := strings.Join(r.told, "\n")
			if err != nil {
				got += err.Error()
			}
			if !strings.Contains(got, want) || want == "" && got != "" {
				t.Errorf("got %q want it to have %q", got, want)
			}
		})
	}
}

// TestSpansFindOverlap tests the check itself.
func TestSpansFindOverlap(t *testing.T) {
	buf := make([]byte, 64)
	for _, c := range []struct {
		a, b []byte
		want int
	}{
		{buf[0:16], buf[16:32], 0},
		{buf[0:17], buf[16:32], 1},
		{buf[16:32], buf[0:17], 1},
		{buf[0:32], buf[8:16], 1},
		{buf[8:16], buf[0:32], 1},
		{buf[8:8], buf[8:16], 1},
		{buf[8:8], buf[9:9], 0},
	} {
		s := spans{}
		s.insert(c.a)
		s.insert(c.b)
		if len(s.overlap) != c.want {
			t.Errorf("got %v want %d", s.overlap, c.want)
		}
	}
}
