package entity

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// Records of a file. Look-ups index column addresses and chunks by the location in a record,
// without a bound, so each record is checked once, when a store adopts it: those that are alive
// lead to rows, each to one of its own, and there are as many as rows; those that are not lead
// nowhere, and are free exactly where their bits are set (R1, R10).
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

// takeRun is take for up to 64 records from the first of a list on, as many as the row block has
// rows from the location of the first on. It returns their number, or 0, and has done nothing then,
// unless all of them are alive, lead to rows one after the other, and no record had one of these.
func (r *ImageRows) takeRun(list []Record) (n int) {
	l := list[0].Location
	at, row := int(l>>RowBits), uint32(l&(1<<RowBits-1))
	if at >= len(r.list) || row >= r.list[at].n {
		return 0
	}
	s := &r.list[at]
	list = list[:min(len(list), int(s.n-row), 64)]
	if differ(list, uint64(l)<<32|1, 1<<32) {
		return 0
	}
	// The bits of the run lie in one word, or in two.
	bit := s.first + row
	word, mask := bit/64, ^uint64(0)>>(64-len(list))
	low, high := mask<<(bit%64), mask>>1>>(63-bit%64)
	if r.taken[word]&low != 0 || high != 0 && r.taken[word+1]&high != 0 {
		return 0
	}
	if r.taken[word] |= low; high != 0 {
		r.taken[word+1] |= high
	}
	if to := Location(s.to<<RowBits | row); to != l { // a page that is written is copied
		for i := range list {
			list[i].Location += to - l
		}
	}
	return len(list)
}

// dead reports whether all records of a list are dead and lead nowhere.
func dead(list []Record) bool { return !differ(list, 0, 0) }

// differ reports whether a record differs from first, that of the next from first+step, and so on,
// in its location, or in bit 0 of its version. All of them are read, without a branch for each.
func differ(list []Record, first, step uint64) bool {
	// Where bit 0 is equal the location lends nothing, as first is 0 or 1 below the location.
	var d uint64
	for ; len(list) >= 8; list = list[8:] {
		x := list[:8]
		d |= x[0].word() - first
		d |= x[1].word() - (first + step)
		d |= x[2].word() - (first + 2*step)
		d |= x[3].word() - (first + 3*step)
		d |= x[4].word() - (first + 4*step)
		d |= x[5].word() - (first + 5*step)
		d |= x[6].word() - (first + 6*step)
		d |= x[7].word() - (first + 7*step)
		first += 8 * step
	}
	for i := range list {
		d |= list[i].word() - first
		first += step
	}
	return d&(math.MaxUint32<<32|1) != 0
}

// word returns the version of a record and, above, its location.
func (r *Record) word() uint64 { return uint64(r.version) | uint64(r.Location)<<32 }

// admit checks the records of a store that was adopted: those that scan reads, or, if it is nil,
// those in the extent, which it moves to the locations that they get. The error wraps ErrImage, or
// is from scan.
func (s *Store) admit(rows *ImageRows, scan func(visit func(at int, b []byte) error) error) error {
	rows.taken = make([]uint64, (rows.rows+63)/64)
	alive, o := 0, s.reservations.Load()
	if o == nil {
		o = &noReservations
	}
	admit := func(first int, list []Record) error {
		n, err := s.admitRecords(rows, o, first, list)
		alive += n
		return wrapImage(err)
	}
	if scan == nil {
		scan = func(func(int, []byte) error) error { return admit(0, s.all()) }
	}
	if err := scan(func(at int, b []byte) error {
		// Safe because the bytes are those of records, and aligned as a buffer's beginning is.
		list := unsafe.Slice((*Record)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(recordSize))
		return admit(at/int(recordSize), list)
	}); err != nil {
		return err
	}
	if alive != rows.rows {
		return wrapImage(fmt.Errorf("%d records are alive, there are %d rows", alive, rows.rows))
	}
	return wrapImage(s.admitBehind(o))
}

// wrapImage wraps an error, which may be nil, in ErrImage.
func wrapImage(err error) error {
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrImage, err)
	}
	return err
}

// admitRecords checks records, of whole words, from an index on, and returns how many are alive.
func (s *Store) admitRecords(rows *ImageRows, o *reservations, first int, list []Record) (alive int, err error) {
	for word := first / 64; len(list) > 0; word, list = word+1, list[64:] {
		free := s.free[word]
		if s.word != 0 && int(s.wordBase/64) == word {
			free |= s.word
		}
		set, err := rows.admitWord(list[:64], word*64)
		if err != nil {
			return 0, err
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
			err = fmt.Errorf("index 0 or %d is alive, or one of a block of reservations is free", len(s.free)*64-1)
		} else if b != nil {
			err = b.admitWord(list[:64], word*64)
		} else if free^set != ^nobodys {
			err = fmt.Errorf("indices from %d on are alive: %#x, and free: %#x", word*64, set, free)
		}
		if err != nil {
			return 0, err
		}
	}
	return alive, nil
}

// admitWord checks 64 records and returns which are alive. Records that are dead up to the end, or
// lead to rows one after the other, are checked at once; from the first on that do neither, the
// rest is checked record by record.
func (r *ImageRows) admitWord(list []Record, first int) (alive uint64, err error) {
	for at := 0; at < len(list); {
		if list[at].version&1 == 0 {
			if !dead(list[at:]) {
				return r.admitEach(list, first, at, alive)
			}
			break
		}
		n := r.takeRun(list[at:])
		if n == 0 {
			return r.admitEach(list, first, at, alive)
		}
		alive |= ^uint64(0) >> (64 - n) << at
		at += n
	}
	return alive, nil
}

// admitEach is the rest of admitWord, from a record on, record by record.
func (r *ImageRows) admitEach(list []Record, first, at int, alive uint64) (uint64, error) {
	for i := at; i < len(list); i++ {
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
