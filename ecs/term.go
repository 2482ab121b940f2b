package ecs

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
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
type Term struct{ core query.Term }

func (t *Term) inner() *query.Term { return (*query.Term)(unsafe.Pointer(t)) } // Safe because a Term is its core.

// Operand is an argument of a term: a type, to which the term gives no access, or Read or Write of
// a type. Only this package implements it.
type Operand interface {
	operand() query.Operand
}

// operand lets Read and Write stand inside other terms; termOf rejects other terms there.
func (t Term) operand() query.Operand { return t.core.Of[0] }

// Read matches entities that have t, enabled, and lets loops read it.
func Read(t Type) Term { return accessTo(query.TermRead, t, world.MayRead) }

func accessTo(kind query.TermKind, t Type, access uint8) Term {
	term := filterOf(kind, []Type{t})
	term.core.Of[0].Access = access
	if info := term.core.Of[0].Type; kind == query.TermWrite && info != nil && info.Kind == KindShared {
		panic(fmt.Sprintf("ecs: Write: %s is shared: entities get another value by Set or Put", info.Name))
	}
	return term
}

// Write matches entities that have t, enabled, and lets loops write it. Taking the slice of t marks
// the chunk's column changed.
func Write(t Type) Term { return accessTo(query.TermWrite, t, world.MayRead|world.MayWrite) }

// With matches entities that have all of the types, enabled. It gives no access to them.
func With(types ...Type) Term { return filterOf(query.TermWith, types) }

// Without matches entities that have none of the types enabled: each type is missing or disabled.
func Without(types ...Type) Term { return filterOf(query.TermWithout, types) }

// Absent matches entities that have none of the types, enabled or disabled.
func Absent(types ...Type) Term { return filterOf(query.TermAbsent, types) }

// Any matches entities that have at least one of the types, enabled. Slice of Any(Read(t)) is nil
// in chunks without t. In chunks with t, a row that matches by another type may have t disabled.
func Any(of ...Operand) Term { return termOf(query.TermAny, of) }

// Optional matches every entity and declares access to types that an entity may lack. Slice of
// Optional(Read(t)) is nil in chunks without t.
func Optional(of ...Operand) Term { return termOf(query.TermOptional, of) }

// Disabled matches entities that have all of the types, disabled. The types must be Enableable.
func Disabled(of ...Operand) Term { return termOf(query.TermDisabled, of) }

// Present matches entities that have all of the types, enabled or disabled. Loops may ask for the
// bits (Component.EnabledAt), so a query with Present of an Enableable type reads it; see Access.
func Present(of ...Operand) Term { return termOf(query.TermPresent, of) }

// Where matches entities that have one of the given values of a shared type. A query may have one
// Where term for each of several types; all of them must match. To loop over one value after
// another, see Query.Where. Where panics for zero values and for values of different types.
func Where(values ...SharedValue) Term {
	t := Term{core: query.Term{Kind: query.TermWhere}}
	for _, v := range values {
		if len(t.core.Of) == 0 {
			t.core.Of = []query.Operand{v.operand()}
		}
		if v.core.Type == nil {
			panic("ecs: Where: a value is the zero value of SharedValue; values come from Shared.Of")
		}
		if v.core.Type != t.core.Of[0].Type {
			panic("ecs: Where: the values are not all of one shared type; take a Where for each")
		}
		t.core.Values = append(t.core.Values, v.core.Value)
	}
	return t
}

// Changed passes chunks in which one of the types may have been written since the query last ran to
// its end, or since the version given to SetSince. A column is marked changed when it is opened for
// writing and when rows enter its chunk, but not when rows only leave; see Ordered. If a query has
// several Changed and Ordered terms, a chunk needs to pass only one of them. With TrackRows and
// Term.Masked only the rows match that were written.
func Changed(types ...Type) Term { return filterOf(query.TermChanged, types) }

// Ordered passes chunks that rows entered or left, or whose rows were reordered, since the query
// last ran to its end. A chunk that itself moved to another position passes too. See also Changed.
// A chunk that lost its last row no longer exists; to detect that, compare Archetype.Chunks.
func Ordered() Term { return Term{core: query.Term{Kind: query.TermOrdered}} }

// IncludeDisabled lets a query match entities with DisabledEntity. A query that does not name that
// type otherwise does not see them.
func IncludeDisabled() Term { return Term{core: query.Term{Kind: query.TermIncludeDisabled}} }

// IncludePrefabs lets a query match entities with Prefab. A query that does not name that type
// otherwise does not see them.
func IncludePrefabs() Term { return Term{core: query.Term{Kind: query.TermIncludePrefabs}} }

func filterOf(kind query.TermKind, types []Type) Term {
	t := Term{core: query.Term{Kind: kind}}
	for _, of := range types {
		if v, ok := of.(SharedValue); ok {
			panic(fmt.Sprintf("ecs: %s: %v is a value; ask for it with Where", query.TermNames[kind], v))
		}
		t.core.Of = append(t.core.Of, query.Operand{Type: infoOf(query.TermNames[kind], of)})
	}
	return t
}

func termOf(kind query.TermKind, of []Operand) Term {
	t := Term{core: query.Term{Kind: kind}}
	for _, o := range of {
		if o == nil {
			panic("ecs: " + query.TermNames[kind] + ": a type is nil")
		}
		if v, ok := o.(SharedValue); ok {
			panic(fmt.Sprintf("ecs: %s: %v is a value; ask for it with Where", query.TermNames[kind], v))
		}
		if in, ok := o.(Term); ok && (in.core.Kind > query.TermWrite || len(in.core.Of) != 1) {
			panic(fmt.Sprintf("ecs: %s: %s inside another term; only types, Read and Write may stand there",
				query.TermNames[kind], query.TermNames[in.core.Kind]))
		}
		t.core.Of = append(t.core.Of, o.operand())
	}
	return t
}

// String returns the term, as in Any(Read Position, Velocity).
func (t Term) String() string { return t.core.String() }

// Masked returns a Between or Changed term by which only the rows match that pass it, as rows do
// whose types are enabled: Rows.Each skips the others, Count counts the matching ones.
//
// By a Between term rows match that are in the range. It costs a pass over the field where a chunk
// lies only partly in the range. Changes of entities by query (ApplyQuery, DestroyQuery,
// EnableQuery, MoveQuery) take no Between without Masked.
//
// By a Changed term rows match that came or were written since the query last ran. All its types
// must be registered with TrackRows. A chunk that passes by a Changed term without Masked, or by
// Ordered, is shown whole. It costs a look at the version of each row in the chunks that pass.
//
// Masked panics for other terms.
func (t Term) Masked() Term { return Term{t.core.Masked()} }
