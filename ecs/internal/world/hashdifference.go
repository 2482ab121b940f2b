package world

// Where the sums of two states differ.

// HashBlock is the number of rows that have a sum.
const HashBlock = 4096

func blocksOf(rows int) int { return (rows + HashBlock - 1) / HashBlock }

// Difference is where two states first differ.
type Difference struct {
	Archetype   *Archetype // nil: this world lacks it, or it is a set
	Type        *Type      // nil: the entities, or that world has other rows
	First, Rows int        // of the block; of an archetype that only one has, all rows
}

// summed is the sums of an archetype or a set.
type summed struct {
	key     uint64
	a       *Archetype // nil for a set, or in sums that were read
	rows    int
	columns []summedColumn
}

type summedColumn struct {
	hash uint64
	t    *Type // nil for the entities, or in sums that were read
	sums []uint64
}

const setKey = 1 << 63 // in the key of a set

// setType returns the type of a set, and nil for an archetype.
func (s *summed) setType() *Type {
	if s.a == nil && len(s.columns) > 0 {
		return s.columns[0].t
	}
	return nil
}

// difference returns where the sums of two archetypes with one key first differ, or nil.
func difference(mine, theirs *summed) *Difference {
	for i, c := range mine.columns {
		if i >= len(theirs.columns) || theirs.columns[i].hash != c.hash {
			return &Difference{Archetype: mine.a, Type: c.t, Rows: mine.rows}
		}
		for block := range max(len(c.sums), len(theirs.columns[i].sums)) {
			if block < len(c.sums) && block < len(theirs.columns[i].sums) &&
				c.sums[block] == theirs.columns[i].sums[block] {
				continue
			}
			rows := max(mine.rows, theirs.rows)
			return &Difference{Archetype: mine.a, Type: c.t, First: block * HashBlock,
				Rows: min(rows-block*HashBlock, HashBlock)}
		}
	}
	return nil
}

// name returns the name of what differs, for messages.
func (d *Difference) name(w *World) string {
	if d.Type == nil {
		return "an entity"
	}
	return d.Type.Name
}
