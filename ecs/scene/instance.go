package scene

import (
	"quarry/ecs"
	"quarry/ecs/scene/internal/load"
)

// State is how far an instance is. Its String is reading, arriving, loaded, leaving, gone or
// failed.
type State = load.State

// States of instances, in the order in which they come. Failed and Gone are ends.
const (
	Reading  State = load.Reading  // a loader reads the file
	Arriving State = load.Arriving // parts move into the world, hidden if there are several
	Loaded   State = load.Loaded   // all is there
	Leaving  State = load.Leaving  // parts are destroyed
	Gone     State = load.Gone     // unloaded
	Failed   State = load.Failed   // Err is the reason; the world has nothing of it
)

// ErrSection is wrapped by the error of a section whose file is a world file, but of no section.
var ErrSection = load.ErrSection

// Instance is a section that is loaded, or was, or will be.
type Instance struct{ core load.Instance }

// Path returns the path of the file.
func (i *Instance) Path() string { return i.core.Path }

// Number returns the number in the Tag of the instance's entities.
func (i *Instance) Number() uint32 { return i.core.Number }

// State returns how far the instance is. It changes in Update alone.
func (i *Instance) State() State { return i.core.State }

// Err returns why the instance has failed, or why the last Reload has, and nil otherwise. It wraps
// image.ErrFile of a damaged file, image.ErrTypes, ErrSection, ErrHost, a *ecs.LimitError or the
// system's error.
func (i *Instance) Err() error { return i.core.Err }

// Name returns the name of the section, and "" while it is read.
func (i *Instance) Name() string { return i.core.Name() }

// Len returns how many entities the file has, and 0 while it is read.
func (i *Instance) Len() int { return len(i.core.Entities) }

// Entity returns the entity of an object, or Null if the instance is not loaded, has none, or it is
// dead. Cost: a binary search.
func (i *Instance) Entity(object string) ecs.Entity { return i.core.Entity(ObjectID(object), 0) }

// EntityOf returns the entity with the Object and Sub of an Identity, whose Local is ignored; see
// Entity.
func (i *Instance) EntityOf(id Identity) ecs.Entity { return i.core.Entity(id.Object, id.Sub) }

// Unload begins to unload the instance: Update destroys all entities with its Tag, whatever has
// become of them, so one that the game takes over loses its Tag first. Copies that Instantiate
// makes of them have the Tag too. An instance that is being read is stopped. It does nothing for
// one that is leaving or at its end.
func (i *Instance) Unload() { i.core.Unload() }

// Reload begins to read the file again, and Update brings what has changed in it to the world, at
// once: entities that are new or gone, types and values of the others that differ from what the
// file had before, names and enable bits. Whatever else the game has changed stays, of the same
// entities too, and so do all ids. Entities that the game has destroyed stay dead. If the file
// cannot be used, Err is the reason, and nothing has changed. If there is no room, no entity has
// come or gone; if Err means that the world could not be restored, some have values of the newer
// file.
//
// It is for files of strangers as Host.Load is. It panics unless the host has LiveLink, or if the
// instance is not loaded.
func (i *Instance) Reload() { i.core.Reload() }
