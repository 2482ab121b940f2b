package match

import (
	"slices"

	"quarry/ecs/internal/table"
)

// Archetype is the index's part of an archetype: the table, whose types it reads, and the serials
// of the shared values. The index writes only Index. To make an archetype leave, the caller closes
// its table; see [Index.Leave].
type Archetype struct {
	table.Table
	Values []uint64 // serials of its shared values, in the order of their types
}

// verify checks the part of M1 that concerns one archetype.
func (a *Archetype) verify(at int) bool {
	return int(a.Index) == at && !a.Closed && slices.Equal(a.Types, slices.Collect(a.Sig.Each()))
}
