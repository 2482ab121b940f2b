package entity

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"quarry/bitmask"
	"quarry/ecs/internal/codec"
	"quarry/internal/universe"
)

// A store in a file: its records lie there as in memory, and an Image has the rest. What follows
// from that is counted anew.

// Image is a store without its records.
type Image struct {
	Tag      Tag
	Records  int // number of records, live or not
	free     []uint64
	word     uint64
	wordBase uint32
	next     uint32 // hint of the reservations
	reserved []imageBlock
}

// imageBlock is a block of reservations.
type imageBlock struct {
	number, next int
	used         []uint64
	versions     []uint32
}

// ImageOf returns the image of a store at a moment. Any goroutine may call it.
func (s *Store) ImageOf(from *Moment) *Image {
	im := &Image{
		Tag: s.view.tag, Records: from.Records(), free: from.free, word: from.word, wordBase: from.wordBase,
		next: uint32(from.next),
	}
	for _, b := range from.reserved {
		var c indexBlock
		c.versions = new([blockSize]uint32)
		b.copyAt(s, from.number, &c)
		im.reserved = append(im.reserved, imageBlock{b.number, c.next, slices.Clone(c.used[:]), c.versions[:]})
	}
	return im
}

// Code codes the image.
func (im *Image) Code(c *codec.Coder) {
	tag := im.Tag.Number()
	c.Half(&tag)
	im.Tag = TagOf(tag % Worlds)
	c.Number(&im.Records)
	c.Words(&im.free)
	c.Word(&im.word)
	c.Half(&im.wordBase)
	c.Half(&im.next)
	codec.List(c, &im.reserved, func(b *imageBlock) {
		c.Number(&b.number)
		c.Number(&b.next)
		c.Words(&b.used)
		c.Halves(&b.versions)
	})
}

// Check returns what is wrong with an image that was read, or nil. size is the size of the records
// in bytes.
func (im *Image) Check(size int) error {
	blocks := im.Records / blockSize
	switch {
	case im.Records%blockSize != 0 || im.Records > MaxIDs || im.Records*int(recordSize) != size ||
		len(im.free)*64 != im.Records:
		return fmt.Errorf("%d records in %d bytes, with %d words of free bits", im.Records, size, len(im.free))
	case im.wordBase%64 != 0 || im.word != 0 && int(im.wordBase) >= im.Records:
		return fmt.Errorf("indices from %d on are at hand, of %d", im.wordBase, im.Records)
	case im.word != 0 && im.free[im.wordBase/64]&im.word != 0:
		return fmt.Errorf("indices from %d on are both free and at hand", im.wordBase)
	case im.Records > 0 && (im.free[0]&1 != 0 || im.free[len(im.free)-1]>>63 != 0):
		return fmt.Errorf("index 0 or %d is free", im.Records-1)
	case im.word != 0 &&
		(im.wordBase == 0 && im.word&1 != 0 || int(im.wordBase)+64 == im.Records && im.word>>63 != 0):
		return fmt.Errorf("index 0 or %d is at hand", im.Records-1)
	}
	return im.checkReserved(blocks)
}

// checkReserved checks the blocks of reservations, beside or after blocks with records.
func (im *Image) checkReserved(blocks int) error {
	last, within := -1, 0
	for _, b := range im.reserved {
		if b.number <= last || b.number >= maxBlocks || uint(b.next) >= blockSize || len(b.used) != blockSize/64 ||
			len(b.versions) != blockSize {
			return fmt.Errorf("block %d of reservations follows %d, with %d bits and %d versions",
				b.number, last, len(b.used)*64, len(b.versions))
		}
		if last = b.number; b.number < blocks &&
			bitmask.Bits(im.free[b.number*blockSize/64:][:blockSize/64]).Count() > 0 {
			return fmt.Errorf("block %d is of reservations, and has free indices", b.number)
		}
		for i := range blockSize {
			set := b.used[i/64]>>(i%64)&1 != 0
			nobodys := isExcluded(uint32(b.number*blockSize + i))
			if alive := b.versions[i]&1 != 0; !set && (alive || nobodys) || alive && nobodys {
				return fmt.Errorf("index %d has version %d and is not in use, or nobody's",
					b.number*blockSize+i, b.versions[i])
			}
		}
		if b.number < blocks {
			within++
		}
	}
	if last >= blocks+len(im.reserved)-within {
		return fmt.Errorf("block %d is of reservations, of %d with records and %d behind them",
			last, blocks, len(im.reserved)-within)
	}
	return nil
}

