package ecs

// Prefab is the tag of entities that are patterns for others. Queries that do not
// name it, and have no IncludePrefabs, pass them by. Register it like any type.
type Prefab struct{}

// DisabledEntity is the tag of entities that are switched off as a whole. Queries
// that do not name it, and have no IncludeDisabled, pass them by. Register it like
// any type.
type DisabledEntity struct{}

// Every world has the built-in types, as its first.
const (
	disabledID typeID = iota
	prefabID
	builtIn
)

func (w *World) registerBuiltIn() {
	Register[DisabledEntity](w)
	Register[Prefab](w)
}
