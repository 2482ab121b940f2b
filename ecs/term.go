package ecs

import (
	"fmt"
	"strings"

	"quarry/ecs/internal/value"
)

// Term is one condition of a query. Terms also declare what the query's loops may access. A type
// may appear in one term of a query, and in Changed as well.
//
// The terms require of an archetype, and of an entity if the type is Enableable:
//
//	term                archetype        entity
//	Read, Write, With   has it           it is enabled
//	Without             lacks it, or it is Enableable   lacks it, or it is disabled
//	Any                 has one or more  one of them is enabled
//	Optional            -                -
//	Disabled            has it           it is disabled
//	Present             has it           -
//	Absent              lacks it         -
//	Where               has one of the values   -
//	Between             has it           with Masked: its field is in the range
//
// Any requires nothing of entities in an archetype that has one of its types that is not
// Enableable. If a query has several Any terms, all must match. Changed and Ordered filter chunks;
// if a query has several, a chunk needs to pass only one. Between filters chunks too, and a chunk
// must pass all of them.
type Term struct {
	kind   termKind
	of     []operand
	values []*value.Shared // of a Where term
	span   *span           // of a Between term
	masked bool            // see Masked
}

type termKind uint8

const (
	termRead termKind = iota
	termWrite
	termWith
	termWithout
	termAny
	termOptional
	termDisabled
	termPresent
	termAbsent
	termWhere
	termChanged
	termBetween
	termOrdered
	termIncludeDisabled
	termIncludePrefabs
)

var termNames = [...]string{"Read", "Write", "With", "Without", "Any", "Optional", "Disabled", "Present", "Absent", "Where",
	"Changed", "Between", "Ordered", "IncludeDisabled", "IncludePrefabs"}

// operand is a type together with the access that loops have to it.
type operand struct {
	t      *typeInfo // nil for a zero handle
	access uint8     // 0, mayRead, or mayRead | mayWrite
}

const (
	mayRead = 1 << iota
	mayWrite
	gatedRead // gatedRead and gatedWrite: mayRead and mayWrite, but by Rows.missing
	gatedWrite
	taken  // for a batch's rows: the type is lent to a borrow
	maySee // the enable bits may be asked for, see Rows.bitsOf
)

// gated returns, for the rows of a borrow's accessors and for types that track rows, the access
// with gatedRead and gatedWrite for mayRead and mayWrite.
func gated(access uint8) uint8 {
	return access&^(mayRead|mayWrite) | access&(mayRead|mayWrite)*gatedRead
}

// Operand is an argument of a term: a type, to which the term gives no access, or Read or Write of
// a type. Only this package implements it.
type Operand interface {
	operand() operand
}

// operand lets Read and Write stand inside other terms; termOf rejects other terms there.
func (t Term) operand() operand { return t.of[0] }

// Read matches entities that have t, enabled, and lets loops read it.
func Read(t Type) Term { return accessTo(termRead, t, mayRead) }

func accessTo(kind termKind, t Type, access uint8) Term {
	term := filterOf(kind, []Type{t})
	term.of[0].access = access
	if info := term.of[0].t; kind == termWrite && info != nil && info.kind == KindShared {
		// errors.md, Types, terms and handles: `is shared: entities get another value by Set or
		// Put` | `Write` of a shared type. | Declare `Read`; `Set` after the loop.
		panic(fmt.Sprintf("ecs: Write: %s is shared: entities get another value by Set or Put", info.name))
	}
	return term
}

// Write matches entities that have t, enabled, and lets loops write it. Taking the slice of t marks
// the chunk's column changed.
func Write(t Type) Term { return accessTo(termWrite, t, mayRead|mayWrite) }

// With matches entities that have all of the types, enabled. It gives no access to them.
func With(types ...Type) Term { return filterOf(termWith, types) }

// Without matches entities that have none of the types enabled: each type is missing or disabled.
func Without(types ...Type) Term { return filterOf(termWithout, types) }

// Absent matches entities that have none of the types, enabled or disabled.
func Absent(types ...Type) Term { return filterOf(termAbsent, types) }

// Any matches entities that have at least one of the types, enabled. Slice of Any(Read(t)) is nil
// in chunks without t. In chunks with t, a row that matches by another type may have t disabled.
func Any(of ...Operand) Term { return termOf(termAny, of) }

// Optional matches every entity and declares access to types that an entity may lack. Slice of
// Optional(Read(t)) is nil in chunks without t.
func Optional(of ...Operand) Term { return termOf(termOptional, of) }

