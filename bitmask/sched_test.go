//go:build bitmask_sched

package bitmask

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// A deterministic scheduler. Each goroutine of a program is a coroutine that
// stops before every access to an atomic word (atomic_sched.go), so a program
// makes exactly one access per turn and the order of turns decides everything.
// The explorer runs the program again and again from its start, each time with
// another order, until it has been in every reachable state; a state is all
// memory, what each goroutine has read in its present call, and the history so
// far: results, and which calls were over before which began. After each run the
// history is checked against the sequential model (sched_model_test.go).
//
// Orders that meet in the same state are followed once. Two orders with the same
// hash of 64 bits would be taken for one: with a million states the odds are one
// in thirty million.

// call is one call that a goroutine of a program makes.
type call struct {
	kind  kind
	at, n int // at: for allocAt and free
}

type kind uint8

const (
	alloc    kind = iota // claim n units wherever they are
	allocAt              // claim the n units from at on
	free                 // free the n units from at on
	freeMine             // free what the goroutine's last alloc got; no call if it got nothing
	look                 // read word at
)

// outcome is one call of a history.
type outcome struct {
	call
	id     int    // place in the history's order of starts
	over   uint64 // bit i set: outcome i was over before this call made its first access
	got    int    // offset that alloc returned
	saw    uint64 // mask that a call on a Word returned
	ok     bool
	ended  bool
	thread int
}

func (o outcome) String() string {
	switch o.kind {
	case alloc:
		return fmt.Sprintf("g%d alloc(%d)=%d,%v", o.thread, o.n, o.got, o.ok)
	case allocAt:
		return fmt.Sprintf("g%d allocAt(%d,%d)=%v", o.thread, o.at, o.n, o.ok)
	case look:
		return fmt.Sprintf("g%d look(%d)=%#x", o.thread, o.at, o.saw)
	}
	return fmt.Sprintf("g%d free(%d,%d)=%v", o.thread, o.at, o.n, o.ok)
}

// system is what a program works on: a Word or a Hierarchy.
type system interface {
	do(c call, o *outcome)
	cells() iter.Seq[*atomicWord] // all memory, the words that hold the truth first
	truth() int                   // how many those are
	verify() error
}

// program is a system to begin with and the calls of each goroutine.
type program struct {
	name    string
	start   func() system
	threads [][]call
}

// runner is one run of a program.
type runner struct {
	sys     system
	threads []*thread
	current *thread
	history []*outcome
	over    uint64 // bit i set: outcome i has ended
}

type thread struct {
	id    int
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	done  bool
	now   *outcome // the call under way
	reads uint64   // hash of what it has read so far in that call
}

// begin starts a run: every goroutine stands before its first access.
func begin(p program) *runner {
	turn = nil
	r := &runner{sys: p.start()}
	for id, calls := range p.threads {
		t := &thread{id: id}
		t.next, _ = iter.Pull(func(yield func(struct{}) bool) {
			t.yield = yield
			r.body(t, calls)
		})
		r.threads = append(r.threads, t)
	}
	turn = func() func(uint64) {
		t := r.current
		t.yield(struct{}{})
		if !slices.Contains(r.history, t.now) {
			t.now.id, t.now.over = len(r.history), r.over
			r.history = append(r.history, t.now)
		}
		return func(v uint64) { t.reads = mix(t.reads, v) }
	}
	for id := range r.threads {
		r.step(id)
	}
	return r
}

func (r *runner) body(t *thread, calls []call) {
	got, n, ok := 0, 0, false
	for _, c := range calls {
		if c.kind == freeMine {
			if !ok {
				continue
			}
			c = call{free, got, n}
		}
		o := &outcome{call: c, thread: t.id}
		t.now, t.reads = o, 0
		r.sys.do(c, o)
		o.ended = true
		r.over |= 1 << uint(o.id)
		if c.kind == alloc {
			got, n, ok = o.got, c.n, o.ok
		}
	}
	t.done = true
}

