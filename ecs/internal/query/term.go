package query

import (
	"strings"

	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Term is ecs.Term.
type Term struct {
	Kind   TermKind
	Of     []Operand
	Values []*value.Shared // of a Where term
	Span   *FieldRange     // of a Between term
	masked bool            // see Masked
}

// TermKind is the kind of a term.
type TermKind uint8

// The kinds of terms. Their order matters: TermRead and TermWrite come first (String), the terms
// that name no type, from TermOrdered on, come last (NewQuery of package ecs), and TermNames
// follows it.
const (
	TermRead TermKind = iota
	TermWrite
	TermWith
	TermWithout
	TermAny
	TermOptional
	TermDisabled
	TermPresent
	TermAbsent
	TermWhere
	TermChanged
	TermBetween
	TermOrdered
	TermIncludeDisabled
	TermIncludePrefabs
)

// TermNames are the names of the functions that make terms, by TermKind.
var TermNames = [...]string{"Read", "Write", "With", "Without", "Any", "Optional", "Disabled", "Present",
	"Absent", "Where",
	"Changed", "Between", "Ordered", "IncludeDisabled", "IncludePrefabs"}

// Operand is a type together with the access that loops have to it.
type Operand struct {
	Type   *world.Type // nil for a zero handle
	Access uint8       // 0, MayRead, or MayRead | MayWrite
}

// Writes reports whether the term lets loops write a type.
func (t Term) Writes() bool {
	for _, o := range t.Of {
		if o.Access&world.MayWrite != 0 {
			return true
		}
	}
	return false
}

// String is ecs.Term.String.
func (t Term) String() string {
	if t.Span != nil {
		return t.Span.text(t.masked)
	}
	parts := make([]string, len(t.Of))
	for i, o := range t.Of {
		parts[i] = o.Type.Name
		switch {
		case t.Kind <= TermWrite:
		case o.Access&world.MayWrite != 0:
			parts[i] = "Write " + parts[i]
		case o.Access != 0:
			parts[i] = "Read " + parts[i]
		}
	}
	if len(t.Values) > 0 {
		parts = parts[:0]
		for _, v := range t.Values {
			parts = append(parts, t.Of[0].Type.TextOf(v))
		}
	}
	text := TermNames[t.Kind]
	switch {
	case len(parts) == 1:
		text += " " + parts[0]
	case len(parts) > 1:
		text += "(" + strings.Join(parts, ", ") + ")"
	}
	if t.masked {
		text += " masked"
	}
	return text
}
