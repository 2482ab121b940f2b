package ecstest

import (
	"fmt"
	"reflect"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"
)

// RegisterType registers a type that is known only at run time.
func RegisterType(w *ecs.World, t reflect.Type) ecs.Type { return register(w, t, false) }

// RegisterBit registers a type that is known only at run time, with enable bits.
func RegisterBit(w *ecs.World, t reflect.Type) ecs.Type { return register(w, t, true) }

func register(w *ecs.World, t reflect.Type, enableable bool) ecs.Type {
	return RegisterCore(w, &world.Type{
		Go: t, Name: t.String(), Lookup: world.Lookup{Size: int(t.Size())}, Align: t.Align(), Enableable: enableable,
	})
}

// RegisterCore registers a type as ecs.Register does.
func RegisterCore(w *ecs.World, t *world.Type) ecs.Type {
	made := door.World(w).Register("Register", t)
	return w.Components()[made.ID].Type
}

// LabelsOf registers n tags.
func LabelsOf(w *ecs.World, n int) (list []ecs.Type) {
	for i := range n {
		list = append(list, labelOf(w, i))
	}
	return list
}

// labelOf registers a tag that is another one for each i: to make it a type of its own at run time
// takes the compiler nothing.
func labelOf(w *ecs.World, i int) ecs.Type {
	return RegisterType(w, reflect.ArrayOf(i, reflect.TypeFor[struct{}]()))
}

// ManyTypes registers 64 types, of which every third is a tag.
func ManyTypes(w *ecs.World) (list []ecs.Type) {
	for i := range 64 {
		if i%3 == 2 {
			list = append(list, labelOf(w, i))
			continue
		}
		field := reflect.StructField{Name: fmt.Sprintf("V%d", i), Type: reflect.TypeFor[int32]()}
		list = append(list, RegisterType(w, reflect.StructOf([]reflect.StructField{field})))
	}
	return list
}
