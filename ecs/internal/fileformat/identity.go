package fileformat

import (
	"encoding/binary"
	"fmt"

	"quarry/internal/disk"
)

// Identity distinguishes world files: its checksums cover each byte.
type Identity struct {
	Bytes        int64
	Header, Sums uint32
}

// Identify returns the identity of the file at a path. It reads its two checksums alone.
func Identify(d disk.Disk, path string) (id Identity, err error) {
	f, err := d.Open(path)
	if err != nil {
		return id, err
	}
	defer f.Close() // it is only read
	if id.Bytes, err = f.Size(); err != nil {
		return id, err
	}
	if id.Bytes < headerBytes+sumBytes {
		return id, fmt.Errorf("%s: %w", path, refused("it ends in the header, after %d bytes", id.Bytes))
	}
	var b [sumBytes]byte
	if _, err = f.ReadAt(b[:], headerBytes-sumBytes); err != nil {
		return id, err
	}
	id.Header = binary.LittleEndian.Uint32(b[:])
	if _, err = f.ReadAt(b[:], id.Bytes-sumBytes); err != nil {
		return id, err
	}
	id.Sums = binary.LittleEndian.Uint32(b[:])
	return id, nil
}

// Seed returns a checksum of the identity.
func (id Identity) Seed() uint32 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(id.Bytes))
	binary.LittleEndian.PutUint32(b[8:], id.Header)
	binary.LittleEndian.PutUint32(b[12:], id.Sums)
	return crc(b[:])
}
