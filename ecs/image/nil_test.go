package image_test

import (
	"bytes"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/internal/lint"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	nothing := func(*ecs.World) {}
	lint.CheckNil(t,
		lint.NilPanics("Save: world", "ecs: World.Snapshot: ",
			func() { _ = image.Save((*ecs.World)(nil), new(bytes.Buffer)) }),
		lint.NilPanics("Save: snapshot", "ecs: ", func() { _ = image.Save((*ecs.Snapshot)(nil), new(bytes.Buffer)) }),
		lint.NilPanics("Save: writer", "image: Save: ", func() { _ = image.Save(newTown(t, 1).w, nil) }),
		lint.NilPanics("Open: function", "image: Open: ", func() { _, _ = image.Open("", nil) }),
		lint.NilPanics("Open: option", "image: Open: ", func() { _, _ = image.Open("", nothing, nil) }),
		lint.NilPanics("Load: reader", "image: Load: ", func() { _, _ = image.Load(nil, nothing) }),
		lint.NilPanics("Load: function", "image: Load: ", func() { _, _ = image.Load(new(bytes.Buffer), nil) }),
		lint.NilPanics("Load: option", "image: Load: ", func() { _, _ = image.Load(new(bytes.Buffer), nothing, nil) }),
		lint.NilPanics("Describe: option", "image: Describe: ", func() { _, _ = image.Describe("", nil) }),
		lint.NilPanics("Plan: function", "image: Plan: ", func() { _, _ = image.Plan("", nil) }),
		lint.NilPanics("PlanBetween: option", "image: PlanBetween: ", func() { _, _ = image.PlanBetween("", "", nil) }),
		lint.NilPanics("Plan: option", "image: Plan: ", func() { _, _ = image.Plan("", nothing, nil) }),
		lint.NilPanics("Convert", "image: Convert: ", func() { image.Convert[int32, int64]("", nil) }),
		lint.NilPanics("World", "image: World: ", func() { image.World(nil) }),
		lint.NilPanics("Into", "ecs: WithUniverse: ", func() { image.Into(nil) }),
	)
}
