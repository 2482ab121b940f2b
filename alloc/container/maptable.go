package container

import (
	"fmt"
	"math/bits"
	"unsafe"

	"quarry/alloc"
)

// tables is what of a Map does not depend on its types: the directory, and blocks of slots.
type tables struct {
	source
	directory unsafe.Pointer // of 2^depth words, see word
	shift     uint8          // 63 - depth
	changes   uint64         // calls that may have added, removed or set: the race detector sees it
	clears    uint64         // calls of Clear
	count     int            // entries
	integer   bool           // keys are integers of 4 or 8 bytes
	seeds     [2]uint64      // of hashInteger
	kept      uint64         // bits of hashes that count: all, except in tests
	root      word           // the directory of depth 0
	next      unsafe.Pointer // of 2^(depth+1), while it is built; nil: there is none
	copied    uint64         // words of directory that next has
	step      uint64         // words that widen copies
	geometry
}

// geometry is the sizes of a map's tables. Sizes are in bytes.
type geometry struct {
	stride  uintptr // of a group
	size    uintptr // of a slot
	lanes   uint64  // the high bits of the control bytes that have a slot
	slots   int     // of a group
	tail    uintptr // from the end of the last group to the table's end
	largest int     // the class of tables that are split when full
	classes int
	groups  [tableAlign]uint32 // of a table of each class
}

// word is what the directory has of a table: its address, a multiple of tableAlign, plus its class.
type word uintptr

// meta is the end of a table's block.
type meta struct {
	live, dead uint32 // live slots; removals from groups that were passed, until the table is moved
	limit      uint32 // of the table's class
	depth      uint8  // first bits of the hash that all keys of the table share
	_          [3]uint8
}

const (
	tableAlign = 64
	maxClasses = 40 // less than tableAlign
	wordBytes  = 8
	tagBits    = 0x7F
	maxDepth   = 22
	maxGroup   = 7        // slots of a group
	maxSlots   = 1024     // of a table, unless hashes collide
	maxBytes   = 64 << 10 // of a table, unless slots are large
	minSlots   = 16       // of the largest table
	stepWords  = 64       // of the directory, that a growing table copies ahead

	lows  uint64 = 0x0101010101010101
	highs uint64 = 0x8080808080808080

	// noneLive is the control word of a group without live slots that no key has passed.
	noneLive uint64 = 0x0080808080808080

	passedShift = 56
	free        = 0x80 // a control byte
)

// noTable is the table of a map without blocks: groups without a live slot.
var noTable = func() (words [2 * tableAlign / wordBytes]uint64) {
	for i := range words {
		words[i] = noneLive
	}
	return words
}()

// matches returns the high bits of the control bytes of w that equal the tag, which is in all bytes
// of tag; those of other live slots, and of the last byte, may be among them wrongly.
func matches(w, tag uint64) uint64 {
	v := w ^ tag
	return (v - lows) &^ v & highs
}

// passed returns the bit of a control word's last byte that is set if a key with this hash found
// the group full.
func passed(h uint64) uint64 { return 1 << passedShift << (h >> 7 & 7) }

func lane(match uint64) int { return bits.TrailingZeros64(match) >> 3 }

// firstGroup returns the group, of n, where the search for a hash begins.
func firstGroup(h uint64, n uint32) uint32 { return uint32(uint64(uint32(h>>10)) * uint64(n) >> 32) }

// tableBytes are the sizes of tables: slot sizes and spans of alloc.Heap, so that little is lost.
var tableBytes = [...]int{64, 128, 256, 384, 512, 768, 1024, 1344, 1792, 2304, 2688, 3264, 4096, 5440, 8192,
	10880, 12288, 16384, 20480, 32768, 40960, 65536}

// slotsOf returns the number of slots of a group, by their size. This and the next two are
// constants where the types of a map are known.
func slotsOf(size uintptr) uintptr {
	switch {
	case size >= 4096:
		return 1
	case size >= 1024:
		return 4
	}
	return maxGroup
}

// strideOf returns the size of a group.
func strideOf(size uintptr) uintptr {
	if size == 16 {
		return 128 // whole lines, of which 8 bytes are unused
	}
	return (wordBytes + slotsOf(size)*size + 7) &^ 7
}

