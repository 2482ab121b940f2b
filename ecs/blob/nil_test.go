package blob_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/internal/lint"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	w := newWorld(t)
	s := newStore(t, w)
	b := blob.NewBuilder[Mesh]()
	m := addMesh(t, s, 1)
	lint.CheckNil(t,
		lint.NilPanics("HashOf", "blob: HashOf: ", func() { blob.HashOf(nil, ecs.Null) }),
		lint.NilPanics("Register", "blob: Register: ", func() { blob.Register(nil) }),
		lint.NilPanics("NewStore", "blob: NewStore: ", func() { _, _ = blob.NewStore(nil) }),
		lint.NilPanics("NewLookup", "blob: NewLookup: ", func() { blob.NewLookup[Mesh](nil, nil) }),
		lint.NilPanics("NewLookup: accessor", "blob: NewLookup: ", func() { blob.NewLookup[Mesh](s, nil) }),
		lint.NilPanics("Add", "blob: Add: ", func() { _, _ = blob.Add(nil, b) }),
		lint.NilPanics("Add: builder", "blob: Add: ", func() { _, _ = blob.Add[Mesh](s, nil) }),
		lint.NilPanics("Allocate", "blob: Allocate: ", func() { blob.Allocate(b, (*blob.Array[Part])(nil), 1) }),
		lint.NilPanics("Allocate: builder", "blob: Allocate: ",
			func() { blob.Allocate[Mesh](nil, &b.Root().Parts, 1) }),
		lint.NilPanics("SetString", "blob: SetString: ", func() { blob.SetString(b, nil, "x") }),
		lint.NilPanics("New", "blob: New: ", func() { blob.New(b, (*blob.Ref[Part])(nil)) }),
		lint.NilPanics("Point", "blob: Point: ", func() { blob.Point(b, (*blob.Ref[Part])(nil), nil) }),
		lint.NilReturns("Point: target", func(t *testing.T) { blob.Point(b, &b.Root().First, nil) }),
		lint.NilPanics("Blob.Get", "blob: Blob.Get: ", func() { m.Get(nil) }),
		lint.NilPanics("Blob.Count", "blob: Blob.Count: ", func() { m.Count(nil) }),
		lint.NilPanics("Blob.Retain", "blob: Blob.Retain: ", func() { m.Retain(nil) }),
		lint.NilPanics("Blob.Release", "blob: Blob.Release: ", func() { m.Release(nil) }),
	)
}
