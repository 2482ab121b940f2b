package ecs

// Prefab is the tag of entities that are patterns for others. Queries that do not name it, and have
// no IncludePrefabs, pass them by. Register it like any type.
type Prefab struct{}

// DisabledEntity is the tag of entities that are switched off as a whole. Queries that do not name
// it, and have no IncludeDisabled, pass them by. Register it like any type.
type DisabledEntity struct{}

// CleanupEntity is the tag of entities that were destroyed and have Cleanup types left. Register it
// like any type to ask for it; it comes and goes with World.Destroy and the removal of the last
// Cleanup type, and not otherwise.
type CleanupEntity struct{}

// LinkedEntity is an element of the buffer of an entity that stands for a group: the other members.
// World.Destroy of the entity destroys them too, unless it has the tag CleanupEntity already.
// Members' own buffers do not count; a member that is dead is passed by, as are the entity itself
// and those of other worlds. Register it by RegisterBuffer without options. Hierarchies are another
// thing.
type LinkedEntity struct{ Entity Entity }

// Every world has the built-in types, as its first.
const (
	disabledID typeID = iota
	prefabID
	dyingID
	linkedID
	builtIn
)