// lanesOf returns the high bits of the control bytes that have a slot.
func lanesOf(size uintptr) uint64 { return highs & (1<<(8*slotsOf(size)) - 1) }

func (t *tables) open(size int) {
	t.kept, t.step = ^uint64(0), stepWords
	t.size = uintptr(size)
	t.slots, t.stride, t.lanes = int(slotsOf(t.size)), strideOf(t.size), lanesOf(t.size)
	t.tail = unsafe.Sizeof(meta{})
	t.groups[0] = 1
	t.classes = 1
	for i := 0; ; i++ {
		bytes := 0
		if i < len(tableBytes) {
			bytes = tableBytes[i]
		} else {
			bytes = tableBytes[len(tableBytes)-1] << (i - len(tableBytes) + 1)
		}
		n := (bytes - int(t.tail)) / int(t.stride)
		if n < 1 || t.classes > 1 && uint32(n) <= t.groups[t.classes-1] {
			continue
		}
		if n > 1<<20 || t.classes == maxClasses {
			break
		}
		if bytes <= maxBytes && n*t.slots <= maxSlots || n*t.slots <= minSlots {
			t.largest = t.classes
		}
		t.groups[t.classes] = uint32(n)
		t.classes++
	}
	t.reset()
}

// reset makes the map one without blocks.
func (t *tables) reset() {
	t.shift = 63
	t.count = 0
	t.directory, t.next, t.copied = unsafe.Pointer(&t.root), nil, 0
	// Safe because a variable does not move; its first half has a place aligned as tables are.
	t.root = word(uintptr(unsafe.Pointer(&noTable))+tableAlign-1) &^ (tableAlign - 1)
}

// wordOf returns the directory's word for a hash.
func (t *tables) wordOf(h uint64) *word {
	// Safe because the directory has 2^(63-shift) words, and h>>1>>shift is less.
	return (*word)(unsafe.Add(t.directory, h>>1>>(t.shift&63)*wordBytes))
}

// table returns the table of a hash and its number of groups.
func (t *tables) table(h uint64) (unsafe.Pointer, uint32) {
	// Safe because the word is the address of a live block plus the class, which is less than the
	// block's size.
	p := *(*unsafe.Pointer)(unsafe.Pointer(t.wordOf(h)))
	class := uintptr(p) % tableAlign
	return unsafe.Add(p, -int(class)), t.groups[class]
}

// class returns the class of the table of a hash; 0: there is no table.
func (t *tables) class(h uint64) int { return int(*t.wordOf(h) % tableAlign) }

// bytes returns the size of a table of n groups.
func (t *tables) bytes(n uint32) int { return int(uintptr(n)*t.stride + t.tail) }

// meta returns the counts of a table of n groups.
func (t *tables) meta(tab unsafe.Pointer, n uint32) *meta {
	// Safe because the table's block ends with them.
	return (*meta)(unsafe.Add(tab, uintptr(n)*t.stride+t.tail-unsafe.Sizeof(meta{})))
}

// limit returns how many slots of a table may be live or dead.
func (t *tables) limit(class int) uint32 {
	n := t.groups[class]
	switch slots := n * uint32(t.slots); {
	case class == 0:
		return 0
	case n == 1 || slots <= 4: // each larger class has a larger limit
		return slots
	default:
		return slots * 3 / 4
	}
}

// depth returns the number of bits of a hash that select a word of the directory.
func (t *tables) depth() uint8 { return 63 - t.shift }

// claim makes the first free slot for a hash live and returns it; nil: the table is full.
func (t *tables) claim(h uint64) unsafe.Pointer {
	class := t.class(h)
	if class == 0 {
		return nil
	}
	tab, n := t.table(h)
	md := t.meta(tab, n)
	if md.live+md.dead >= md.limit {
		return nil
	}
	for g := firstGroup(h, n); ; {
		// Safe because the table has n groups.
		w := (*uint64)(unsafe.Add(tab, uintptr(g)*t.stride))
		if v := *w & t.lanes; v != 0 {
			i := lane(v)
			md.live++
			t.count++
			setByte(w, i, h&tagBits)
			return unsafe.Add(unsafe.Pointer(w), wordBytes+uintptr(i)*t.size)
		}
		*w |= passed(h)
		if g++; g == n {
			g = 0
		}
	}
}

