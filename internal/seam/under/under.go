// Package under is what lies below both sides of the seam between package ecs and its
// siblings: the key, and the types of data that only they use. Package seam, above ecs, has
// the rest and says what is promised. Only ecs and seam import this one, and a test of
// internal/lint proves it.
package under

import _ "quarry/internal/debug" // the line that ends builds for 32 bits

// Key opens ecs.Inside. Nothing is checked with it: that a package can name it, which no
// package of another module can, is what lets it in. The field keeps a struct{}{} from serving.
type Key struct{ _ struct{} }

// MaxPlaceholders is the number of placeholders of a command buffer.
const MaxPlaceholders = 1 << 31

// Facts is what registration said of a type.
type Facts struct {
	Buffer, Shared, Managed bool   // its kind; none: a component
	Enableable, Cleanup     bool   // options
	Links                   []Link // where a value, or an element of a buffer, has entities; not to be written
}

// Link is an entity in a value, or an array of elements that have some: the list for a type is
// as long as the type is written, however long its arrays are.
type Link struct {
	Offset uintptr // bytes from the start of the value, or of the element around it
	Count  int     // elements of an array, one behind the other; 0: it is an entity
	Size   uintptr // bytes of an element
	Each   []Link  // of an element
}
