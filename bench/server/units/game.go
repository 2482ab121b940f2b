package units

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"quarry/bench/process"
	"quarry/bench/workload"
)

// side is a world that frames are played on. In a frame hits come first, then all units recover,
// move and heal, then those go that were removed or are dead, and those of Spawns come.
type side interface {
	spawn(units []unit) error
	kill(clients []uint32) error
	frame(e *events) (dead []uint32, err error) // valid until the next frame
	state() state
	full() sum        // of all components
	committed() int64 // bytes outside of the Go heap
	close() error
}

// state is a moment's units. It is read on another goroutine and ended on that of the world.
type state interface {
	read() sum
	end()
}

// Mode is what happens beside the frames.
type Mode string

const (
	Alone     Mode = "frame"
	Littered  Mode = "garbage" // the frame makes garbage
	Observed  Mode = "reader"  // a state in each twelfth frame is read on another goroutine
	Both      Mode = "both"    // garbage and a reader
	Spawning  Mode = "spawns"  // no frames: a thousand units are killed, not timed, and a thousand spawned
	Journaled Mode = "journal" // the frame ends with a commit
)

const (
	garbage     = 512 << 10 // bytes a frame
	garbageSize = 4 << 10
	spawned     = 1_000_000 // units, or as many as the world has
)

// Spec is the work of a child process.
type Spec struct {
	Side   string `json:"side"`
	Mode   Mode   `json:"mode"`
	Units  int    `json:"units"`
	Frames int    `json:"frames"`
	Fresh  bool   `json:"fresh"` // copies of states go to new memory
}

// Sample is what a child found. Times are in ns, memory in bytes above that before the world.
type Sample struct {
	Build    int64   `json:"build"`    // the first units, in batches of a thousand
	Spawn    int64   `json:"spawn"`    // as many, in a world that has been larger by them
	Resident int64   `json:"resident"` // before the first state
	End      int64   `json:"end"`      // resident at the end
	Peak     int64   `json:"peak"`
	Mean     int64   `json:"mean"` // of a frame
	P50      int64   `json:"p50"`
	P99      int64   `json:"p99"`
	State    int64   `json:"state"`    // the median of taking one
	CPU      int64   `json:"cpu"`      // of the process, in all frames
	Heap     int64   `json:"heap"`     // live on the Go heap at the end
	OffHeap  int64   `json:"off_heap"` // committed at the end
	GC       int64   `json:"gc"`       // of it, the collector's
	Deaths   int     `json:"deaths"`
	Last     sum     `json:"last"`
	Full     sum     `json:"full"`
	States   sum     `json:"states"`
	Journal  Records `json:"journal,omitzero"`
}

// Measure plays the frames of a side in a mode, in this process. Its error names a side that there
// is not, or that has no such mode; others are of memory and files.
func (sp Spec) Measure() (Sample, error) {
	base := process.Resident()
	var s side
	var err error
	switch {
	case sp.Side == PlainSide && sp.Mode != Journaled:
		s = newPlain(sp.Fresh)
	case sp.Side == PointersSide && sp.Mode != Journaled:
		s = newPointed()
	case sp.Side == ArkSide && sp.Mode != Journaled:
		s = newArk(sp.Fresh)
	case sp.Side == CommandsSide || sp.Side == DirectSide:
		if sp.Mode == Journaled {
			return measureJournal(sp)
		}
		s, err = newQuarry(sp.Side, nil)
	default:
		err = fmt.Errorf("no side %q with %q", sp.Side, sp.Mode)
	}
	if err != nil {
		return Sample{}, err
	}
	return play(s, sp, base, nil)
}

// game is a side that is played.
type game struct {
	side
	*script
	times  []int64
	taking []int64
	out    Sample
	reader chan sum // of the state that is read; nil: there is none
	read   state
	litter []byte // the last piece of garbage
}

