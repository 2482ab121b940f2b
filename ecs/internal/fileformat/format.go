package fileformat

import (
	"fmt"

	"quarry/ecs/internal/worldfile"
	"quarry/mmap"
)

// A world file, format 1. All numbers are little endian, all bytes between sections are zero:
//
//	     0   header        a page of 4,096 B, see header.go
//	 4,096   types         described sections, each at a multiple of 64 B
//	         tables
//	         ids
//	         names
//	         sparse
//	         managed
//	 2 MiB   rows          whole granules of 2 MiB, at a multiple of 2 MiB, so that they map
//	         records       at a multiple of 2 MiB
//	         entries       at a multiple of 2 MiB: zeros after the records fill their last granule
//	         sums          at a multiple of 64 B; nothing is after them
//
// F1  The lengths of the sections decide all offsets: each section begins at the first multiple of
// its alignment after what is before it. So a header has nothing to overlap or to leave gaps.
//
// F2  Each byte is covered: the header by its own checksum, a described section by one in the
// header, rows, records and entries by one per MiB in sums, sums by one after them that goes on
// from the header's, and the rest is zero.
//
// F3  A file is written in one pass: the header has only fields that are known before rows are
// read, and those known afterwards lie at the end.

// Sections, in the order in which they lie in a file. First the described ones, then the bulk
// parts, both numbered as by package worldfile.
const (
	firstBulk = worldfile.ImageMeta
	sums      = firstBulk + worldfile.ImageBulk
	sections  = sums + 1
)

// Bytes.
const (
	headerBytes  = 4096
	granuleBytes = mmap.Granule
	sumEvery     = 1 << 20 // that a checksum of a bulk part covers; fewer in the last
	sumBytes     = 4       // of a checksum: CRC-32C
	metaAlign    = 64
	mostBytes    = 1 << 46 // in a section, 64 TiB, so that sums of a few do not overflow
)

var sectionNames = [sections]string{
	worldfile.ImageTypes:               "types",
	worldfile.ImageTables:              "tables",
	worldfile.ImageIDs:                 "ids",
	worldfile.ImageNames:               "names",
	worldfile.ImageSparse:              "sparse",
	worldfile.ImageManaged:             "managed",
	firstBulk + worldfile.ImageRows:    "rows",
	firstBulk + worldfile.ImageRecords: "records",
	firstBulk + worldfile.ImageEntries: "entries",
	sums:                               "sums",
}

// plan is where the sections of a file lie.
type plan struct {
	at, n [sections]int64 // first byte, and bytes
	total int64           // bytes of the file
}

// planOf returns the plan of a file by the lengths of all sections but the sums, each of which is
// in [0, mostBytes].
func planOf(n [sums]int64) (p plan) {
	copy(p.n[:], n[:])
	p.n[sums] = sumBytes * int64(p.sumIndex(worldfile.ImageBulk, 0)+1)
	end := int64(headerBytes)
	for s := range sections {
		p.at[s] = up(end, alignOf(s))
		end = p.at[s] + p.n[s]
	}
	p.total = end
	return p
}

// badLengths names the section that cannot have its length; "" if planOf takes them.
func badLengths(n *[sums]int64) string {
	for s, bytes := range n {
		if uint64(bytes) > mostBytes {
			return fmt.Sprintf("section %s has %d bytes, at most %d are possible",
				sectionNames[s], uint64(bytes), int64(mostBytes))
		}
	}
	if rows := n[firstBulk+worldfile.ImageRows]; rows%granuleBytes != 0 {
		return fmt.Sprintf("section rows has %d bytes, which are no multiple of %d", rows, granuleBytes)
	}
	return ""
}

// lengthsOf returns the lengths of the sections of an image.
func lengthsOf(img *worldfile.Image) (n [sums]int64) {
	for s := range n {
		if s < firstBulk {
			n[s] = int64(len(img.Meta[s]))
		} else {
			n[s] = int64(img.Size[s-firstBulk])
		}
	}
	return n
}

// alignOf returns what the offset of a section is a multiple of.
func alignOf(section int) int64 {
	if section >= firstBulk && section < sums {
		return granuleBytes
	}
	return metaAlign
}

// sumsOf returns the number of checksums of a bulk part.
func (p *plan) sumsOf(part int) int {
	return int((p.n[firstBulk+part] + sumEvery - 1) / sumEvery)
}

// sumIndex returns the place in sums of the checksum of a MiB of a bulk part. For the number of
// parts and 0 it is the number of checksums.
func (p *plan) sumIndex(part, mib int) int {
	for before := range part {
		mib += p.sumsOf(before)
	}
	return mib
}

// up returns the first multiple of align, a power of two, from n on.
func up(n, align int64) int64 { return (n + align - 1) &^ (align - 1) }
