package scene

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/internal/door"
)

// Loading. A loader reads and checks a section's file in a goroutine of its own, as a world in the
// host's universe; Update moves its parts into the host's world, where the chunks stay in place:
//
//	file --loader--> world of its own --Update--> parts, hidden --Update--> links --> shown
//
// Invariants, checked by Verify:
//
//	S5 Entities with the tag of an instance are those of the instance; each entity of a loaded
//	   instance that lives has the Identity by which it is known.
//	S6 No entity with the tag of an instance of the host that is gone is there.

// errors.md: `ErrHost` | The host or its world was closed while the section was on its way. |
// Nothing: the world has nothing of it.

// ErrHost is wrapped by the error of an instance that ended because its host or its world was
// closed.
var ErrHost = errors.New("the host is closed")

// loaders is how many files are read at a time.
const loaders = 2

// Host is a world whose sections come and go. It belongs to the world's owner, as do its instances.
type Host struct {
	w         *ecs.World
	types     types
	register  func(*ecs.World)
	options   []image.Option
	live      bool
	check     func(*ecs.World) error // of a section's world, in a loader; may be nil
	instances []*Instance            // that are not gone, in the order of Load
	numbers   *numbers               // of the world's instances
	gone      []uint32               // those of this host's that were unloaded or failed
	byName    map[string]ecs.Type
	slots     chan struct{}
	loading   sync.WaitGroup
	readers   readers
	paces     [works]pace    // of steps
	moved     ecs.MoveResult // of the last part, for reuse
	patch     patch
	run       []nthTo // of the value whose links are being set
	closed    bool
}

// NewHost returns the host of a world. The function registers types in the worlds that loaders read
// files into, as that of image.Open does, and is called here for w; loaders call it in goroutines
// of their own. Options are those of image.Load about types that have changed. It panics if the
// world or the function is nil, and like ecs.Register.
func NewHost(w *ecs.World, registerTypes func(*ecs.World), options ...image.Option) *Host {
	if w == nil || registerTypes == nil {
		// errors.md: `scene: NewHost: the world or the function that registers types is nil` | One
		// of them is missing. | Pass the function that the world's own types are registered by.
		panic("scene: NewHost: the world or the function that registers types is nil")
	}
	registerTypes(w)
	own := register(w)
	return &Host{w: w, types: own, numbers: numbersOf(w, own), register: registerTypes, options: options, byName: map[string]ecs.Type{}, slots: make(chan struct{}, loaders)}
}

// LiveLink makes the host keep what files had, so that Instance.Reload can tell what has changed in
// them. It takes the memory of the sections once more. Call it before Load.
func (h *Host) LiveLink() { h.live = true }

// Check makes loaders call a function with the world of each section that they have read, before it
// moves; several at once may. Its error fails the section. It serves what only the game can tell,
// as whether blobs are sound: blob.NewStore. Call it before Load; nil ends it.
func (h *Host) Check(check func(section *ecs.World) error) { h.check = check }

// Load begins to load the section whose file is at a path, and returns at once; Update goes on with
// it. A section may be loaded several times: each is an instance of its own. It is for files of
// strangers, which image.Load checks, up to their values: Check sees those. It panics if the host
// or its world is closed.
func (h *Host) Load(path string) *Instance {
	if h.closed || h.w.Closed() {
		// errors.md: `scene: Host.Load: the host or its world is closed` | A section is asked for
		// after `Host.Close` or `World.Close`. | Load before.
		panic("scene: Host.Load: the host or its world is closed")
	}
	i := &Instance{host: h, path: path, number: h.numbers.take(), state: Reading}
	h.instances = append(h.instances, i)
	i.read(func() (*opened, error) {
		return h.open(path, i.number)
	})
	return i
}

// Instances returns the instances that are not gone, in the order of Load.
func (h *Host) Instances() []*Instance { return append([]*Instance(nil), h.instances...) }

// Entity returns the entity of an object that is in a loaded section, or Null; of several instances
// the first loaded.
func (h *Host) Entity(object string) ecs.Entity {
	for _, i := range h.instances {
		if i.state == Loaded {
			if e := i.Entity(object); e != ecs.Null {
				return e
			}
		}
	}
	return ecs.Null
}

