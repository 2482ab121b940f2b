package heap

import (
	"fmt"

	"quarry/internal/universe"
	"quarry/internal/universe/memory"
)

// Size classes of the heap: a chunk of 16 KiB is cut into slots of one size. All sizes are
// multiples of 16. From 128 B on there are four classes per doubling, so at most a fifth of a slot
// is unused. Above 1 KiB the sizes are the largest multiples of a cache line, 64 B, that cut a
// chunk into that many slots. So blocks aligned to a cache line waste no more than others:
//
//	slots of a chunk   1024 512 341 256 204 170 146 128 ... 7    6    5    4    3    2
//	size, bytes          16  32  48  64  80  96 112 128 ... 2304 2688 3264 4096 5440 8192

// classSizes lists the slot sizes in rising order.
var classSizes = [...]uint32{
	16, 32, 48, 64, 80, 96, 112, 128,
	160, 192, 224, 256, 320, 384, 448, 512,
	640, 768, 896, 1024, 1152, 1344, 1600, 1792, 2048,
	2304, 2688, 3264, 4096, 5440, 8192,
}

const (
	maxSlot    = 8192                                // bytes of the largest slot
	maxSlots   = universe.ChunkSize / memory.Quantum // slots of a chunk at most
	slotWords  = maxSlots / 64                       // words of a slab's mask
	classCount = len(classSizes)                     // number of classes
	// Length of tables by class: a power of two, so a mask does the bounds check.
	classLimit  = 32
	MaxRunBytes = universe.MegachunkSize // bytes of the largest block inside the universe

	classByUnits = maxSlot/memory.Quantum + 1 // entries of classOf
)

// class holds the arithmetic of a size class, in half a cache line.
type class struct {
	size       uint32 // bytes of a slot
	reciprocal uint32 // slot = offset*reciprocal >> 32 for offset < 16 KiB
	end        uint32 // slots * size: no slot begins at or after it
	slots      uint16 // slots of a chunk
	words      uint16 // words of a mask that have a slot
	tail       uint64 // bits of the last word beyond the slots
	batch      uint32 // of a shared slab that is full: it is listed when so many slots are free
	_          uint32
}

var (
	classOf [classByUnits]uint8 // class of a size, by size in quanta rounded up
	classes [classLimit]class   // those from classCount on are never used
	// The bits of own that stand for slots, by class.
	starts [classLimit][slotWords]uint64
)

func init() {
	number := 0
	for units := range classByUnits {
		for int(classSizes[number]) < units*memory.Quantum {
			number++
		}
		classOf[units] = uint8(number)
	}
	for i, size := range classSizes {
		slots := universe.ChunkSize / size
		classes[i] = class{
			size:       size,
			reciprocal: uint32((1<<32 + uint64(size) - 1) / uint64(size)),
			end:        slots * size,
			slots:      uint16(slots),
			words:      uint16((slots + 63) / 64),
			batch:      max(1, slots/sharedPart),
		}
		if slots%64 != 0 {
			classes[i].tail = ^uint64(0) << (slots % 64)
		}
		for slot := range int(slots) {
			at, m := classes[i].start(slot)
			starts[i][at] |= m
		}
	}
}

// slot returns the slot that contains an offset into a chunk.
func (k *class) slot(offset uint32) uint32 {
	return uint32(uint64(offset) * uint64(k.reciprocal) >> 32)
}

// start returns the word of own that has a slot's bit, and the bit.
func (k *class) start(slot int) (i int, m uint64) {
	q := slot * int(k.size) / memory.Quantum
	return q / 64 % slotWords, 1 << (q % 64)
}

// beyond returns the bits of word i that stand for no slot; they are always set.
func (k *class) beyond(i int) uint64 {
	if i == int(k.words)-1 {
		return k.tail
	}
	return 0
}

// SlotSize returns the number of bytes that [Heap.Usable] reports for a new block of size bytes
// allocated without an alignment: the slot size of its class. It returns 0 above 8,192 bytes, where
// blocks are not slots. It panics when size is negative.
func SlotSize(size int) int {
	switch {
	case size < 0:
		panic(fmt.Sprintf("alloc: SlotSize: size=%d is negative", size))
	case size > maxSlot:
		return 0
	}
	return int(classes[classOf[(size+memory.Quantum-1)/memory.Quantum]].size)
}

// classFor returns the smallest class for a block of size bytes, at most maxSlot, all of whose
// slots are aligned to align, and false when there is none.
func classFor(size, align int) (int, bool) {
	number := int(classOf[(size+memory.Quantum-1)/memory.Quantum])
	if align <= memory.Quantum {
		return number, true
	}
	// Slot i lies at i*size of a chunk, and chunks are aligned to 16 KiB.
	for ; number < classCount; number++ {
		if int(classSizes[number])%align == 0 {
			return number, true
		}
	}
	return 0, false
}
