package edit_test

import (
	"reflect"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// hooked is the store of a managed type whose calls call a test first: in the middle of structural
// changes, where no program's code runs.
type hooked struct {
	value.Managed
	inside func(call string)
}

// registerHooked registers a managed type of uint64 whose store reports the calls of structural
// changes to inside: Release, Clone, Copy, Adopt and Trim.
func registerHooked(w *ecs.World, inside func(call string)) ecs.Type {
	return ecstest.RegisterCore(w, &world.Type{Go: reflect.TypeFor[uint64](), Name: "hooked", Kind: ecs.KindManaged,
		Managed: &hooked{value.NewStore[uint64](), inside},
		Lookup:  world.Lookup{Size: int(unsafe.Sizeof(value.Slot(0)))}, Align: int(unsafe.Alignof(value.Slot(0)))})
}

func (h *hooked) Release(rows []value.Slot) { h.inside("Release"); h.Managed.Release(rows) }
func (h *hooked) Clone(rows []value.Slot)   { h.inside("Clone"); h.Managed.Clone(rows) }
func (h *hooked) Trim()                     { h.inside("Trim"); h.Managed.Trim() }
func (h *hooked) Fresh() value.Managed      { return &hooked{h.Managed.Fresh(), h.inside} }

func (h *hooked) Copy(from value.Managed, rows []value.Slot) {
	h.inside("Copy")
	h.Managed.Copy(from.(*hooked).Managed, rows)
}

func (h *hooked) Move(from value.Managed, rows []value.Slot) {
	h.inside("Adopt")
	h.Managed.Move(from.(*hooked).Managed, rows)
}
