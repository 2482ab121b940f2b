package world

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The sums of a Hasher in a form that another process can compare with its own: words of 8 bytes,
// little-endian. Archetypes with rows come by rising key, their columns by rising type, whose hash
// is 0 for the entities; sparse types with entries follow as archetypes of one column.
//
//	archetype   key, rows, columns
//	column      type, sum of each block of 4,096 rows
//	sparse      1<<63 set in the key: the type's hash; entries, 1 column with 1 block

// ErrSums is ecs.ErrSums.
var ErrSums = errors.New("sums refused")

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

// sums returns the sums of an archetype.
func (x *Hasher) sums(s *hashedArchetype) *summed {
	c := &summed{key: x.key(s.a) &^ setKey, a: s.a, rows: s.rows}
	c.columns = append(c.columns, summedColumn{sums: s.ids})
	for slot, id := range s.a.Table.Types {
		t := x.w.Types.List[id]
		if !t.counts() {
			continue
		}
		k := summedColumn{hash: x.h.Types[id], t: t}
		for _, v := range s.types[slot] {
			k.sums = append(k.sums, HashWords(v.values, v.disabled))
		}
		c.columns = append(c.columns, k)
	}
	slices.SortFunc(c.columns[1:], func(a, b summedColumn) int { return cmp.Compare(a.hash, b.hash) })
	return c
}

// all returns the sums of all archetypes with rows and sets with entries, in their order.
func (x *Hasher) all() (list []*summed) {
	if x.seen == 0 {
		x.Sum()
	}
	for _, s := range x.archetypes {
		if s.rows > 0 {
			list = append(list, x.sums(s))
		}
	}
	for i, t := range x.w.Types.Sparse[:len(x.sets)] {
		if x.sets[i] != 0 {
			list = append(list, &summed{key: x.h.Types[t.ID] | setKey, rows: 1,
				columns: []summedColumn{{x.h.Types[t.ID], t, x.sets[i : i+1]}}})
		}
	}
	slices.SortFunc(list, func(a, b *summed) int { return cmp.Compare(a.key, b.key) })
	return list
}

// AppendSums is ecs.Hasher.AppendSums.
func (x *Hasher) AppendSums(dst []byte) []byte {
	x.w.CheckNew("Hasher.AppendSums")
	for _, s := range x.all() {
		dst = appendWords(dst, s.key, uint64(s.rows), uint64(len(s.columns)))
		for _, c := range s.columns {
			dst = appendWords(appendWords(dst, c.hash), c.sums...)
		}
	}
	return dst
}

// Compare is ecs.Hasher.Compare.
func (x *Hasher) Compare(sums []byte) (*Difference, error) {
	x.w.CheckNew("Hasher.Compare")
	theirs, err := readSums(sums)
	if err != nil {
		return nil, fmt.Errorf("ecs: Hasher.Compare: %w: %w", ErrSums, err)
	}
	mine := x.all()
	for len(mine) > 0 || len(theirs) > 0 {
		switch {
		case len(theirs) == 0 || len(mine) > 0 && mine[0].key < theirs[0].key:
			return &Difference{Archetype: mine[0].a, Type: mine[0].setType(), Rows: mine[0].rows}, nil
		case len(mine) == 0 || theirs[0].key < mine[0].key:
			return &Difference{Rows: theirs[0].rows}, nil
		}
		if d := difference(mine[0], theirs[0]); d != nil {
			return d, nil
		}
		mine, theirs = mine[1:], theirs[1:]
	}
	return nil, nil
}

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

// readSums reads sums that may be anybody's: no list is longer than its bytes.
func readSums(b []byte) (list []*summed, err error) {
	next := func() (w uint64) {
		if len(b) < 8 {
			err = errors.New("they end early")
			return 0
		}
		w, b = binary.LittleEndian.Uint64(b), b[8:]
		return w
	}
	for len(b) > 0 {
		s := &summed{key: next()}
		rows, columns := next(), next()
		if err == nil && (rows == 0 || rows > 1<<40 || columns > uint64(len(b)/8)) {
			err = fmt.Errorf("%d columns of %d rows in %d bytes", columns, rows, len(b))
		}
		for s.rows = int(rows); columns > 0 && err == nil; columns-- {
			c := summedColumn{hash: next()}
			for range blocksOf(s.rows) {
				if err == nil {
					c.sums = append(c.sums, next())
				}
			}
			s.columns = append(s.columns, c)
		}
		if err != nil {
			return nil, err
		}
		if n := len(list); n > 0 && list[n-1].key >= s.key {
			return nil, errors.New("they are not in order")
		}
		list = append(list, s)
	}
	return list, nil
}
