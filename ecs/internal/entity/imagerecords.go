package entity

import (
	"fmt"
	"math/bits"
)

// Records of a file. Look-ups index column addresses and chunks by what a record says, without a
// bound, so each record is checked once, when a store adopts it: those that are alive lead to rows,
// each to one of its own, and there are as many as rows; those that are not lead nowhere, and are
// free exactly where the bits say so (R1, R10).
//
//	record 12   version 3, alive   -->   row block 5, row 17   -->   is row 17 there, and nobody's yet?
//	record 13   version 2          -->   Nowhere, and its bit is set

// ImageRows are the locations in a file that have rows, and the locations that these get.
type ImageRows struct {
	list  []rowBlockRows // by row block in the file
	taken []uint64       // bit set: a record leads to the row
	rows  int
	moved bool // a row block has another number than in the file
}

// rowBlockRows are the rows of a row block.
type rowBlockRows struct {
	first, n uint32 // of the bits of taken
	to       uint32 // number that the row block gets
}

// Add adds n rows of a chunk whose first row block in the file is from, and will be to.
func (r *ImageRows) Add(from, to, n int) {
	for r.moved = r.moved || from != to; n > 0; from, to = from+1, to+1 {
		here := min(n, 1<<RowBits)
		if from >= len(r.list) { // a file that lies has a number far away
			r.list = append(make([]rowBlockRows, 0, max(2*len(r.list), from+1)), r.list...)
			r.list = r.list[:cap(r.list)]
		}
		r.list[from] = rowBlockRows{uint32(r.rows), uint32(here), uint32(to)}
		r.rows, n = r.rows+here, n-here
	}
}

// Moved reports whether records change when they are checked.
func (r *ImageRows) Moved() bool { return r.moved }

// take makes the row at a location that of one record, and returns the location that it gets; false
// if there is no row, or another record has it.
func (r *ImageRows) take(l Location) (to Location, ok bool) {
	at, row := int(l>>RowBits), uint32(l&(1<<RowBits-1))
	if at >= len(r.list) || row >= r.list[at].n {
		return Nowhere, false
	}
	s := &r.list[at]
	bit := s.first + row
	if r.taken[bit/64]>>(bit%64)&1 != 0 {
		return Nowhere, false
	}
	r.taken[bit/64] |= 1 << (bit % 64)
	return Location(s.to<<RowBits | row), true
}

// admit checks the records of a store that was adopted, and moves them to the locations that they
// get.
func (s *Store) admit(rows *ImageRows) error {
	rows.taken = make([]uint64, (rows.rows+63)/64)
	alive, all, o := 0, s.all(), s.reservations.Load()
	if o == nil {
		o = &noReservations
	}
	for word, free := range s.free {
		if s.lease != 0 && int(s.leaseBase/64) == word {
			free |= s.lease
		}
		set, err := rows.admitWord(all[word*64:word*64+64], word*64)
		if err != nil {
			return err
		}
		alive += bits.OnesCount64(set)
		nobodys := uint64(0)
		if word == 0 {
			nobodys = 1
		}
		if word == len(s.free)-1 {
			nobodys |= 1 << 63
		}
		b := o.of(uint32(word * 64))
		if set&nobodys != 0 || b != nil && free != 0 {
			err = fmt.Errorf("index 0 or %d is alive, or one of a block of reservations is free", len(all)-1)
		} else if b != nil {
			err = b.admitWord(all[word*64:word*64+64], word*64)
		} else if free^set != ^nobodys {
			err = fmt.Errorf("indices from %d on are alive: %#x, and free: %#x", word*64, set, free)
		}
		if err != nil {
			return err
		}
	}
	if alive != rows.rows {
		return fmt.Errorf("%d records are alive, there are %d rows", alive, rows.rows)
	}
	return s.admitBehind(o)
}

// admitWord checks 64 records and returns which are alive.
func (r *ImageRows) admitWord(list []Record, first int) (alive uint64, err error) {
	for i := range list {
		x := &list[i]
		if x.version&1 == 0 {
			if x.Location != Nowhere {
				return 0, fmt.Errorf("index %d has version %d, which is not alive, and location %d",
					first+i, x.version, x.Location)
			}
			continue
		}
		to, ok := r.take(x.Location)
		if !ok {
			return 0, fmt.Errorf("index %d leads to row %d of row block %d, which is not there or another's",
				first+i, x.Location&(1<<RowBits-1), x.Location>>RowBits)
		}
		if alive |= 1 << i; to != x.Location { // a page that is written is copied
			x.Location = to
		}
	}
	return alive, nil
}

// admitWord compares 64 records with the versions that a block of reservations has.
func (b *indexBlock) admitWord(list []Record, first int) error {
	for i := range list {
		if v := b.versions[(first+i)%blockSize]; list[i].version != v && (list[i].version|v)&1 != 0 {
			return fmt.Errorf("index %d has version %d, its record %d", first+i, v, list[i].version)
		}
	}
	return nil
}

// admitBehind checks that no index without a record is alive.
func (s *Store) admitBehind(o *reservations) (err error) {
	o.all(func(b *indexBlock) {
		for i, v := range b.versions {
			if index := b.number*blockSize + i; index >= int(s.view.n) && v&1 != 0 && err == nil {
				err = fmt.Errorf("index %d has version %d, and no record", index, v)
			}
		}
	})
	return err
}
