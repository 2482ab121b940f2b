package fileformat

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

// tally computes the checksums of one bulk part, whose bytes come in order.
type tally struct {
	n, at int64    // bytes of the part, and those that came
	sum   uint32   // of the MiB that is not complete
	sums  []uint32 // of those that are
}

// add counts bytes, of which no more come than the part has.
func (t *tally) add(b []byte) {
	for len(b) > 0 {
		m := min(sumEvery-t.at%sumEvery, int64(len(b)))
		t.sum = crc32.Update(t.sum, castagnoli, b[:m])
		t.at, b = t.at+m, b[m:]
		if t.at%sumEvery == 0 || t.at == t.n {
			t.sums, t.sum = append(t.sums, t.sum), 0
		}
	}
}

// differing returns an error that names the first MiB of a part whose checksum is not the one in
// sums, and how many more there are; nil if there is none. seen has the checksums of the part from
// MiB first on, said the recorded ones of all parts.
func (h *header) differing(part, first int, seen, said []uint32) error {
	said = said[h.sumIndex(part, first):][:len(seen)]
	if slices.Equal(seen, said) {
		return nil
	}
	at, more := -1, -1
	for i := range seen {
		if seen[i] != said[i] {
			if more++; at < 0 {
				at = i
			}
		}
	}
	s, mib := firstBulk+part, int64(first+at)
	lo, hi := h.at[s]+mib*sumEvery, h.at[s]+min((mib+1)*sumEvery, h.n[s])
	also := ""
	if more > 0 {
		also = fmt.Sprintf(", and %d more", more)
	}
	return refused("section %s is damaged between bytes %d and %d of the file, its MiB %d%s: the checksum is %08x, the file says %08x",
		sectionNames[s], lo, hi, mib, also, seen[at], said[at])
}

// encodeSums returns the bytes of sums: the checksums of all parts, and one of them that goes on
// from the header's, so that a file is not put together from two.
func (h *header) encodeSums(list []uint32) []byte {
	b := make([]byte, 0, h.n[sums])
	for _, sum := range list {
		b = binary.LittleEndian.AppendUint32(b, sum)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Update(h.own, castagnoli, b))
}

// decodeSums is the inverse of encodeSums.
func (h *header) decodeSums(b []byte) (list []uint32, err error) {
	end := len(b) - sumBytes
	if sum, said := crc32.Update(h.own, castagnoli, b[:end]), binary.LittleEndian.Uint32(b[end:]); sum != said {
		return nil, refused("section sums at byte %d is damaged or of another file: its checksum is %08x, it says %08x",
			h.at[sums], sum, said)
	}
	for at := 0; at < end; at += sumBytes {
		list = append(list, binary.LittleEndian.Uint32(b[at:]))
	}
	return list, nil
}