// Adopt makes a new store, which has no ids, that of an image that was checked. fill makes an
// extent of size 0 the records, which are checked against the rows of the file, unless fill trusts
// them. After an error, which wraps ErrImage, or is the universe's or from fill, the store is to be
// closed.
func (s *Store) Adopt(im *Image, rows *ImageRows,
	fill func(x *universe.Extent, size int) (Filled, error)) (err error) {
	s.SetTag(im.Tag)
	runs, err := s.allocBlocks(len(im.reserved))
	if err != nil {
		return err
	}
	for i, b := range im.reserved {
		s.adoptBlock(b, runs[i])
	}
	size := im.Records * int(recordSize)
	var filled Filled
	if size > 0 {
		if filled, err = fill(s.records, size); err != nil {
			return err
		}
	}
	s.view.base, s.view.n = s.records.Base(), uint32(im.Records)
	s.free, s.word, s.wordBase = im.free, im.word, im.wordBase
	s.summary, s.nFree = make([]uint64, len(im.free)/64), bits.OnesCount64(im.word)
	for word, mask := range s.free {
		if mask != 0 {
			s.summary[word/64] |= 1 << (word % 64)
			s.nFree += bits.OnesCount64(mask)
		}
	}
	s.own = im.Records / blockSize
	for _, b := range im.reserved {
		if b.number < im.Records/blockSize {
			s.own--
		}
	}
	s.total.Store(int32(s.own + len(im.reserved)))
	if o := s.reservations.Load(); o != nil {
		o.hint.Store(int32(min(im.next, uint32(o.end.Load()-1))))
	}
	if filled.Trusted {
		return nil
	}
	return s.admit(rows, filled.Scan)
}

// Filled is how an extent was filled with records.
type Filled struct {
	Trusted bool // they are not checked
	// Scan calls visit with the bytes of all records, from byte at on, in pieces of whole words of
	// 64 records, one call at a time. Nil: the extent is read. Reading a file is cheaper than the
	// first touch of each page that shows it.
	Scan func(visit func(at int, b []byte) error) error
}

// ErrImage is wrapped by the error of Adopt for records that make no sense.
var ErrImage = errors.New("it is damaged")

// adoptBlock makes a block of reservations.
func (s *Store) adoptBlock(from imageBlock, run universe.ChunkIndex) {
	o, b := s.makeReservations(), s.newBlock(from.number, run)
	o.indices += blockSize - int(b.count.Load())
	copy(b.used[:], from.used)
	copy(b.versions[:], from.versions)
	b.next = from.next
	b.count.Store(int32(bitmask.Bits(b.used[:]).Count()))
	for _, v := range from.versions {
		o.alive += int(v & 1)
	}
	o.block[b.number].Store(b)
	o.end.Store(int32(b.number + 1))
	if n := blockSize - int(b.count.Load()); n > 0 {
		o.open[b.number/64].Or(1 << (b.number % 64))
		o.free.Add(int64(n))
	}
}

// Free returns the number of records whose ids are handed out before new ones are made.
func (im *Image) Free() int { return bitmask.Bits(im.free).Count() + bits.OnesCount64(im.word) }

// Bytes returns the size of the records in bytes.
func (im *Image) Bytes() int { return im.Records * int(recordSize) }
