package city

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// city is a city of either side.
type city interface {
	// load and unload record that a tile is to be loaded, or unloaded.
	load(tile)
	unload(tile)
	// update goes on with both and reports whether there is more to do.
	update(budget time.Duration) bool
	// there reports whether all of a tile is there, or why it cannot be.
	there(tile) (bool, error)
	// loaded returns how many tiles are there.
	loaded() int
	// work is what the game does in a frame: it adds up all heights.
	work() float64
	answer() (answer, error)
	close() error
}

// budget is what a frame has for loading.
const budget = time.Millisecond

// flight is a flight over a city.
type flight struct {
	city     city
	frames   int
	rate     int             // frames a second
	wanted   map[tile]int    // the tiles that are to be loaded, and the frame of the request; -1: it is there
	loading  spells          // by frame: load, unload and update
	control  spells          // by frame: a loop that reads the clock for the budget
	working  []time.Duration // by frame: work
	sum      float64         // of heights
	waits    []int           // frames until a tile was there
	asked    int             // tiles
	cycles   uint32          // of the garbage collector
	pauses   time.Duration   // that it stopped the world for
	alloced  uint64          // bytes of the Go heap
	duration time.Duration
}

// fly flies, and settles at the end.
func (f *flight) fly(tick func()) error {
	runtime.LockOSThread() // whose processor time is looked at
	defer runtime.UnlockOSThread()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f.wanted = map[tile]int{}
	f.loading, f.control, f.working = make(spells, 0, f.frames), make(spells, 0, f.frames),
		make([]time.Duration, 0, f.frames)
	f.steer(0)
	if err := f.settle(); err != nil { // the start is not part of the flight
		return err
	}
	f.asked, f.waits = 0, nil
	period := time.Second / time.Duration(f.rate)
	begin := time.Now()
	for frame := range f.frames {
		time.Sleep(time.Until(begin.Add(time.Duration(frame) * period)))
		start, before := time.Now(), threadUsage()
		f.steer(frame)
		f.city.update(budget)
		f.loading = append(f.loading, spell{time.Since(start), threadUsage().since(before)})
		start = time.Now()
		f.sum += f.city.work()
		f.working = append(f.working, time.Since(start))
		f.control = append(f.control, spin(budget))
		if err := f.look(frame); err != nil {
			return err
		}
		tick()
	}
	f.duration = time.Since(begin)
	runtime.ReadMemStats(&after)
	f.cycles, f.pauses = after.NumGC-before.NumGC, time.Duration(after.PauseTotalNs-before.PauseTotalNs)
	f.alloced = after.TotalAlloc - before.TotalAlloc
	return f.settle()
}

// steer loads the sections near the camera and unloads the others.
func (f *flight) steer(frame int) {
	near := camera(frame, f.frames).near()
	for t := range f.wanted {
		if !slices.Contains(near, t) {
			f.city.unload(t)
			delete(f.wanted, t)
		}
	}
	for _, t := range near {
		if _, is := f.wanted[t]; !is {
			f.city.load(t)
			f.wanted[t] = frame
			f.asked++
		}
	}
}

// look notes which tiles have come to be there.
func (f *flight) look(frame int) error {
	if n := f.city.loaded(); n > around {
		return fmt.Errorf("city: %d tiles are there in frame %d, expected %d at most", n, frame, around)
	}
	for t, asked := range f.wanted {
		if asked < 0 {
			continue
		}
		switch is, err := f.city.there(t); {
		case err != nil:
			return fmt.Errorf("city: %s: %w", t.name(), err)
		case is:
			f.waits = append(f.waits, frame-asked+1)
			f.wanted[t] = -1
		}
	}
	return nil
}

// settle waits until all is there.
func (f *flight) settle() error {
	for f.city.update(0) {
		for t := range f.wanted {
			if _, err := f.city.there(t); err != nil {
				return fmt.Errorf("city: %s: %w", t.name(), err)
			}
		}
		time.Sleep(100 * time.Microsecond)
	}
	return f.look(f.frames)
}