// play builds a world and plays frames. commit, unless it is nil, ends each frame.
func play(s side, sp Spec, base int64, commit func() error) (out Sample, err error) {
	live := workload.LiveHeap()
	debug.FreeOSMemory()
	g := &game{side: s, script: newScript(sp.Units)}
	for units := g.first(); len(units) > 0; units = g.first() {
		start := time.Now()
		if err := g.spawn(units); err != nil {
			return out, err
		}
		g.out.Build += time.Since(start).Nanoseconds()
	}
	if commit != nil {
		if err := commit(); err != nil {
			return out, err
		}
	}
	if sp.Mode == Spawning {
		if err := g.respawn(sp.Units); err != nil {
			return out, err
		}
		g.out.Last, g.out.Full = g.sums()
		return g.out, s.close()
	}
	before := process.Read()
	for frame := range sp.Frames {
		if err := g.play(sp, int64(frame)+1, commit); err != nil {
			return out, err
		}
		if frame == StateEach-1 {
			g.out.Resident = process.Resident() - base
		}
		if (sp.Mode == Observed || sp.Mode == Both) && frame%StateEach == StateEach-1 {
			start := time.Now()
			g.take()
			g.times[len(g.times)-1] += time.Since(start).Nanoseconds()
		}
	}
	g.wait()
	use := process.Read().Since(before)
	g.out.CPU, g.out.GC = use.CPU.Nanoseconds(), use.GC.Nanoseconds()
	g.out.End, g.out.Peak = process.Resident()-base, process.Peak()-base
	g.out.Last, g.out.Full = g.sums()
	g.figures()
	g.out.Heap, g.out.OffHeap = workload.LiveHeap()-live, g.committed()
	return g.out, s.close()
}

// sums are those of the last state.
func (g *game) sums() (last, full sum) {
	s := g.state()
	defer s.end()
	return s.read(), g.full()
}

// respawn kills units and times the spawns that follow.
func (g *game) respawn(units int) error {
	for range min(spawned, units) / batch {
		e := g.redraw()
		if err := g.kill(e.Removed); err != nil {
			return err
		}
		start := time.Now()
		if err := g.spawn(e.Spawns); err != nil {
			return err
		}
		g.out.Spawn += time.Since(start).Nanoseconds()
		g.played(nil)
	}
	return nil
}

// play draws a frame, and times it.
func (g *game) play(sp Spec, frame int64, commit func() error) error {
	e := g.draw(frame)
	start := time.Now()
	if sp.Mode == Littered || sp.Mode == Both {
		for range garbage / garbageSize {
			g.litter = make([]byte, garbageSize)
		}
	}
	dead, err := g.frame(e)
	if err != nil {
		return err
	}
	if commit != nil {
		if err := commit(); err != nil {
			return err
		}
	}
	if len(g.reader) > 0 {
		g.wait()
	}
	g.times = append(g.times, time.Since(start).Nanoseconds())
	g.out.Deaths += len(dead)
	g.played(dead)
	return nil
}

// take hands the state of now to a reader, when the one before has been read.
func (g *game) take() {
	g.wait()
	start := time.Now()
	s := g.state()
	g.taking = append(g.taking, time.Since(start).Nanoseconds())
	done := make(chan sum, 1)
	g.read, g.reader = s, done
	go func() { done <- s.read() }()
}

// wait ends the state that is read, when its reader is done.
func (g *game) wait() {
	if g.reader == nil {
		return
	}
	s := <-g.reader
	g.out.States.Units += s.Units
	g.out.States.Mix += s.Mix
	g.read.end()
	g.read, g.reader = nil, nil
}

func (g *game) figures() {
	total := int64(0)
	for _, t := range g.times {
		total += t
	}
	g.out.Mean = total / int64(len(g.times))
	slices.Sort(g.times)
	g.out.P50, g.out.P99 = g.times[len(g.times)/2], g.times[len(g.times)*99/100]
	if len(g.taking) > 0 {
		slices.Sort(g.taking)
		g.out.State = g.taking[len(g.taking)/2]
	}
}
