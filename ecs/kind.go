package ecs

import "fmt"

// Kinds of registered types. A type has one kind (typeInfo.kind), which together with its Go type
// is its key. What depends on the kind alone is a row of the table kinds; what a walk does to the
// values of a kind is a switch there. docs/kinds.md lists both, for whoever adds a kind.

// Kind is the way in which the values of a registered type are stored.
type Kind uint8

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

// valuePlace says what a value of a type belongs to, and so where it lies.
type valuePlace uint8

const (
	perRow       valuePlace = iota // in a column of the chunks, one for each row
	perChunk                       // beside the rows, one for each chunk
	perArchetype                   // in Go memory, one for each archetype
	perEntity                      // in a set, for entities of any archetype
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
	{"component", perRow, false, optionEnableable | optionCleanup | optionTrackRows | optionMaxRows, "Inline is an option of RegisterBuffer"},
	{"buffer", perRow, false, optionEnableable | optionCleanup | optionTrackRows | optionMaxRows | optionShape, ""},
	{"shared", perArchetype, true, optionCleanup, "the options of shared types are Cleanup and Codec"},
	{"managed", perRow, true, optionEnableable | optionCleanup | optionTrackRows | optionMaxRows, "Inline is an option of RegisterBuffer"},
	{"sparse", perEntity, false, optionEnableable, "the only option of sparse types is Enableable"},
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

// place returns what a value of the type belongs to.
func (t *typeInfo) place() valuePlace { return kinds[t.kind].place }

// goValues reports whether values of the type lie in Go memory, so that files and deltas need a
// codec for them.
func (t *typeInfo) goValues() bool { return kinds[t.kind].goValue }

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

// options returns which options a registration has, in the order of the constants.
func (t *typeInfo) options() (set typeOptions) {
	for i, given := range [...]bool{t.enableable, t.cleanup, t.tracked, t.maxRows > 0, t.shape != noShape} {
		if given {
			set |= 1 << i
		}
	}
	return set
}
