package scene

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"quarry/ecs"
)

// State is how far an instance is.
type State uint8

// States of instances, in the order in which they come. Failed and Gone are ends.
const (
	Reading  State = iota // a loader reads the file
	Arriving              // parts move into the world, hidden if there are several
	Loaded                // all is there
	Leaving               // parts are destroyed
	Gone                  // unloaded
	Failed                // Err says why; the world has nothing of it
)

var stateNames = [...]string{"reading", "arriving", "loaded", "leaving", "gone", "failed"}

// String returns reading, arriving, loaded, leaving, gone or failed.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Instance is a section that is loaded, or was, or will be.
type Instance struct {
	host     *Host
	path     string
	number   uint32
	state    State
	err      error
	canceled atomic.Bool
	result   atomic.Pointer[result] // of the loader
	file     *opened
	handles  []ecs.Type   // by place in the file's names
	entities []ecs.Entity // by local number; Null: not there yet
	part     int          // the next to move, or to destroy
	jobs     []patching
	reload   *reloading
}

// result is what a loader found.
type result struct {
	file *opened
	err  error
}

// patching is links of an instance that are to be set.
type patching struct {
	from  *Instance
	links []link
	to    *Instance // of the target
}

// Path returns the path of the file.
func (i *Instance) Path() string { return i.path }

// Number returns the number in the Tag of the instance's entities.
func (i *Instance) Number() uint32 { return i.number }

// State returns how far the instance is. It changes in Update alone.
func (i *Instance) State() State { return i.state }

// Err returns why the instance has failed, or why the last Reload has, and nil otherwise. It wraps
// image.ErrFile of a damaged file, image.ErrTypes, ErrSection, ErrHost, a *ecs.LimitError or the
// system's error.
func (i *Instance) Err() error { return i.err }

// Name returns the name of the section, and "" while it is read.
func (i *Instance) Name() string {
	if i.file == nil {
		return ""
	}
	return i.file.name
}

// Len returns how many entities the file has, and 0 while it is read.
func (i *Instance) Len() int { return len(i.entities) }

// Entity returns the entity of an object, or Null if the instance is not loaded, has none, or it is
// dead. Cost: a binary search.
func (i *Instance) Entity(object string) ecs.Entity {
	return i.EntityOf(Identity{Object: ObjectID(object)})
}

// EntityOf returns the entity with an Identity, of which Local does not count; see Entity.
func (i *Instance) EntityOf(id Identity) ecs.Entity {
	if i.state != Loaded {
		return ecs.Null
	}
	return i.find(id.Object, id.Sub)
}

func (i *Instance) find(object uint64, sub uint32) ecs.Entity {
	if i.file == nil { // the host is closed
		return ecs.Null
	}
	n := i.file.local(object, sub)
	if n < 0 {
		return ecs.Null
	}
	return i.at(n, object, sub)
}

// at returns the entity with a local number, or Null if it is not that with an Identity any more:
// after World.Restore or Clear its id may be that of another one.
func (i *Instance) at(local int, object uint64, sub uint32) ecs.Entity {
	e := i.entities[local]
	if id := i.host.types.identity.Get(e); id == nil || id.Object != object || id.Sub != sub {
		return ecs.Null
	}
	return e
}

// Unload begins to unload the instance: Update destroys all entities with its Tag, whatever has
// become of them, so one that the game takes over loses its Tag first. Copies that Instantiate
// makes of them have the Tag too. An instance that is being read is stopped. It does nothing for
// one that is leaving or at its end.
func (i *Instance) Unload() {
	if i.state < Leaving {
		i.stop()
		i.state, i.part, i.jobs = Leaving, 0, nil
	}
}

// read runs a loader.
func (i *Instance) read(open func() (*opened, error)) {
	h := i.host
	if err := h.readers.begin(h.w.Universe()); err != nil {
		i.result.Store(&result{nil, fmt.Errorf("%s: %w", i.path, err)})
		return
	}
	h.loading.Go(func() {
		defer h.readers.running.Add(-1)
		h.slots <- struct{}{}
		defer func() { <-h.slots }()
		if i.canceled.Load() {
			i.result.Store(&result{})
			return
		}
		file, err := i.guarded(open)
		i.result.Store(&result{file, err})
		if i.canceled.Load() { // who takes the result closes it
			if r := i.result.Swap(nil); r != nil && r.file != nil {
				_ = r.file.close()
			}
			i.result.Store(&result{})
		}
	})
}

