package scene

import (
	"time"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/scene/internal/load"
)

// ErrHost is wrapped by the error of an instance that ended because its host or its world was
// closed.
var ErrHost = load.ErrHost

// ErrBroken is wrapped by the errors of Verify.
var ErrBroken = load.ErrBroken

// Host is a world whose sections come and go. It belongs to the world's owner, as do its instances.
type Host struct{ core load.Host }

// NewHost returns the host of a world. The function registers types in the worlds that loaders read
// files into, as that of image.Open does, and is called here for w; loaders call it in goroutines
// of their own. Options are those of image.Load about types that have changed. It panics if the
// world or the function is nil, and like ecs.Register.
func NewHost(w *ecs.World, registerTypes func(*ecs.World), options ...image.Option) *Host {
	if w == nil || registerTypes == nil {
		panic("scene: NewHost: the world or the function that registers types is nil")
	}
	// Safe because a Host is its core.
	return (*Host)(unsafe.Pointer(load.NewHost(w, registering(registerTypes), options)))
}

// LiveLink makes the host keep what files had, so that Instance.Reload can find what has changed in
// them. It takes the memory of the sections once more. Call it before Load.
func (h *Host) LiveLink() { h.core.Live = true }

// Check makes loaders call a function with the world of each section that they have read, before it
// moves; several at once may. Its error fails the section. It serves checks that only the game can
// make, for example whether blobs are sound: blob.NewStore. Call it before Load; nil ends it.
func (h *Host) Check(check func(section *ecs.World) error) { h.core.Check = check }

// Load begins to load the section whose file is at a path, and returns at once; Update goes on with
// it. A section may be loaded several times: each is an instance of its own. It is for files of
// strangers, which image.Load checks, up to their values: Check sees those. It panics if the host
// or its world is closed.
func (h *Host) Load(path string) *Instance {
	return (*Instance)(unsafe.Pointer(h.core.Load(path))) // Safe because an Instance is its core.
}

// Instances returns the instances that are not gone, in the order of Load.
func (h *Host) Instances() []*Instance {
	return append([]*Instance(nil), viewOf[*Instance](h.core.Instances)...)
}

// Entity returns the entity of an object that is in a loaded section, or Null; of several instances
// the first loaded.
func (h *Host) Entity(object string) ecs.Entity { return h.core.Entity(ObjectID(object)) }

// Update goes on with what loads and unloads, for about the time of the budget, and reports whether
// there is more to do. A budget of 0 or less has no limit. A call does a step at least, if one is
// ready: it moves a part, of up to 8,192 entities, destroys one, sets 256 links, or shows the
// entities of a section. It does a further step if that is expected to fit what is left, by how
// long those before took. The call is a structural change, and panics inside a loop over rows. It
// does not wait for loaders: a loop that does nothing else leaves them no time where a program has
// one thread (js), so it sleeps.
func (h *Host) Update(budget time.Duration) (more bool) { return h.core.Update(budget) }

// Verify checks the invariants S5 and S6 of ecs/scene/internal/load and returns an error that names
// the first that is broken. Programs break them by writing Identity or Tag, and by World.Restore to
// a time when a section was there that has been unloaded since. Cost: a look at each entity of a
// section.
func (h *Host) Verify() error { return h.core.Verify() }

// Close ends the loading of sections and waits for loaders. What is loaded stays in the world and
// no longer knows its host; what has arrived in part, or is leaving, is destroyed. Close the host
// before the world, which cannot give its universe back otherwise. A second call does nothing.
func (h *Host) Close() error { return h.core.Close() }
