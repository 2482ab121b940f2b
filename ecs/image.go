package ecs

import (
	"quarry/ecs/internal/worldfile"
	"quarry/internal/seam/under"
)

// openImage makes a world of what a world file has; see package ecs/image.
func openImage(f *under.ImageFile, register func(*World), options []Option) (*World, error) {
	const op = "image.Open"
	if register == nil {
		// errors.md, Errors: `ecs: image.Open: the function that registers the types is nil` |
		// There is none. | Pass a function; an empty one for a world of built-in types.
		panic("ecs: image.Open: the function that registers the types is nil")
	}
	checkOptions(op, options)
	made, err := worldfile.OpenImage(f, onCore(register), onCore(allOf(options)))
	return worldFrom(made), err
}
