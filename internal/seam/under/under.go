// Package under lies below both sides of the seam between package ecs and its siblings. It has the
// key, and the data types that only the two sides use. Package seam, above ecs, has the functions
// and says what they promise. Only ecs and seam import this package, which a test of internal/lint
// checks.
package under

import _ "quarry/internal/debug" // the line that ends builds for 32 bits

// Key opens ecs.Inside. No value is checked: being able to name the type is what grants access, and
// no package of another module can. The field keeps a struct{}{} from being accepted.
type Key struct{ _ struct{} }

// MaxPlaceholders is the number of placeholders of a command buffer.
const MaxPlaceholders = 1 << 31

// Facts is what was declared about a type at its registration.
type Facts struct {
	Kind                uint8  // an ecs.Kind
	Enableable, Cleanup bool   // options
	Links               []Link // entities in a value, or in an element of a buffer; read-only
}

// Link is the place of an entity in a value, or of an array of elements that hold entities. The
// list of a type is as long as its declaration, however long its arrays are.
type Link struct {
	Offset uintptr // bytes from the start of the value, or of the element around it
	Count  int     // number of elements of an array; 0 if the link is an entity
	Size   uintptr // bytes of one element
	Each   []Link  // links in one element
}
