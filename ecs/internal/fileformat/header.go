package fileformat

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"quarry/ecs/internal/worldfile"
)

// The header, a page of 4,096 B:
//
//	offset  bytes
//	     0      8  magic: 89 71 75 61 72 72 79 0a, "\x89quarry\n"
//	     8      4  format, 1
//	    12      4  zero
//	    16      8  bytes of the file
//	    24      4  bytes of a granule, 2,097,152
//	    28      4  bytes that a checksum of a bulk part covers, 1,048,576
//	    32      4  sections, 10
//	    36     28  zero
//	    64 10 x 32  the sections, in the order in which they lie in the file:
//	               0  4  number of the section, from 1 on
//	               4  4  CRC-32C of its bytes; zero for bulk parts and sums
//	               8  8  offset in the file
//	              16  8  bytes
//	              24  8  zero
//	   384  3,708  zero
//	 4,092      4  CRC-32C of all before
//
// Magic, format and the checksum are in the same places in each format to come. The magic has a
// byte that is no text and a line feed, so a transfer that changes text breaks it.

const (
	magic       = "\x89quarry\n"
	formatOne   = 1
	entryBytes  = 32
	tableAt     = 64
	headerSumAt = headerBytes - sumBytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc returns the CRC-32C of bytes.
func crc(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// header is the fields of the header of a file.
type header struct {
	plan
	sums [firstBulk]uint32 // of the described sections
	own  uint32            // of the header
}

// encode returns the header as a page, and sets own.
func (h *header) encode() []byte {
	page := make([]byte, headerBytes)
	le := binary.LittleEndian
	copy(page, magic)
	le.PutUint32(page[8:], formatOne)
	le.PutUint64(page[16:], uint64(h.total))
	le.PutUint32(page[24:], granuleBytes)
	le.PutUint32(page[28:], sumEvery)
	le.PutUint32(page[32:], sections)
	for s := range sections {
		e := page[tableAt+s*entryBytes:]
		le.PutUint32(e, uint32(s+1))
		if s < firstBulk {
			le.PutUint32(e[4:], h.sums[s])
		}
		le.PutUint64(e[8:], uint64(h.at[s]))
		le.PutUint64(e[16:], uint64(h.n[s]))
	}
	h.own = crc(page[:headerSumAt])
	le.PutUint32(page[headerSumAt:], h.own)
	return page
}

// decode returns what a page says that is the header of a file. Whatever the page holds, a header
// that it accepts has sections that lie one after the other, as planOf would place them, and is
// the only one of its meaning.
func decode(page []byte) (h header, err error) {
	le := binary.LittleEndian
	if string(page[:len(magic)]) != magic {
		return h, refused("it does not begin as one, but with % x", page[:len(magic)])
	}
	if sum, said := crc(page[:headerSumAt]), le.Uint32(page[headerSumAt:]); sum != said {
		return h, refused("the header is damaged: its checksum is %08x, it says %08x", sum, said)
	}
	if format := le.Uint32(page[8:]); format != formatOne {
		return h, refused("it has format %d, this version reads format %d", format, formatOne)
	}
	var n [sums]int64
	for s := range n {
		e := page[tableAt+s*entryBytes:]
		n[s] = int64(le.Uint64(e[16:]))
		if s < firstBulk {
			h.sums[s] = le.Uint32(e[4:])
		}
	}
	if why := badLengths(&n); why != "" {
		return h, refused("%s", why)
	}
	h.plan = planOf(n)
	for s := range sections {
		if at := le.Uint64(page[tableAt+s*entryBytes+8:]); at != uint64(h.at[s]) {
			return h, refused("section %s is at byte %d, by the lengths of the sections at %d",
				sectionNames[s], at, h.at[s])
		}
	}
	if total := le.Uint64(page[16:]); total != uint64(h.total) {
		return h, refused("it has %d bytes by its header, by the lengths of the sections %d", total, h.total)
	}
	if again := h.encode(); !bytes.Equal(again, page) {
		at := 0
		for again[at] == page[at] {
			at++
		}
		return h, refused("byte %d of the header is %02x, in format %d it is %02x", at, page[at], formatOne, again[at])
	}
	return h, nil
}

// refused returns an error with a reason that wraps worldfile.ErrImage.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", worldfile.ErrImage, fmt.Errorf(format, args...))
}
