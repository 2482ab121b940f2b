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
//	sums        number of archetypes, so that sums which are cut are found; the archetypes
//	archetype   key, rows, columns
//	column      type, sum of each block of 4,096 rows
//	sparse      1<<63 set in the key: the type's hash; entries, 1 column with 1 block

// ErrSums is ecs.ErrSums.
var ErrSums = errors.New("sums refused")

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
	all := x.all()
	dst = appendWords(dst, uint64(len(all)))
	for _, s := range all {
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
			return x.lacking(theirs[0]), nil
		}
		if d := difference(mine[0], theirs[0]); d != nil {
			return d, nil
		}
		mine, theirs = mine[1:], theirs[1:]
	}
	return nil, nil
}

// lacking returns the difference of an archetype that has no rows in this world, or of a set that
// has no entries.
func (x *Hasher) lacking(theirs *summed) *Difference {
	d := &Difference{Rows: theirs.rows}
	for _, t := range x.w.Types.Sparse[:len(x.sets)] {
		if x.h.Types[t.ID]|setKey == theirs.key {
			d.Type = t
		}
	}
	return d
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
	for count := next(); err == nil && (count > uint64(len(list)) || len(b) > 0); {
		if count == uint64(len(list)) {
			return nil, fmt.Errorf("%d bytes follow their end", len(b))
		}
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
	return list, err
}
