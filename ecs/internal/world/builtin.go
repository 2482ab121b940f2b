package world

// Every world has the built-in types, as its first types.
const (
	disabledID TypeID = iota
	prefabID
	DyingID
	linkedID
	BuiltIn
)
