package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"quarry/ecs/internal/fileformat"
)

// A log holds the commits after a base, one record each. All numbers are little endian:
//
//	 0  64 B  header       names the base, see logHeader
//	64  56 B  record       key, number, length and checksums, see recordHeader
//	   any B  delta        as ecs.EncodeDelta writes it
//	    56 B  record
//	          ...
//	    56 B  mark         a record without a delta: all before was on the disk
//
// Each record has the checksum of the one before, so records of two logs, or a log without one of
// its records, do not follow one another. The checksum of a record header covers all of it; that of
// the delta, which the header repeats, covers the delta. So each byte of a log is covered once.
//
// Records begin with the key of their log, a random number. So nothing that a program writes into
// its world looks like the header of a record, also where a crash leaves a part of a delta.
//
// The next record replaces a mark, so there is one at most, at the end. Format 1 is read alone; see
// format1.go.

const (
	logMagic  = "\x89qrylog\n"
	logFormat = 2

	logHeaderBytes    = 64
	recordHeaderBytes = 56

	maxRecord = 1 << 46 // bytes of the largest delta that is read; as for sections of world files
)

// logHeader is the header of a log:
//
//	 0  8 B  magic
//	 8  4    format: 2
//	12  4    the first record's "checksum of the header before"
//	16  8    number of the commit whose state the base has
//	24  8    bytes of the base
//	32  4    checksum of the header of the base
//	36  4    checksum at the end of the base
//	40  8    key
//	48  8    epoch: 0
//	56  4    0
//	60  4    CRC-32C of bytes 0 to 59
type logHeader struct {
	format uint32
	number uint64
	base   fileformat.Identity
	before uint32
	key    [8]byte // with which a record begins
	epoch  uint64
}

// encode returns the bytes of a header of format 2.
func (h *logHeader) encode() []byte {
	b := make([]byte, logHeaderBytes)
	copy(b, logMagic)
	binary.LittleEndian.PutUint32(b[8:], logFormat)
	binary.LittleEndian.PutUint32(b[12:], h.before)
	binary.LittleEndian.PutUint64(b[16:], h.number)
	binary.LittleEndian.PutUint64(b[24:], uint64(h.base.Bytes))
	binary.LittleEndian.PutUint32(b[32:], h.base.Header)
	binary.LittleEndian.PutUint32(b[36:], h.base.Sums)
	copy(b[40:], h.key[:])
	binary.LittleEndian.PutUint64(b[48:], h.epoch)
	binary.LittleEndian.PutUint32(b[60:], crc(b[:60]))
	return b
}

// errLogFormat is wrapped by the error of a log that is whole, and of another format.
var errLogFormat = errors.New("another version of Quarry wrote it")

// decodeLog is the inverse of encode, and reads headers of format 1.
func decodeLog(b []byte) (h logHeader, err error) {
	if string(b[:8]) != logMagic {
		return h, badLog("it begins with %q", b[:8])
	}
	if sum, said := crc(b[:60]), binary.LittleEndian.Uint32(b[60:]); sum != said {
		return h, badLog("its header is damaged: the checksum is %08x, it says %08x", sum, said)
	}
	h.format = binary.LittleEndian.Uint32(b[8:])
	h.number = binary.LittleEndian.Uint64(b[16:])
	h.base.Bytes = int64(binary.LittleEndian.Uint64(b[24:]))
	h.base.Header = binary.LittleEndian.Uint32(b[32:])
	h.base.Sums = binary.LittleEndian.Uint32(b[36:])
	switch h.format {
	case 1:
		h.format1(b)
	case logFormat:
		h.before = binary.LittleEndian.Uint32(b[12:])
		h.key = [8]byte(b[40:])
		h.epoch = binary.LittleEndian.Uint64(b[48:])
	default:
		return h, badLog("%w: its format is %d, this is a program for formats 1 to %d",
			errLogFormat, h.format, logFormat)
	}
	return h, nil
}

// recordHeader is what comes before a delta:
//
//	 0  8 B  key of the log
//	 8  8    number of the commit; larger than that of the record before
//	16  8    number of the last commit that was on the disk when this was written
//	24  8    epoch: 0, and never less than that of the record before
//	32  8    bytes of the delta
//	40  4    checksum of the delta, its last 4 bytes
//	44  4    checksum of the header before
//	48  4    0
//	52  4    checksum of this header: CRC-32C of bytes 0 to 51
//
// A mark has the number of the record before as both numbers, and 0 as bytes and checksum.
type recordHeader struct {
	key            [8]byte
	number, synced uint64
	epoch          uint64
	bytes          int64
	delta          uint32
	before, own    uint32
}

// seal fills the first bytes of a record, which is complete but for them, and notes the checksums.
func (h *recordHeader) seal(record []byte) {
	b, delta := record[:recordHeaderBytes], record[recordHeaderBytes:]
	clear(b)
	if h.bytes = int64(len(delta)); h.bytes > 0 {
		h.delta = binary.LittleEndian.Uint32(delta[len(delta)-4:])
	}
	copy(b, h.key[:])
	binary.LittleEndian.PutUint64(b[8:], h.number)
	binary.LittleEndian.PutUint64(b[16:], h.synced)
	binary.LittleEndian.PutUint64(b[24:], h.epoch)
	binary.LittleEndian.PutUint64(b[32:], uint64(h.bytes))
	binary.LittleEndian.PutUint32(b[40:], h.delta)
	binary.LittleEndian.PutUint32(b[44:], h.before)
	h.own = crc(b[:52])
	binary.LittleEndian.PutUint32(b[52:], h.own)
}

// decodeRecord reads the header of a record of the log. why is its defect, "" for none.
func (l *logHeader) decodeRecord(b []byte) (h recordHeader, why string) {
	if h.key = [8]byte(b); h.key != l.key {
		return h, fmt.Sprintf("it begins with % x, records of this log with % x", h.key, l.key)
	}
	end := l.recordBytes() - 4
	h.own = binary.LittleEndian.Uint32(b[end:])
	if sum := crc(b[:end]); sum != h.own {
		return h, fmt.Sprintf("the checksum of its header is %08x, it says %08x", sum, h.own)
	}
	h.number = binary.LittleEndian.Uint64(b[8:])
	h.synced = binary.LittleEndian.Uint64(b[16:])
	if l.format == 1 {
		h.format1(b)
	} else {
		h.epoch = binary.LittleEndian.Uint64(b[24:])
		h.bytes = int64(binary.LittleEndian.Uint64(b[32:]))
		h.delta = binary.LittleEndian.Uint32(b[40:])
		h.before = binary.LittleEndian.Uint32(b[44:])
	}
	if h.bytes < 4 && !h.mark() || h.bytes > maxRecord {
		return h, fmt.Sprintf("its delta has %d bytes", h.bytes)
	}
	return h, ""
}

// recordBytes returns the bytes of the header of a record of the log.
func (l *logHeader) recordBytes() int64 {
	if l.format == 1 {
		return recordBytes1
	}
	return recordHeaderBytes
}

// mark reports whether the record is a mark.
func (h *recordHeader) mark() bool { return h.bytes == 0 && h.number == h.synced }

// sumsOfDelta returns the checksum of a delta, and the one that it has at its end.
func sumsOfDelta(b []byte) (sum, said uint32) {
	end := len(b) - 4
	return crc(b[:end]), binary.LittleEndian.Uint32(b[end:])
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc returns the CRC-32C of bytes.
func crc(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
