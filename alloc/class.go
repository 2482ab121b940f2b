package alloc

// Size classes of the heap: a chunk of 16 KiB is cut into slots of one size.
// All sizes are multiples of 16; from 128 B on there are four classes per
// doubling, so at most a fifth of a slot is unused, and above 1 KiB the sizes
// are the largest that fit a whole number of times into a chunk:
//
//	slots of a chunk   1024 512 341 256 204 170 146 128 ... 7    6    5    4    3    2
//	size, bytes          16  32  48  64  80  96 112 128 ... 2336 2720 3264 4096 5456 8192

// classSizes lists the slot sizes in rising order.
var classSizes = [...]uint32{
	16, 32, 48, 64, 80, 96, 112, 128,
	160, 192, 224, 256, 320, 384, 448, 512,
	640, 768, 896, 1024, 1168, 1360, 1632, 1808, 2048,
	2336, 2720, 3264, 4096, 5456, 8192,
}

const (
	quantum      = 16                  // bytes; every block is aligned to it
	maxSlot      = 8192                // bytes of the largest slot
	maxSlots     = ChunkSize / quantum // slots of a chunk at most
	slotWords    = maxSlots / 64       // words of a slab's mask
	classCount   = len(classSizes)     // number of classes
	maxRunBytes  = MegachunkSize       // largest block inside the universe
	maxMapping   = 1 << 46             // bytes of the largest mapping; beyond any address space today
	maxAlignment = 1 << 30             // bytes
	classByUnits = maxSlot/quantum + 1 // entries of classOf
)

var (
	classOf     [classByUnits]uint8 // class of a size, by size in quanta rounded up
	classSlots  [classCount]uint16  // slots of a chunk
	reciprocals [classCount]uint32  // slot = offset*reciprocal >> 32 for offset < 16 KiB
)

func init() {
	class := 0
	for units := range classByUnits {
		for int(classSizes[class]) < units*quantum {
			class++
		}
		classOf[units] = uint8(class)
	}
	for c, size := range classSizes {
		classSlots[c] = uint16(ChunkSize / size)
		reciprocals[c] = uint32((1<<32 + uint64(size) - 1) / uint64(size))
	}
}

// classFor returns the smallest class for a block of size bytes, size at most
// maxSlot, whose slots are all aligned to align, and false when there is none.
func classFor(size, align int) (int, bool) {
	class := int(classOf[(size+quantum-1)/quantum])
	if size == 0 {
		class = 0
	}
	if align <= quantum {
		return class, true
	}
	// Slot i lies at i*size of a chunk, and chunks are aligned to 16 KiB.
	for ; class < classCount; class++ {
		if int(classSizes[class])%align == 0 {
			return class, true
		}
	}
	return 0, false
}

// slotAt returns the slot that an offset into a chunk falls into.
func slotAt(class int, offset uint32) uint32 {
	return uint32(uint64(offset) * uint64(reciprocals[class]) >> 32)
}
