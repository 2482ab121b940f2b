package command

// Deprecated names, which the next version will not have. go fix writes the new ones.

// Batch is Part.
//
// Deprecated: use Part.
//
//go:fix inline
type Batch = Part