// step lets one goroutine make one access and run up to its next.
func (r *runner) step(id int) {
	r.current = r.threads[id]
	r.current.next()
}

// ready returns the goroutines that have an access to make.
func (r *runner) ready() []int {
	var ids []int
	for id, t := range r.threads {
		if !t.done {
			ids = append(ids, id)
		}
	}
	return ids
}

// abandon lets all goroutines run out, in no order that matters.
func (r *runner) abandon() {
	turn = nil
	for id, t := range r.threads {
		for !t.done {
			r.step(id)
		}
	}
}

// state returns the hash of where the run stands.
func (r *runner) state() uint64 {
	h := uint64(1)
	for cell := range r.sys.cells() {
		h = mix(h, cell.v.Load())
	}
	for _, t := range r.threads {
		h = mix(h, t.reads)
		for _, o := range r.history {
			if o.thread != t.id {
				continue
			}
			h = mix(h, o.before(r.history))
			if o.ended {
				h = mix(mix(h, uint64(o.got)), o.saw<<1|bit(o.ok))
			}
		}
		h = mix(h, bit(t.done)<<8|uint64(t.id))
	}
	return h
}

// before returns which calls were over before o began, in terms that do not
// depend on the order in which unrelated calls began: how many of each
// goroutine.
func (o *outcome) before(history []*outcome) uint64 {
	count := uint64(0)
	for _, p := range history {
		if o.over>>uint(p.id)&1 != 0 {
			count += 1 << uint(8*p.thread)
		}
	}
	return count
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// mix adds v to the hash h (the finisher of SplitMix64).
func mix(h, v uint64) uint64 {
	h = (h ^ v) + 0x9E3779B97F4A7C15
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	return h ^ h>>31
}

// explored is what came of all orders of one program.
type explored struct {
	runs    int    // runs followed to their end
	states  int    // states with more than one goroutine ready
	failure string // the first order that the model refused; empty if none
}

// explore runs p in every order. With merge false it follows each order to its
// end even if it meets a state a second time.
func explore(p program, merge bool) (found explored) {
	type choice struct {
		options []int
		pick    int
	}
	defer func() { turn = nil }()
	seen := map[uint64]bool{}
	var path []choice
	for {
		r := begin(p)
		initial := r.truth()
		met := false
		var order strings.Builder
		for depth := 0; ; {
			ids := r.ready()
			if len(ids) == 0 {
				break
			}
			id := ids[0]
			if len(ids) > 1 {
				if depth == len(path) {
					if s := r.state(); merge && seen[s] {
						met = true
						break
					} else if merge {
						seen[s] = true
					}
					path = append(path, choice{options: ids})
					found.states++
				}
				id = path[depth].options[path[depth].pick]
				depth++
			}
			fmt.Fprintf(&order, "%d", id)
			r.step(id)
		}
		if met {
			r.abandon()
		} else {
			found.runs++
			turn = nil
			if why := r.judge(initial); why != "" {
				found.failure = fmt.Sprintf("%s, order %s: %s\n%v", p.name, order.String(), why, r.history)
				return found
			}
		}
		for len(path) > 0 && path[len(path)-1].pick+1 == len(path[len(path)-1].options) {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return found
		}
		path[len(path)-1].pick++
	}
}

// truth returns the words of the units in use.
func (r *runner) truth() []uint64 {
	var words []uint64
	for cell := range r.sys.cells() {
		if len(words) == r.sys.truth() {
			break
		}
		words = append(words, cell.v.Load())
	}
	return words
}

// judge returns what is wrong with a run that has ended, or "".
func (r *runner) judge(initial []uint64) string {
	if err := r.sys.verify(); err != nil {
		return "at rest: " + err.Error()
	}
	if !linearizable(r.history, initial, r.truth(), r.sys) {
		return "no order of the calls explains the results"
	}
	return ""
}
