// Package wrap has allocators around allocators: each takes an [alloc.Allocator], adds
// one thing to it, and is one itself, so they stand in any order:
//
//	heap, _ := alloc.NewHeap(universe)
//	textures := wrap.NewTrack(wrap.NewLimit(heap, 64<<20), "textures")
//	defer textures.Close() // tells what was never freed, and where it was allocated
package wrap