// Update goes on with what loads and unloads, for about the time of the budget, and reports whether
// there is more to do. A budget of 0 or less has no limit. A call does a step at least, if one is
// ready: it moves a part, of up to 8,192 entities, destroys one, sets 256 links, or shows the
// entities of a section. It does a further step if that is expected to fit what is left, by how
// long those before took. The call is a structural change, and panics inside a loop over rows. It
// does not wait for loaders: a loop that does nothing else leaves them no time where a program has
// one thread (js), so it sleeps.
func (h *Host) Update(budget time.Duration) (more bool) {
	begun := time.Now()
	for first := true; ; first = false {
		left := budget - time.Since(begun)
		if !first && budget > 0 && left <= 0 {
			return true
		}
		switch h.step(first || budget <= 0, left) {
		case idle:
			return h.unsettled()
		case later:
			return true
		}
	}
}

// unsettled reports whether something is under way.
func (h *Host) unsettled() bool {
	h.readers.rest()
	if h.readers.u != nil {
		return true
	}
	for _, i := range h.instances {
		if i.state != Loaded || i.reload != nil || len(i.jobs) > 0 {
			return true
		}
	}
	return false
}

// progress says what a step did.
type progress uint8

const (
	idle  progress = iota // nothing was ready
	did                   // a step
	later                 // the next step would take more than is left
)

// step does one step: of what unloads first.
func (h *Host) step(must bool, left time.Duration) progress {
	if h.w.Closed() {
		h.abandon()
		return idle
	}
	for _, i := range h.instances {
		if i.state == Leaving {
			if p := i.step(must, left); p != idle {
				return p
			}
		}
	}
	wait := false // sections arrive in the order of Load, however long each takes to read
	for _, i := range h.instances {
		arrives := i.state <= Arriving
		if i.state == Leaving || arrives && wait {
			continue
		}
		wait = wait || arrives
		if p := i.step(must, left); p != idle {
			return p
		}
	}
	return idle
}

// abandon ends all instances of a closed world. Loaders that compare have files of instances.
func (h *Host) abandon() {
	for _, i := range h.instances {
		i.stop()
	}
	h.loading.Wait()
	h.readers.rest()
	for _, i := range h.instances {
		i.fail(fmt.Errorf("scene: %s: %w", i.path, ErrHost))
	}
	h.instances = nil
}

// Close ends the loading of sections and waits for loaders. What is loaded stays in the world and
// no longer knows its host; what has arrived in part, or is leaving, is destroyed. Close the host
// before the world, which cannot give its universe back otherwise. A second call does nothing.
func (h *Host) Close() error {
	if h.closed {
		return nil
	}
	h.closed = true
	var err error
	for _, i := range h.instances {
		if i.state != Loaded {
			i.stop()
		}
	}
	h.loading.Wait()
	h.readers.rest()
	for _, i := range h.instances {
		if i.state != Loaded && i.file != nil && !h.w.Closed() {
			err = errors.Join(err, i.clear())
		}
		err = errors.Join(err, i.end())
		switch i.state {
		case Loaded:
		case Leaving:
			i.state = Gone
		default:
			i.state, i.err = Failed, fmt.Errorf("scene: %s: %w", i.path, ErrHost)
		}
	}
	h.instances = nil
	return err
}

// typeOf returns the world's type with a name, or nil.
func (h *Host) typeOf(name string) ecs.Type {
	if t, ok := h.byName[name]; ok {
		return t
	}
	for _, info := range h.w.Components() {
		h.byName[typeName(info)] = info.Type
	}
	return h.byName[name]
}

// patch is the links of a value that are being set; visit is called for the entities of the value.
type patch struct {
	links []nthTo // in order of nth
	nth   uint32
	w     *ecs.World
	visit func(*ecs.Entity)
}

// nthTo says that the n-th entity in a value is to be another.
type nthTo struct {
	nth uint32
	to  ecs.Entity
}

// setLinks makes entities in a value lead to others, where they lead to none that is alive. The
// value is gone through once, however many links it has.
func (h *Host) setLinks(holder ecs.Entity, t ecs.Type, links []nthTo) {
	if len(links) == 0 {
		return
	}
	p := &h.patch
	if p.visit == nil {
		p.visit = func(e *ecs.Entity) {
			for len(p.links) > 0 && p.links[0].nth == p.nth {
				if !p.w.Owns(*e) || !p.w.Alive(*e) {
					*e = p.links[0].to
				}
				p.links = p.links[1:]
			}
			p.nth++
		}
	}
	p.nth, p.links, p.w = 0, links, h.w
	door.VisitLinks(h.w, holder, t, p.visit)
}
