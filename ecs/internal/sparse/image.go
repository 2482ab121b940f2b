package sparse

import (
	"errors"
	"fmt"
	"unsafe"

	"quarry/bitmask"
	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/past"
)

// A set in a file: its entities and values lie there one after the other, from entry 1 on, and an
// Image has the rest. Places are made anew, for they follow from the entities.

// ErrImage is wrapped by the error of Adopt for entries that make no sense.
var ErrImage = errors.New("it is damaged")

// Image is a set without its entities and values.
type Image struct {
	Len            int // entries
	size           int // bytes of a value
	opened, latest uint32
	versions       []uint32
	bits           []uint64 // nil: a set without bits
	has            bool     // bits
}

// ImageOf returns the image of a set at a moment, with bits or without. Any goroutine may call it.
func (s *Set) ImageOf(from *State, bits bool) Image {
	im := Image{Len: int(from.last), size: int(s.size), opened: from.opened, latest: from.latest, has: bits}
	if im.Len > 0 {
		im.versions = from.versions[:im.blocks()]
		if im.has {
			im.bits = from.bits[:im.words()]
		}
	}
	return im
}

// blocks and words return the number of versions, and of words of bits, of the entries.
func (im *Image) blocks() int { return im.Len/BlockSize + 1 }
func (im *Image) words() int  { return im.Len/64 + 1 }

// Code codes the image.
func (im *Image) Code(c *codec.Coder) {
	c.Number(&im.Len)
	c.Number(&im.size)
	c.Half(&im.opened)
	c.Half(&im.latest)
	c.Halves(&im.versions)
	c.Flag(&im.has)
	c.Words(&im.bits)
}

// IDBytes and ValueBytes return the bytes of the entities and of the values.
func (im *Image) IDBytes() int { return im.Len * int(idSize) }

// ValueBytes is described at IDBytes.
func (im *Image) ValueBytes() int { return im.Len * im.size }

// Fits reports whether the entities and values take at most n bytes.
func (im *Image) Fits(n int) bool { return im.Len == 0 || im.size <= n/im.Len-int(idSize) }

// ReadIDs fills dst with the bytes of the entities of a layer, from byte at of them on, and
// ReadValues with those of the values. Any goroutine may call them.
func (s *Set) ReadIDs(l *past.Layer, at int, dst []byte) error {
	return l.ReadBytes(s.keeps[1], int(idSize)+at, dst)
}

// ReadValues is described at ReadIDs.
func (s *Set) ReadValues(l *past.Layer, at int, dst []byte) error {
	return l.ReadBytes(s.keeps[2], int(s.size)+at, dst)
}

// Check returns what is wrong with an image that was read, of a set of values of so many bytes,
// with bits or without, or nil.
func (im *Image) Check(size int, bits bool) error {
	switch {
	case im.size != size || im.has != bits:
		return fmt.Errorf("values of %d B, with bits: %v; there are %d B, %v", im.size, im.has, size, bits)
	case im.Len > entity.MaxIDs:
		return fmt.Errorf("%d entries", im.Len)
	case im.Len == 0 && len(im.versions)+len(im.bits) > 0, im.Len > 0 &&
		(len(im.versions) != im.blocks() || im.has && len(im.bits) != im.words() || !im.has && len(im.bits) > 0):
		return fmt.Errorf("%d entries have %d versions and %d words of bits", im.Len, len(im.versions), len(im.bits))
	case len(im.bits) > 0 && bitmask.Bits(im.bits).CountRange(im.Len+1, len(im.bits)*64-im.Len-1) > 0:
		return fmt.Errorf("bits are set behind %d entries", im.Len)
	}
	return nil
}

// Adopt makes an empty set that of an image that was checked. read reads bytes, of the entities and
// then of the values; the latter are as the set has them, unless fill is set, which writes them,
// of all entries, from an address on. Values of a set with bits whose image has none are enabled.
// known reports whether an entity may have a value. most is above the indices of all entities.
// After an error the set is to be closed.
func (s *Set) Adopt(im *Image, most uint32, read func(dst []byte) error, fill func(to unsafe.Pointer) error,
	known func(entity.ID) bool) error {
	s.opened, s.latest = im.opened, im.latest
	if im.Len == 0 {
		return nil
	}
	if err := s.Reserve(im.Len, most); err != nil {
		return err
	}
	// Safe because there is room for the entities and values of so many entries.
	if err := read(unsafe.Slice((*byte)(unsafe.Pointer(s.id(1))), im.IDBytes())); err != nil {
		return err
	}
	if fill != nil {
		if err := fill(s.Value(1)); err != nil {
			return err
		}
	} else if im.size > 0 {
		if err := read(unsafe.Slice((*byte)(s.Value(1)), im.ValueBytes())); err != nil { // Safe as above.
			return err
		}
	}
	s.last = Entry(im.Len)
	copy(s.versions, im.versions)
	if copy(s.bits, im.bits); s.bits != nil && !im.has {
		bitmask.Bits(s.bits).SetRange(1, im.Len)
	}
	for i, e := range s.IDs() {
		if !known(e) || *s.place(e.Index()) != 0 {
			s.last = 0
			return fmt.Errorf("%w: entry %d is of %v, which is not alive or has another", ErrImage, i, e)
		}
		*s.place(e.Index()) = Entry(i + 1)
	}
	return nil
}
