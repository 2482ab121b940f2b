package fuzz

import (
	"fmt"
	"slices"
	"time"

	"quarry/alloc"
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
		d.ready[g], d.noted[g], d.since[g] = false, false, time.Time{}
		returned += granuleChunks * alloc.ChunkSize
	}
	return returned
}

func (d *universe) trim(r record) error {
	keep := int(r.n % 4)
	got, err := d.u.Trim(keep<<21 + int(r.who))
	if want := d.trimmed(keep); err != nil || got != want {
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
			d.ready[g], d.noted[g], d.since[g] = false, false, time.Time{}
			want += granuleChunks * alloc.ChunkSize
		}
	}
	got, err := d.u.Maintain(d.now)
	if err != nil || got != want {
		return fmt.Errorf("in Maintain at %v: got %d bytes, %v, want %d", d.now, got, err, want)
	}
	return nil
}
