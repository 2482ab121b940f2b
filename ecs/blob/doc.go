// Package blob keeps data that many entities share and nothing changes: meshes, curves, tables. A
// blob is one block off the heap with a root struct, arrays, strings and references, read in place.
// It builds on package ecs alone.
//
//	blobs, err := blob.NewStore(w, blob.Type[Track]()) // checks the blobs that the world has
//	b := blob.NewBuilder[Track]()
//	t := b.Root()
//	blob.SetString(b, &t.Name, "door")
//	keys := blob.Allocate(b, &t.Keys, 3)
//	keys[1] = Key{.5, 90}
//	blob.Point(b, &t.First, &keys[1])
//	open, err := blob.Add(blobs, b)                    // Blob[Track], 8 B, for components
//	for _, k := range open.Get(blobs).Keys.Slice() {}
//
// Fields of a root and of what it leads to: any type without Go pointers and without ecs.Entity,
// and [Array], [String] and [Ref], 8 B each, whose elements may hold such fields again. They name
// places by the distance from themselves, so a block holds no address. The one above:
//
//	offset   bytes
//	     0      16  type, length
//	    16      24  Track
//	    40       4  Track.Name  4 x uint8 1 B
//	    44      24  Track.Keys  3 x Key 8 B
//	    68     130  layout as text
//
// Ownership: a blob is an entity of the world, with a header and a buffer. So world files,
// journals, snapshots, clones, deltas and MoveAll carry it, once for all who hold it, and queries
// without terms see it. Content of one type that is equal is one blob. Add and Retain count
// references, Release ends a blob with its last; components that hold a [Blob] do not count by
// themselves, but [Store.Sweep] makes counts what they hold.
//
// Pointers that Get returns, and what is reached from them, are good until the blob's last Release
// or a Sweep or Destroy that ends it; and until Restore, ApplyDelta, Clear, Reset, Close, and
// MoveAll from the world. Other structural changes, Shrink too, move no block. Nothing may write
// through them. Relative fields must not be copied out of the block: go vet reports it.
//
// Goroutines: the world's owner. While a world is lent, its readers may call Get and Count.
// Bodies of jobs use a [Lookup]. A [Builder] belongs to one goroutine, any one.
//
// Garbage collector: builders, and an index of 40 B a blob, are Go memory; blobs are not.
//
// Failure: Add returns a *ecs.LimitError, and no entity has come. NewStore and [Store.Check] look
// at all bytes of all blobs, which may come from anywhere, and return an error that wraps [ErrBlob]
// for a type that the store does not have, that is laid out otherwise in this program, and for what
// leads out of its block. Look-ups return nil or false. Broken contracts panic.
//
// Limits: 2 GiB a blob. Layouts are compared by names and offsets of fields; none is converted.
//
// Cost, of 10,000 blobs, on two cores of a Turin with other work (go test ./ecs/blob -bench .): Get
// 12 ns in the order in which they were made, 18 at random, where a Go pointer takes .6; fields
// from there on an addition. Add of 1 KiB 1.3 to 6 us. Check .6 ms a MB.
package blob
