package match

import (
	"slices"

	"quarry/ecs/internal/table"
)

// Entry is an archetype as the index knows it: its table, whose types the index reads, and the
// serials of its shared values. The index writes only Table.Index. To make an archetype leave, the
// caller closes its table; see [Index.Leave].
type Entry struct {
	table.Table
	Values []uint64 // serials of its shared values, in the order of their types
}

// verify checks the part of M1 that concerns one archetype.
func (a *Entry) verify(at int) bool {
	return int(a.Index) == at && !a.Closed && slices.Equal(a.Types, slices.Collect(a.Sig.Each()))
}
