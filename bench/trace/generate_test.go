package trace

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"quarry/internal/debug"
)

var printTo = flag.String("print", "", "file to print the built-in trace to, in the AOSP form")

// TestDemoPrints: the built-in trace reads back from its print unchanged. With -print it writes the
// print, for testdata/books.awk.
func TestDemoPrints(t *testing.T) {
	demo := Demo()
	var text bytes.Buffer
	if err := WriteAOSP(&text, demo); err != nil {
		t.Fatal(err)
	}
	if *printTo != "" {
		if err := os.WriteFile(*printTo, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	back, raw, err := parseText("print", text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(back.Ops) != len(demo.Ops) || back.Slots != demo.Slots {
		t.Fatalf("got %d operations, %d slots want %d, %d", len(back.Ops), back.Slots, len(demo.Ops), demo.Slots)
	}
	for i := range demo.Ops {
		if back.Ops[i] != demo.Ops[i] {
			t.Fatalf("operation %d: got %+v want %+v", i, back.Ops[i], demo.Ops[i])
		}
	}
	if got, want := opsText(back), opsText(demo); got != want {
		t.Error("got other threads or slots than those printed")
	}
	slow, err := statsRef(back, raw)
	if err != nil || slow != demo.Stats() {
		t.Errorf("slow books: got %+v (%v) want %+v", slow, err, demo.Stats())
	}
}

// TestDemoAnswer compares the built-in trace with the numbers of the awk script.
func TestDemoAnswer(t *testing.T) {
	demo := Demo()
	s := demo.Stats()
	if s.Answer != demoAnswer {
		t.Errorf("got %+v want %+v", s.Answer, demoAnswer)
	}
	if s.TotalBytes != demoTotal {
		t.Errorf("total bytes: got %d want %d", s.TotalBytes, demoTotal)
	}
	if demo.Calls() != demoCalls || s.Ops != demoCalls+1 {
		t.Errorf("got %d calls in %d lines want %d in %d", demo.Calls(), s.Ops, demoCalls, demoCalls+1)
	}
	if s.Threads != len(demoThreads) || s.MaxAlign != 65536 || s.MaxRequest != 1536<<10 {
		t.Errorf("got %d threads, alignment %d, size %d", s.Threads, s.MaxAlign, s.MaxRequest)
	}
	if !testing.Short() && !debug.On { // TestRunDemo replays it in every build
		testReplay(t, demo, demoAnswer)
	}
}

// TestDemoHasAll: every effect that a kind can have occurs in the built-in trace, and so do the
// cases that the effect does not show.
func TestDemoHasAll(t *testing.T) {
	type pair struct {
		k Kind
		e Effect
	}
	seen := map[pair]int{}
	demo := Demo()
	zero, crossed, failedOld := map[Kind]int{}, 0, 0
	owner := make([]uint16, demo.Slots)
	for _, op := range demo.Ops {
		seen[pair{op.Kind(), op.Effect()}]++
		switch op.Effect() {
		case Get:
			owner[op.Slot] = op.Thread
		case Drop:
			if op.Kind() == Free && owner[op.Slot] != op.Thread {
				crossed++
			}
		case Nothing:
			if op.Kind() == Realloc && op.Slot != NoSlot {
				failedOld++
			}
		}
		if op.Size == 0 && (op.Effect() == Get || op.Effect() == Resize) {
			zero[op.Kind()]++
		}
	}
	for _, p := range []pair{
		{Malloc, Get}, {Malloc, Nothing}, {Calloc, Get}, {Calloc, Nothing}, {Memalign, Get}, {Memalign, Nothing},
		{Realloc, Get}, {Realloc, Resize}, {Realloc, Drop}, {Realloc, Nothing},
		{Free, Drop}, {Free, Nothing}, {ThreadDone, Nothing},
	} {
		if seen[p] == 0 {
			t.Errorf("got no %v with effect %d", p.k, p.e)
		}
	}
	if zero[Malloc] == 0 || zero[Calloc] == 0 || zero[Realloc] == 0 || zero[Memalign] == 0 {
		t.Errorf("size 0: got %v want some of each", zero)
	}
	if crossed < 100 || failedOld == 0 {
		t.Errorf("got %d frees across threads and %d failed reallocs of a block want 100 and 1", crossed, failedOld)
	}
}