// put makes a slot of a table for a hash live and returns it. The table has room, and its counts
// are the caller's.
func (t *tables) put(tab unsafe.Pointer, n uint32, h uint64) unsafe.Pointer {
	for g := firstGroup(h, n); ; {
		// Safe because the table has n groups.
		w := (*uint64)(unsafe.Add(tab, uintptr(g)*t.stride))
		if v := *w & t.lanes; v != 0 {
			i := lane(v)
			setByte(w, i, h&tagBits)
			return unsafe.Add(unsafe.Pointer(w), wordBytes+uintptr(i)*t.size)
		}
		*w |= passed(h)
		if g++; g == n {
			g = 0
		}
	}
}

// setByte sets byte i of a control word.
func setByte(w *uint64, i int, c uint64) { *w = *w&^(0xFF<<(8*i)) | c<<(8*i) }

// release makes a live slot of the table of h free.
func (t *tables) release(h uint64, slot unsafe.Pointer) {
	tab, n := t.table(h)
	md := t.meta(tab, n)
	at := uintptr(slot) - uintptr(tab) - wordBytes
	g, i := at/t.stride, int(at%t.stride/max(t.size, 1))
	// Safe because the slot is one of the table's.
	w := (*uint64)(unsafe.Add(tab, g*t.stride))
	setByte(w, i, free)
	// Searches go on after a group that was passed until the table is made anew.
	if *w>>passedShift != 0 {
		md.dead++
	}
	md.live--
	t.count--
}

// newTable allocates a table without entries.
func (t *tables) newTable(class int, depth uint8) (unsafe.Pointer, error) {
	n := t.groups[class]
	tab, err := t.alloc(t.bytes(n), tableAlign)
	if err != nil {
		return nil, err
	}
	for g := range uintptr(n) {
		// Safe because the block has room for n groups.
		*(*uint64)(unsafe.Add(tab, g*t.stride)) = noneLive
	}
	*t.meta(tab, n) = meta{depth: depth, limit: t.limit(class)}
	return tab, nil
}

func (t *tables) freeTable(tab unsafe.Pointer, class int) {
	t.source.free(tab, t.bytes(t.groups[class]), tableAlign)
}

// fit returns the class for a table of live entries, with room for some more, or, of what does not
// fit the largest, as parts of a table beyond it may not, just for them.
func (t *tables) fit(live uint32) int {
	class := 1
	for class < t.largest && t.limit(class) < live+live/16+1 {
		class++
	}
	for class < t.classes-1 && t.limit(class) < live {
		class++
	}
	return class
}

// grown returns the class that replaces a full table: half as large again, or the largest. With the
// next class an entry is moved three times and not twice before its table is split.
func (t *tables) grown(class int) int {
	to := class + 1
	for to < t.largest && t.groups[to]*2 < t.groups[class]*3 {
		to++
	}
	return to
}

// drop frees all blocks.
func (t *tables) drop() {
	directory, next, d := t.directory, t.next, t.depth()
	root := t.root
	t.reset()
	if next != nil {
		t.source.free(next, wordBytes<<(d+1), tableAlign)
	}
	if d == 0 {
		if class := int(root % tableAlign); class != 0 {
			// Safe as in table.
			t.freeTable(unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(&root)), -class), class)
		}
		return
	}
	for i := uint64(0); i < 1<<d; {
		// Safe because the directory has 2^d words.
		w := (*word)(unsafe.Add(directory, i*wordBytes))
		class := int(*w % tableAlign)
		tab := unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(w)), -class)
		i += 1 << (d - t.meta(tab, t.groups[class]).depth)
		t.freeTable(tab, class)
	}
	t.source.free(directory, wordBytes<<d, tableAlign)
}

var errHashes = fmt.Errorf("container: Map: a table of keys whose hashes collide: %w", alloc.ErrTooBig)
