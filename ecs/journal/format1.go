package journal

import "encoding/binary"

// Logs of format 1 are read and never written: opening one makes a new base with a log of format 2.
// In their headers
//
//	12  4 B  0
//	40  4    what the first record has as the checksum of the record before
//	44 16    0
//
// is what differs. The header of a record:
//
//	 0  8 B  magic
//	 8  8    number of the commit
//	16  8    number of the last commit that was on the disk
//	24  8    bytes of the delta
//	32  4    checksum of the delta
//	36  4    own of the record before
//	40  4    0
//	44  4    own: CRC-32C of bytes 0 to 43
//
// The magic is the same in all logs, so a program may have written such a header into its world. If
// it did, and a crash cut the record after it, the log is refused, and CutDamaged opens it.

const (
	recordMagic1 = "\x89commit\n"
	recordBytes1 = 48
)

// format1 reads what format 1 has elsewhere.
func (h *logHeader) format1(b []byte) {
	h.before = binary.LittleEndian.Uint32(b[40:])
	copy(h.key[:], recordMagic1)
}

// format1 reads what format 1 has elsewhere.
func (h *recordHeader) format1(b []byte) {
	h.bytes = int64(binary.LittleEndian.Uint64(b[24:]))
	h.delta = binary.LittleEndian.Uint32(b[32:])
	h.before = binary.LittleEndian.Uint32(b[36:])
}
