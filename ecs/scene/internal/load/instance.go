package load

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"quarry/ecs"
	"quarry/ecs/scene/internal/section"
)

// State is scene.State.
type State uint8

// States of instances, in the order in which they come.
const (
	Reading State = iota
	Arriving
	Loaded
	Leaving
	Gone
	Failed
)

var stateNames = [...]string{"reading", "arriving", "loaded", "leaving", "gone", "failed"}

// String returns the name of the state.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Instance is scene.Instance.
type Instance struct {
	host     *Host
	Path     string
	Number   uint32
	State    State
	Err      error
	canceled atomic.Bool
	result   atomic.Pointer[result] // of the loader
	file     *opened
	handles  []ecs.Type   // by place in the file's names
	Entities []ecs.Entity // by local number; Null: not there yet
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
	links []section.Link
	to    *Instance // of the target
}

// Name is scene.Instance.Name.
func (i *Instance) Name() string {
	if i.file == nil {
		return ""
	}
	return i.file.name
}

// Entity is scene.Instance.EntityOf, of an Identity with these numbers.
func (i *Instance) Entity(object uint64, sub uint32) ecs.Entity {
	if i.State != Loaded {
		return ecs.Null
	}
	return i.find(object, sub)
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
	e := i.Entities[local]
	if id := i.host.types.Identity.Get(e); id == nil || id.Object != object || id.Sub != sub {
		return ecs.Null
	}
	return e
}

// Unload is scene.Instance.Unload.
func (i *Instance) Unload() {
	if i.State < Leaving {
		i.stop()
		i.State, i.part, i.jobs = Leaving, 0, nil
	}
}

// read runs a loader.
func (i *Instance) read(open func() (*opened, error)) {
	h := i.host
	if err := h.readers.begin(h.w.Universe()); err != nil {
		i.result.Store(&result{nil, fmt.Errorf("%s: %w", i.Path, err)})
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
			file, err = nil, fmt.Errorf("%s: the loader panicked: %v", i.Path, p)
		}
	}()
	return open()
}

// stop ends the loader's work: the instance is no longer wanted.
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
	i.Err = errors.Join(err, i.end())
	i.State = Failed
}

// step does the next step of an instance.
func (i *Instance) step(must bool, left time.Duration) progress {
	switch i.State {
	case Reading:
		r := i.result.Swap(nil)
		if r == nil {
			return idle
		}
		if r.err != nil {
			i.leave()
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
	h.gone = append(h.gone, i.Number)
	for n, other := range h.Instances {
		if other == i {
			h.Instances = append(h.Instances[:n:n], h.Instances[n+1:]...)
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
			i.Err = r.file.close()
		}
		i.leave()
		i.State = Gone
		return did
	}
	if i.part < len(i.file.parts) {
		if !i.host.fits(leaving, 1, must, left) {
			return later
		}
		begun := time.Now()
		i.destroyPart(i.part)
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
			i.Err = r.file.close()
		}
	}
	section := i.file.section
	if err := i.end(); err != nil {
		i.Err = err
	}
	i.leave()
	i.State, i.Entities = Gone, nil
	for _, other := range i.host.Instances { // links lead to the next instance of the section
		if other.State == Loaded && other.file.section == section {
			other.leadHere()
			break
		}
	}
	return did
}

// destroyPart destroys the entities of a part.
func (i *Instance) destroyPart(part int) {
	h := i.host
	q := ecs.NewQuery(h.w, ecs.Where(h.types.Tag.Of(i.Number, uint32(part))), ecs.IncludeDisabled(),
		ecs.IncludePrefabs())
	defer q.Close()
	h.w.DestroyQuery(q)
}

// clear destroys all that has arrived.
func (i *Instance) clear() {
	for part := range i.file.parts {
		i.destroyPart(part)
	}
}