// Disabled matches entities that have all of the types, disabled. The types must be Enableable.
func Disabled(of ...Operand) Term { return termOf(termDisabled, of) }

// Present matches entities that have all of the types, enabled or disabled. Loops may ask for the
// bits (Component.EnabledAt), so a query with Present of an Enableable type reads it; see Access.
func Present(of ...Operand) Term { return termOf(termPresent, of) }

// Where matches entities that have one of the given values of a shared type. A query may have one
// Where term for each of several types; all of them must match. To loop over one value after
// another, see Query.RowsOf. Where panics for zero values and for values of different types.
func Where(values ...SharedValue) Term {
	t := Term{kind: termWhere}
	for _, v := range values {
		if len(t.of) == 0 {
			t.of = []operand{v.operand()}
		}
		if v.t == nil {
			// errors.md, Types, terms and handles: `a value is the zero value of SharedValue` | A
			// value that no shared type made. | `Shared.Of` makes them.
			panic("ecs: Where: a value is the zero value of SharedValue; values come from Shared.Of")
		}
		if v.t != t.of[0].t {
			// errors.md, Types, terms and handles: `the values are not all of one shared type; take
			// a Where for each` | A `Where` of two types. | As it says: all must hold.
			panic("ecs: Where: the values are not all of one shared type; take a Where for each")
		}
		t.values = append(t.values, v.v)
	}
	return t
}

// Changed passes chunks in which one of the types may have been written since the query last ran to
// its end, or since the version given to SetSince. A column is marked changed when it is opened for
// writing and when rows enter its chunk, but not when rows only leave; see Ordered. If a query has
// several Changed and Ordered terms, a chunk needs to pass only one of them. With TrackRows and
// Term.Masked only the rows match that were written.
func Changed(types ...Type) Term { return filterOf(termChanged, types) }

// Ordered passes chunks that rows entered or left, or whose rows were reordered, since the query
// last ran to its end. A chunk that itself moved to another position passes too. See also Changed.
// A chunk that lost its last row no longer exists; to detect that, compare Archetype.Chunks.
func Ordered() Term { return Term{kind: termOrdered} }

// IncludeDisabled lets a query match entities with DisabledEntity. A query that does not name that
// type otherwise does not see them.
func IncludeDisabled() Term { return Term{kind: termIncludeDisabled} }

// IncludePrefabs lets a query match entities with Prefab. A query that does not name that type
// otherwise does not see them.
func IncludePrefabs() Term { return Term{kind: termIncludePrefabs} }

func filterOf(kind termKind, types []Type) Term {
	t := Term{kind: kind}
	for _, of := range types {
		if v, ok := of.(SharedValue); ok {
			// errors.md, Types, terms and handles: `is a value; ask for it with Where` | A shared
			// value in another term. | `ecs.Where(team.Of(Red))`.
			panic(fmt.Sprintf("ecs: %s: %v is a value; ask for it with Where", termNames[kind], v))
		}
		t.of = append(t.of, operand{t: infoOf(termNames[kind], of)})
	}
	return t
}

func termOf(kind termKind, of []Operand) Term {
	t := Term{kind: kind}
	for _, o := range of {
		if o == nil {
			panic("ecs: " + termNames[kind] + ": a type is nil")
		}
		if v, ok := o.(SharedValue); ok {
			panic(fmt.Sprintf("ecs: %s: %v is a value; ask for it with Where", termNames[kind], v))
		}
		if in, ok := o.(Term); ok && (in.kind > termWrite || len(in.of) != 1) {
			panic(fmt.Sprintf("ecs: %s: %s inside another term; only types, Read and Write may stand there", termNames[kind], termNames[in.kind]))
		}
		t.of = append(t.of, o.operand())
	}
	return t
}

// writes reports whether the term lets loops write a type.
func (t Term) writes() bool {
	for _, o := range t.of {
		if o.access&mayWrite != 0 {
			return true
		}
	}
	return false
}

// String returns the term, as in Any(Read Position, Velocity).
func (t Term) String() string {
	if t.span != nil {
		return t.span.text(t.masked)
	}
	parts := make([]string, len(t.of))
	for i, o := range t.of {
		parts[i] = o.t.name
		switch {
		case t.kind <= termWrite:
		case o.access&mayWrite != 0:
			parts[i] = "Write " + parts[i]
		case o.access != 0:
			parts[i] = "Read " + parts[i]
		}
	}
	if len(t.values) > 0 {
		parts = parts[:0]
		for _, v := range t.values {
			parts = append(parts, t.of[0].t.textOf(v))
		}
	}
	text := termNames[t.kind]
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