// guarded calls what a loader does. Panics are errors there: of the function that registers types,
// and of a world whose universe was closed with that of the host.
func (i *Instance) guarded(open func() (*opened, error)) (file *opened, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("%s: the loader panicked: %v", i.path, p)
		}
	}()
	return open()
}

// stop tells the loader that nobody waits.
func (i *Instance) stop() { i.canceled.Store(true) }

// end closes what a loader has made, if it is done.
func (i *Instance) end() (err error) {
	if r := i.result.Swap(nil); r != nil && r.file != nil {
		err = r.file.close()
	}
	if i.file != nil {
		err = errors.Join(err, i.file.close())
	}
	i.file, i.reload = nil, nil
	return err
}

// fail ends the instance with an error.
func (i *Instance) fail(err error) {
	i.stop()
	i.err = errors.Join(err, i.end())
	i.state = Failed
}

// step does the next step of an instance.
func (i *Instance) step(must bool, left time.Duration) progress {
	switch i.state {
	case Reading:
		r := i.result.Swap(nil)
		if r == nil {
			return idle
		}
		if r.err != nil {
			i.leave()
			// errors.md: `scene: ...: ...` | A section could not be loaded: its file is not there,
			// damaged, of other types, or there is no memory. | What it says; the world has
			// nothing of it.
			i.fail(fmt.Errorf("scene: %w", r.err))
			return did
		}
		i.arrive(r.file)
		return did
	case Arriving:
		if i.part < len(i.file.parts) {
			return i.move(must, left)
		}
		if p := i.setLinks(must, left); p != idle {
			return p
		}
		return i.show(must, left)
	case Loaded:
		if p := i.setLinks(must, left); p != idle {
			return p
		}
		return i.stepReload()
	case Leaving:
		return i.destroy(must, left)
	}
	return idle
}

// leave takes the instance off the host's list.
func (i *Instance) leave() {
	h := i.host
	h.gone = append(h.gone, i.number)
	for n, other := range h.instances {
		if other == i {
			h.instances = append(h.instances[:n:n], h.instances[n+1:]...)
			return
		}
	}
}

// destroy destroys a part, unless that is expected to take more time than is left, or ends the
// instance.
func (i *Instance) destroy(must bool, left time.Duration) progress {
	if i.file == nil { // it was never read: the loader may be at it
		r := i.result.Swap(nil)
		if r == nil {
			return idle
		}
		if r.file != nil {
			i.err = r.file.close()
		}
		i.leave()
		i.state = Gone
		return did
	}
	if i.part < len(i.file.parts) {
		if !i.host.fits(leaving, 1, must, left) {
			return later
		}
		begun := time.Now()
		if err := i.destroyPart(i.part); err != nil {
			i.err = err
		}
		i.host.paces[leaving].note(time.Since(begun), 1)
		i.part++
		return did
	}
	if i.reload != nil { // a loader is at it
		r := i.result.Swap(nil)
		if r == nil {
			return idle
		}
		if i.reload = nil; r.file != nil {
			i.err = r.file.close()
		}
	}
	section := i.file.section
	if err := i.end(); err != nil {
		i.err = err
	}
	i.leave()
	i.state, i.entities = Gone, nil
	for _, other := range i.host.instances { // links lead to the next instance of the section
		if other.state == Loaded && other.file.section == section {
			other.leadHere()
			break
		}
	}
	return did
}

// destroyPart destroys the entities of a part.
func (i *Instance) destroyPart(part int) error {
	h := i.host
	q := ecs.NewQuery(h.w, ecs.Where(h.types.tag.Of(Tag{i.number, uint32(part)})), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer q.Close()
	h.w.DestroyQuery(q)
	return nil
}

// clear destroys all that has arrived.
func (i *Instance) clear() error {
	for part := range i.file.parts {
		if err := i.destroyPart(part); err != nil {
			return err
		}
	}
	return nil
}
