package door

import (
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/world"
	"quarry/ecs/internal/worldfile"
)

// ImageOf returns the image of a snapshot for a file. Any goroutine may call it, and read the
// image; the snapshot cannot be closed before the image is. An error means that the snapshot is
// lost, or which values cannot be written; it has no prefix. Cost: the metadata of the world, the
// rows of archetypes with buffers if any buffer has spilled, and the codecs of managed values.
func ImageOf(s *ecs.Snapshot) (*worldfile.Image, error) { return worldfile.ImageOf(Snapshot(s), false) }

// ImageOfWorld takes a snapshot of a world and returns its image, which the owner reads and closes
// before anything else happens to the world. Unlike ImageOf it has values of managed types without
// CopyWith, which are the world's own. It panics where World.Snapshot and Close do.
func ImageOfWorld(w *ecs.World) (*worldfile.Image, error) { return worldfile.ImageOfWorld(World(w)) }

// OpenImage makes a world of a file. It calls register with the new world, which has no entities
// then, to register the types; see package image. The error has no prefix: it wraps
// worldfile.ErrImage or ErrImageTypes, is a *ecs.LimitError, or is from ecs.NewWorld or the file;
// no world is left behind.
func OpenImage(f *worldfile.File, register func(*ecs.World), options []ecs.Option) (*ecs.World, error) {
	const op = "image.Open"
	if register == nil {
		panic("ecs: image.Open: the function that registers the types is nil")
	}
	for _, o := range options {
		if o == nil {
			panic("ecs: " + op + ": an option is nil")
		}
	}
	w, err := worldfile.OpenImage(f, onCore(register), func(w *world.World) {
		for _, o := range options {
			o((*ecs.World)(unsafe.Pointer(w))) // Safe because a World is its core.
		}
	})
	return (*ecs.World)(unsafe.Pointer(w)), err // Safe because a World is its core.
}

// PlanImage reports how each type of a file maps, in the order of the file, to a world for which
// register is called. It uses Meta, Size and Rules of f alone. The error wraps worldfile.ErrImage,
// or is from ecs.NewWorld; types that OpenImage would refuse have the error in their plan.
func PlanImage(f *worldfile.File, register func(*ecs.World)) ([]worldfile.Plan, error) {
	return worldfile.PlanImage(f, onCore(register))
}
