// Package image writes worlds to files and opens them again. A file is the world's memory, so
// opening it is mapping it.
//
//	err := image.SaveFile(w, "town.world")             // or of a snapshot, in another goroutine
//	w, err := image.Open("town.world", func(w *ecs.World) {
//		ecs.Register[Position](w)                      // all types, before any row is there
//	})
//	err = image.Check("town.world")                    // each byte
//	info, err := image.Describe("town.world")          // what it holds, without the types
//
// A file has all of a world: its entities with their ids, and the ids that come next, components of
// each kind, enable bits, versions, shared values, names. Values that hold Go pointers go through a
// codec of their type (ecs.Codec). Types that have changed since are converted (docs/files.md). A
// file holds no address and does not depend on the system that wrote it. Rows lie in whole granules
// of 2 MiB, so that they map; this one has 200,000 entities of 40 B:
//
//	    offset      bytes  section
//	         0      4,096  header
//	     4,096        412  types
//	     4,508         36  zeros
//	     4,544      5,240  tables
//	     9,784          8  zeros
//	     9,792         96  ids
//	     9,888         32  zeros
//	     9,920         20  names
//	     9,940         44  zeros
//	     9,984        310  sparse
//	    10,294         10  zeros
//	    10,304      1,210  managed
//	    11,514  2,085,638  zeros
//	 2,097,152 10,485,760  rows     5 granules of 2 MiB
//	12,582,912  1,600,008  records  200,001 ids, 8 B each
//	14,182,920    497,144  zeros
//	14,680,064     24,000  entries
//	14,704,064         56  sums     13 for each MiB of the three, 4 B each, and their own
//
// docs/files.md has the format byte by byte. Package journal keeps a world in a folder, as a world
// file and a log of what changed in each commit since.
//
// Ownership: [Save] and [SaveFile] of a world take a snapshot and close it; of a snapshot they
// leave it as it was. The world that [Open] or [Load] returns is the caller's, and so is its
// universe. [Open] closes the file, while its mapping lives as long as the world: writes go to
// copies of its pages, and the file never changes. It may be renamed or removed meanwhile, and
// [SaveFile] may replace it. Nobody may cut or overwrite it in place: a page that is gone faults
// (mmap.Guarded).
//
// Goroutines: saving a snapshot is reading it, so any goroutine may, beside the world's frames. A
// world is saved by its owner. Open, Load and Check may be called by any goroutine. The function
// that registers types runs in the caller's.
//
// Failure: [ErrFile] is wrapped wherever a file is refused: no world file, another format, cut
// short, damaged. The text names the section, where it lies, and both checksums. Errors of the
// system come as they are, with the path and the step. SaveFile writes a temporary file beside the
// path, syncs it and renames it; whatever fails before, the old file stays, and a process that is
// killed leaves at most a file .quarry-*.tmp behind.
//
// What is checked: a checksum (CRC-32C) covers each byte, in rows one a MiB. Load and Check read
// all; Open reads what is not mapped, and records; rows only with Checked. Files of strangers may
// lie under right checksums: Load, and Open with Checked, make a sound world of them, or none.
//
// Garbage collector: saving takes a buffer of 1 MiB, checking one of 256 KiB, and the described
// sections (types to managed) pass through Go memory. Rows do not. Cost, on a Turin with other
// work, 266 MiB in the page cache, in one run (go test ./ecs/image -bench .): saving to a new file
// 3.0 GB/s, or 6.8 where nothing is written, while cp takes 4.0; checking 9.5. SaveFile waits for
// the disk besides.
package image
