package world

import (
	"reflect"
	"sync"

	"quarry/layout"
)

// The results of reflection on a Go type. All worlds ask the same about the same types, and a walk
// over a type costs an allocation or two for each of its fields, so the process walks each type
// once and keeps the answer. A program has as many answers as it has component types.
//
// The walks also find the built-in types, which every world has. Their registrations are kept too:
// a world copies them (World.RegisterBuiltIn).

// goType is the result of reflection on a Go type. It is immutable, and all worlds share it.
type goType struct {
	pointers error          // where the type holds a Go pointer; nil if it holds none
	fields   []layout.Field // bytes of a value that are not padding; nil if it holds a Go pointer
	Links    []Link         // where a value holds entities
}

// goTypes has the answers: *goType by reflect.Type.
var goTypes sync.Map

// builtInGo are the Go types of the built-in types, by TypeID.
var builtInGo [BuiltIn]reflect.Type

// TypeOfHandle is package ecs's func(t ecs.Type) *Type, for package door: the face of a type is an
// interface, which nothing below ecs can name.
var TypeOfHandle any

// Declare sets the Go types of entities and of the built-in types. It is called once, before
// anything else of this package.
func Declare(entity, disabled, prefab, cleanup, linked reflect.Type) {
	EntityType = entity
	builtInGo = [BuiltIn]reflect.Type{DisabledID: disabled, PrefabID: prefab, CleanupEntityID: cleanup,
		LinkedID: linked}
}

// GoTypeOf returns the goType of a type. Any goroutine may call it. Cost: a look-up in a map; for
// the first call with a type, a walk over the type.
func GoTypeOf(t reflect.Type) *goType {
	if known, ok := goTypes.Load(t); ok {
		return known.(*goType)
	}
	g := &goType{pointers: layout.PointerFree(t), Links: appendLinks(nil, t, 0)}
	if g.pointers == nil {
		g.fields = layout.Fields(t, EntityType)
	}
	known, _ := goTypes.LoadOrStore(t, g)
	return known.(*goType)
}

// builtInTypes are the registrations of the built-in types, by TypeID, as far as they are the same
// in all worlds.
var builtInTypes = sync.OnceValue(func() *[BuiltIn]Type {
	all := new([BuiltIn]Type)
	all[DisabledID] = *ComponentOf(builtInGo[DisabledID])
	all[PrefabID] = *ComponentOf(builtInGo[PrefabID])
	all[CleanupEntityID] = *ComponentOf(builtInGo[CleanupEntityID])
	all[LinkedID] = *BufferOf(builtInGo[LinkedID])
	all[LinkedID].PlaceInline()
	for i := range all {
		_ = all[i].reflect() // none holds a Go pointer
	}
	return all
})

// RegisterBuiltIn registers the built-in types, which a program registers like any others: then it
// gets handles of these.
func (w *World) RegisterBuiltIn() {
	own := new([BuiltIn]Type)
	*own = *builtInTypes()
	for i := range own {
		w.AddType(&own[i])
	}
}

// Every world has the built-in types, as its first types.
const (
	DisabledID TypeID = iota
	PrefabID
	CleanupEntityID
	LinkedID
	BuiltIn
)
