package world

import (
	"fmt"

	"quarry/ecs/internal/value"
)

// Kinds of registered types. A type has one kind (Type.Kind), which together with its Go type is
// its key. What depends on the kind alone is a row of the table kinds; what a walk does to the
// values of a kind is a switch there. docs/architecture.md lists both, for those who add a kind.

// The kinds of registered types.
const (
	KindComponent Kind = iota // a column of values; a tag has size 0 and no column
	KindBuffer                // a dynamic buffer
	KindShared                // one value for all entities of an archetype
	KindManaged               // values in Go memory
	KindSparse                // values in a set beside the chunks
	KindChunk                 // one value for all entities of a chunk

	kindCount
)

// valuePlace is what a value of a type belongs to, and so where it lies.
type valuePlace uint8

const (
	perRow       valuePlace = iota // in a column of the chunks, one for each row
	perChunk                       // beside the rows, one for each chunk
	PerArchetype                   // in Go memory, one for each archetype
	PerEntity                      // in a set, for entities of any archetype
)

// kindRow is what depends on a kind alone.
type kindRow struct {
	name    string      // of the kind
	place   valuePlace  // what a value belongs to
	goValue bool        // values lie in Go memory and need a codec in files and deltas
	options typeOptions // that a registration may have
	refusal string      // of other options
}

// kinds is the table of kinds: a literal without keys, and as many rows as there are kinds.
var kinds = [...]kindRow{
	{"component", perRow, false, optionEnableable | optionCleanup | optionTrackRows | optionMaxRows,
		"Inline is an option of RegisterBuffer"},
	{"buffer", perRow, false, optionEnableable | optionCleanup | optionTrackRows | optionMaxRows | optionShape, ""},
	{"shared", PerArchetype, true, optionCleanup, "the options of shared types are Cleanup and Codec"},
	{"managed", perRow, true, optionEnableable | optionCleanup | optionTrackRows | optionMaxRows,
		"Inline is an option of RegisterBuffer"},
	{"sparse", PerEntity, false, optionEnableable, "the only option of sparse types is Enableable"},
	{"chunk", perChunk, false, 0, "the only option of chunk types is Merge"},
}

var _ = [1]struct{}{}[len(kinds)-int(kindCount)] // each kind has a row

// String returns component, buffer, shared, managed, sparse or chunk.
func (k Kind) String() string {
	if k < kindCount {
		return kinds[k].name
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Place returns what a value of the type belongs to.
func (t *Type) Place() valuePlace { return kinds[t.Kind].place }

// GoValues reports whether values of the type lie in Go memory, so that files and deltas need a
// codec for them.
func (t *Type) GoValues() bool { return kinds[t.Kind].goValue }

// typeOptions is a set of the options of registrations that more than one kind has. Those that one
// kind has, Merge and CopyWith, and Codec, of kinds with goValue, refuse others themselves.
type typeOptions uint8

const (
	optionEnableable typeOptions = 1 << iota
	optionCleanup
	optionTrackRows
	optionMaxRows
	optionShape // Inline and Growth
)

// Options returns which options a registration has, in the order of the constants.
func (t *Type) Options() (set typeOptions) {
	for i, given := range [...]bool{t.Enableable, t.Cleanup, t.Tracked, t.MaxRows > 0, t.Shape != NoShape} {
		if given {
			set |= 1 << i
		}
	}
	return set
}

// OptionsRefusal returns why the type's kind does not have the options of a registration, or "".
func (t *Type) OptionsRefusal() string {
	if t.Options()&^kinds[t.Kind].options == 0 {
		return ""
	}
	return kinds[t.Kind].refusal
}

// NoShape is the shape of a type that is not a buffer, until its options have been checked.
var NoShape = value.Shape{Inline: -1}
