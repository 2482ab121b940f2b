package fuzz

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"quarry/alloc"
	"quarry/mmap"
)

// What the universe driver expects of memory that returns to the system.

func (d *universe) isEmpty(g int) bool {
	return !slices.Contains(d.inUse[g*granuleChunks:(g+1)*granuleChunks], true)
}

// trimmed applies a trim to the model: of the granules that hold memory and no chunk in use, the
// lowest keep stay.
func (d *universe) trimmed(keep int) (returned int) {
	for g := range d.ready {
		empty := d.ready[g] && d.isEmpty(g)
		d.noted[g] = empty
		if !empty {
			d.since[g] = time.Time{}
			continue
		}
		if keep > 0 {
			keep--
			continue
		}
		returned += d.giveBack(g)
	}
	return returned
}

func (d *universe) trim(r record) error {
	keep := int(r.n % 4)
	got, err := d.u.Trim(keep<<21 + int(r.who))
	want := d.trimmed(keep)
	for g := range d.ready {
		if d.ready[g] && !d.isEmpty(g) {
			want += d.discard(g, false)
		}
	}
	if err != nil || got != want {
		return fmt.Errorf("Trim(%d granules): got %d bytes, %v, want %d", keep, got, err, want)
	}
	return nil
}

// maintain moves the clock forward and lets the universe return memory that was empty for the
// delay.
func (d *universe) maintain(r record) error {
	d.now = d.now.Add(time.Duration(r.n%40) * time.Minute)
	want := 0
	for g := range d.ready {
		switch {
		case !d.noted[g]:
			continue
		case !d.isEmpty(g):
			d.noted[g], d.since[g] = false, time.Time{}
			continue
		case d.since[g].IsZero():
			d.since[g] = d.now
		}
		if d.now.Sub(d.since[g]) >= d.delay {
			want += d.giveBack(g)
		}
	}
	want += d.lookForIdle()
	got, err := d.u.Maintain(d.now)
	if err != nil || got != want {
		return fmt.Errorf("in Maintain at %v: got %d bytes, %v, want %d", d.now, got, err, want)
	}
	return nil
}

// givesParts reports whether this system gives back less than a granule.
var givesParts = mmap.Real && runtime.GOOS != "windows" && mmap.PageSize() <= alloc.ChunkSize

// memoryOf returns the bytes of memory that a ready granule has.
func (d *universe) memoryOf(g int) int {
	n := granuleChunks * alloc.ChunkSize
	for _, gone := range d.gone[g*granuleChunks : (g+1)*granuleChunks] {
		if gone {
			n -= alloc.ChunkSize
		}
	}
	return n
}

// giveBack gives back a whole granule.
func (d *universe) giveBack(g int) (returned int) {
	returned = d.memoryOf(g)
	d.ready[g], d.noted[g], d.since[g] = false, false, time.Time{}
	clear(d.gone[g*granuleChunks : (g+1)*granuleChunks])
	if d.idle != nil {
		clear(d.idle[g*granuleChunks : (g+1)*granuleChunks])
	}
	return returned
}

// discard gives back the free chunks of a granule, or those that were free at the last look.
func (d *universe) discard(g int, idle bool) (returned int) {
	if !givesParts {
		return 0
	}
	for c := g * granuleChunks; c < (g+1)*granuleChunks; c++ {
		if !d.inUse[c] && !d.gone[c] && (!idle || d.idle[c]) {
			d.gone[c] = true
			returned += alloc.ChunkSize
		}
	}
	return returned
}

// lookForIdle is Maintain's look at chunks beside chunks in use.
func (d *universe) lookForIdle() (returned int) {
	const leastIdle = 16
	if d.idle == nil && d.delay > 0 {
		d.idle = make([]bool, len(d.inUse))
		d.looked = d.now.Add(-d.delay)
	}
	if d.delay > 0 && d.now.Sub(d.looked) < d.delay {
		return 0
	}
	d.looked = d.now
	for g := range d.ready {
		idle := 0
		for c := g * granuleChunks; c < (g+1)*granuleChunks && d.delay > 0; c++ {
			if d.ready[g] && d.idle[c] && !d.inUse[c] && !d.gone[c] {
				idle++
			}
		}
		if d.ready[g] && !d.isEmpty(g) && (d.delay == 0 || idle >= leastIdle) {
			returned += d.discard(g, d.delay > 0)
		}
		for c := g * granuleChunks; c < (g+1)*granuleChunks && d.delay > 0; c++ {
			d.idle[c] = d.ready[g] && !d.inUse[c]
		}
	}
	return returned
}
