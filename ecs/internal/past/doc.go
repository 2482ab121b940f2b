// Package past keeps old bytes of memory: what it held at each of several moments. Snapshots of a
// world stand on it.
//
// Memory is cut into units of 16 KiB. A Layer stands for one moment. Beginning a layer copies
// nothing: whoever is about to write a unit passes Gate first, which copies the unit to the newest
// layer if no layer since its moment has the bytes. Whoever reads a layer asks it to Show units,
// which copies them from the memory, if nobody has written them since, or from the next layer that
// has them. So each unit is copied at most once between two moments, by the first that comes:
//
//	unit                  0    1    2    3    4         bytes
//	layer 1, oldest       .    1    .    .    .         16,384 of 81,920: unit 1 was written since
//	layer 2               .    .    2    2    .         32,768: units 2 and 3 were written later
//	memory                0    1'   2'   3'   4
//	layer 1 shows         0    1    2    3    4         0 and 4 from the memory, 2 and 3 from layer 2
//
// A layer's bytes of a unit lie at the unit's place in a range of addresses as long as the memory,
// so units that are neighbours in the memory are neighbours in the layer: a column of several units
// is read as one slice.
//
// Goroutines: Begin, Close, Restore and Add belong to one goroutine at a time, the owner. Gate may be
// called by any goroutine that may write the units, and Show by any goroutine, at the same time as
// Gate. A unit that another goroutine is copying is waited for.
//
// Failure: Begin, Gate and Show return the error of the memory that copies take, which wraps
// mmap.ErrLimit or mmap.ErrNoMemory; nothing is copied then, and the caller must not write.
//
// Cost: Begin takes a microsecond; Gate of a unit that the newest layer has, or does not need, two
// loads; a copy of a unit some 0.5 us, and the first copies of a layer the pages that they touch. A
// layer that has been closed is used again, with its pages.
package past
