package match

import (
	"slices"

	"quarry/ecs/internal/table"
)

// Archetype is what the index knows of an archetype: its table, of which it reads which types there are,
// and its shared values. It changes Index only; one that is to leave is Closed, see [Index.Leave].
type Archetype struct {
	table.Table
	Values []uint64 // serials of its shared values, in the order of their types
}

// verify checks what M1 says of an archetype alone.
func (a *Archetype) verify(at int) bool {
	return int(a.Index) == at && !a.Closed && slices.Equal(a.Types, slices.Collect(a.Sig.Each()))
}
