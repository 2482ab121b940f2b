package load

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/internal/door"
	"quarry/ecs/scene/internal/section"
)

// ErrHost is scene.ErrHost.
var ErrHost = errors.New("the host is closed")

// ErrBroken is scene.ErrBroken.
var ErrBroken = errors.New("an entity of a section is not where it should be")

// loaders is how many files are read at a time.
const loaders = 2

// Host is scene.Host.
type Host struct {
	w         *ecs.World
	types     section.Types
	register  func(*ecs.World) section.Types
	options   []image.Option
	Live      bool                   // LiveLink was called
	Check     func(*ecs.World) error // of a section's world, in a loader; may be nil
	Instances []*Instance            // that are not gone, in the order of Load
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

// NewHost is scene.NewHost. register registers the types of the game and those of package scene.
func NewHost(w *ecs.World, register func(*ecs.World) section.Types, options []image.Option) *Host {
	own := register(w)
	return &Host{
		w: w, types: own, numbers: numbersOf(w, own), register: register, options: options,
		byName: map[string]ecs.Type{}, slots: make(chan struct{}, loaders),
	}
}

// Load is scene.Host.Load.
func (h *Host) Load(path string) *Instance {
	if h.closed || h.w.Closed() {
		panic("scene: Host.Load: the host or its world is closed")
	}
	i := &Instance{host: h, Path: path, Number: h.numbers.take()}
	h.Instances = append(h.Instances, i)
	i.read(func() (*opened, error) {
		return h.open(path, i.Number)
	})
	return i
}

// Entity is scene.Host.Entity, of an ObjectID.
func (h *Host) Entity(object uint64) ecs.Entity {
	for _, i := range h.Instances {
		if e := i.Entity(object, 0); e != ecs.Null {
			return e
		}
	}
	return ecs.Null
}

// Update is scene.Host.Update.
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
	for _, i := range h.Instances {
		if i.State != Loaded || i.reload != nil || len(i.jobs) > 0 {
			return true
		}
	}
	return false
}

// progress is the result of a step.
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
	for _, i := range h.Instances {
		if i.State == Leaving {
			if p := i.step(must, left); p != idle {
				return p
			}
		}
	}
	wait := false // sections arrive in the order of Load, however long each takes to read
	for _, i := range h.Instances {
		arrives := i.State <= Arriving
		if i.State == Leaving || arrives && wait {
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
	for _, i := range h.Instances {
		i.stop()
	}
	h.loading.Wait()
	h.readers.rest()
	for _, i := range h.Instances {
		i.fail(fmt.Errorf("scene: %s: %w", i.Path, ErrHost))
	}
	h.Instances = nil
}

// Close is scene.Host.Close.
func (h *Host) Close() error {
	if h.closed {
		return nil
	}
	h.closed = true
	var err error
	for _, i := range h.Instances {
		if i.State != Loaded {
			i.stop()
		}
	}
	h.loading.Wait()
	h.readers.rest()
	for _, i := range h.Instances {
		if i.State != Loaded && i.file != nil && !h.w.Closed() {
			i.clear()
		}
		err = errors.Join(err, i.end())
		switch i.State {
		case Loaded:
		case Leaving:
			i.State = Gone
		default:
			i.State, i.Err = Failed, fmt.Errorf("scene: %s: %w", i.Path, ErrHost)
		}
	}
	h.Instances = nil
	return err
}

// Verify is scene.Host.Verify.
func (h *Host) Verify() error {
	gone := map[uint32]bool{}
	for _, n := range h.gone {
		gone[n] = true
	}
	for _, i := range h.Instances {
		if i.State != Loaded {
			continue
		}
		for _, id := range i.file.byID {
			e := i.Entities[id.Local]
			if !h.w.Alive(e) {
				continue
			}
			if has := h.types.Identity.Get(e); has != nil && *has != id {
				return fmt.Errorf("scene: S5: %w: %v of %s has %+v, not %+v", ErrBroken, e, i.file.name, *has, id)
			}
		}
	}
	q := ecs.NewQuery(h.w, ecs.Read(h.types.Identity), ecs.With(h.types.Tag.Type), ecs.IncludeDisabled(),
		ecs.IncludePrefabs())
	defer q.Close()
	for rows := range q.Rows() {
		instance, _, _ := h.types.Tag.At(rows)
		if gone[instance] { // others may be of another host, or were saved with the world
			return fmt.Errorf("scene: S6: %w: %d entities have the tag of instance %d, which is gone",
				ErrBroken, rows.Len(), instance)
		}
	}
	return nil
}

// typeOf returns the world's type with a name, or nil.
func (h *Host) typeOf(name string) ecs.Type {
	if t, ok := h.byName[name]; ok {
		return t
	}
	for _, info := range h.w.Components() {
		h.byName[section.TypeName(info)] = info.Type
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

// nthTo is a replacement for the n-th entity in a value.
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
