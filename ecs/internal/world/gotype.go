package world

import (
	"reflect"
	"sync"

	"quarry/internal/seam/under"
	"quarry/layout"
)

// What reflection says about a Go type. All worlds ask the same about the same types, and a walk
// over a type costs an allocation or two for each of its fields, so the process walks each type
// once and keeps the answer. A program has as many answers as it has component types.
//
// The walks also find the built-in types, which every world has. Their registrations are kept too:
// a world copies them (World.registerBuiltIn).

// goType is what worlds know about a Go type. Nothing changes it, and worlds share it.
type goType struct {
	pointers error          // where the type holds a Go pointer; nil if it holds none
	fields   []layout.Field // bytes of a value that are not padding; nil if it holds a Go pointer
	Links    []under.Link   // where a value holds entities
}

// goTypes has the answers: *goType by reflect.Type.
var goTypes sync.Map

// The Go types of entities and, by TypeID, of the built-in types.
var (
	entityType reflect.Type
	builtInGo  [BuiltIn]reflect.Type
)

// Declare sets the Go types of entities and of the built-in types. It is called once, before
// anything else of this package.
func Declare(entity, disabled, prefab, cleanup, linked reflect.Type) {
	entityType = entity
	builtInGo = [BuiltIn]reflect.Type{disabledID: disabled, prefabID: prefab, DyingID: cleanup, linkedID: linked}
}

// GoTypeOf returns what is known about a type. Any goroutine may call it. Cost: a look-up in a map;
// for the first call with a type, a walk over the type.
func GoTypeOf(t reflect.Type) *goType {
	if known, ok := goTypes.Load(t); ok {
		return known.(*goType)
	}
	g := &goType{pointers: layout.PointerFree(t), Links: appendLinks(nil, t, 0)}
	if g.pointers == nil {
		g.fields = layout.Fields(t, entityType)
	}
	known, _ := goTypes.LoadOrStore(t, g)
	return known.(*goType)
}

// builtInTypes are the registrations of the built-in types, by TypeID, as far as they are the same
// in all worlds.
var builtInTypes = sync.OnceValue(func() *[BuiltIn]Type {
	all := new([BuiltIn]Type)
	all[disabledID] = *ComponentOf(builtInGo[disabledID])
	all[prefabID] = *ComponentOf(builtInGo[prefabID])
	all[DyingID] = *ComponentOf(builtInGo[DyingID])
	all[linkedID] = *BufferOf(builtInGo[linkedID])
	all[linkedID].PlaceInline()
	for i := range all {
		_ = all[i].reflect() // none holds a Go pointer
	}
	return all
})

// registerBuiltIn registers the built-in types, which a program registers like any others: then it
// gets handles of these.
func (w *World) registerBuiltIn() {
	own := new([BuiltIn]Type)
	*own = *builtInTypes()
	for i := range own {
		w.enroll(&own[i])
	}
}
