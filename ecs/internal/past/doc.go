// Package past keeps old bytes of memory: what it held at each of several moments. Snapshots of a
// world stand on it.
//
// Memory is cut into units of 16 KiB, and these into 16 pieces. A Layer stands for one moment.
// Beginning a layer copies nothing. Every writer calls BeforeWrite first, which copies the pieces
// that are about to be written to the newest layer if that layer does not have their bytes. A
// reader of a layer gets pieces that were not written since from the memory, and others from the
// oldest layer, from its own on, that has them. So each piece is copied at most once between two
// moments. Here units are written whole:
//
//	unit                  0    1    2    3    4         bytes
//	layer 1, oldest       .    1    .    .    .         16,384 of 81,920: unit 1 was written since
//	layer 2               .    .    2    2    .         32,768: units 2 and 3 were written later
//	memory                0    1'   2'   3'   4
//	layer 1 reads         0    1    2    3    4         0 and 4 from the memory, 2 and 3 from layer 2
//
// The copies lie in chunks of a universe, one for each unit, at the place that they have in it.
//
// A block that is freed after a layer began may belong to the layer: [DeferredFree] returns whether
// it must wait, and until when.
//
// Goroutines: Begin, Close, Drop, Old and Resize belong to one goroutine at a time, the owner.
// BeforeWrite may be called by any goroutine that may write the units, and Read by any goroutine,
// at the same time as BeforeWrite. A unit of which another goroutine is copying pieces is waited
// for.
//
// Failure: BeforeWrite never fails, since the caller is about to write. If there is no memory for a
// copy, the layers that lack the bytes are lost: their Err returns the reason, as do Read and Old.
// Save is a BeforeWrite that fails instead.
//
// Debug builds compare hashes of what layers share (Note), as writes without BeforeWrite change
// them.
//
// Cost: Begin takes a tenth of a microsecond; BeforeWrite of a piece that the newest layer has, or
// does not need, two loads; a copy of a unit some 0.5 us, from far memory 2; of a piece 0.2.
package past
