package world

import (
	"sync"
	"sync/atomic"
)

// Recordings are what names entities of a world now and uses them later: command buffers. When
// World.Restore puts the world back, the IDs that came since the snapshot are free, and come again
// for other entities. So each recording notes in which era it named entities, and Restore passes to
// those that named some since the snapshot the IDs that the world had then:
//
//	snapshot A       names         restore to A        names
//	era 0       -->  1              --> 2               2
//	                 Judge{Since: 0, Until: 1, what A had}
//
// Goroutines: any may call Era, Watch and Forget; Snapshot and Restored belong to the world's
// owner.
type Recordings struct {
	era atomic.Uint64
	mu  sync.Mutex
	all map[*Recording]bool
}

// Recording is one of them. The zero value is ready.
type Recording struct {
	named  atomic.Uint64 // latest era in which it named entities
	judges []Judge       // by Restored; guarded by Recordings.mu
}

// Judge reports whether an ID that was named in an era after Since, up to Until, is still what was
// named: Versions has, by index, the version of the ID that the world had, or 0.
type Judge struct {
	Since, Until uint64
	Versions     []uint32
}

// Era returns the current era.
func (rs *Recordings) Era() uint64 { return rs.era.Load() }

// Snapshot ends an era, and returns it: the world at its end is that of a snapshot.
func (rs *Recordings) Snapshot() uint64 { return rs.era.Add(1) - 1 }

// Watch notes that a recording has named an entity in an era.
func (rs *Recordings) Watch(r *Recording, era uint64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.all == nil {
		rs.all = map[*Recording]bool{}
	}
	rs.all[r] = true
	r.named.Store(max(r.named.Load(), era))
}

// Forget removes a recording that was dropped or played.
func (rs *Recordings) Forget(r *Recording) {
	if r.named.Load() == 0 {
		return // as nearly always: no snapshot was alive
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	delete(rs.all, r)
	r.named.Store(0)
	r.judges = nil
}

// Restored ends an era: the world was put back to the end of era since. versions returns its
// present versions, as in Judge.
func (rs *Recordings) Restored(since uint64, versions func() []uint32) {
	until := rs.era.Add(1) - 1
	rs.mu.Lock()
	defer rs.mu.Unlock()
	var has []uint32
	for r := range rs.all {
		if r.named.Load() > since {
			if has == nil {
				has = versions()
			}
			r.note(Judge{since, until, has})
		}
	}
}

// note adds a judge, or extends the one of the same snapshot.
func (r *Recording) note(j Judge) {
	for i := range r.judges {
		if r.judges[i].Since == j.Since {
			r.judges[i] = j
			return
		}
	}
	r.judges = append(r.judges, j)
}

// Judges returns the judges of a recording.
func (rs *Recordings) Judges(r *Recording) []Judge {
	if r.named.Load() == 0 {
		return nil
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return r.judges
}

// Has reports whether an ID is still what was named in an era, as far as the judge knows.
func (j *Judge) Has(index int, version uint32, era uint64) bool {
	return era <= j.Since || era > j.Until || index < len(j.Versions) && j.Versions[index] == version
}
