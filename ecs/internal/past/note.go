package past

import (
	"cmp"
	"errors"
	"hash/maphash"
	"slices"
	"unsafe"
)

// Notes. Debug builds note, when a layer has begun, a hash of each range that the layer shares with
// the memory, cut at the ends of pieces, here
// at those of units:
//
//	unit        0             1             2
//	memory      |aaaaaaaabbbb|bbbbbbbbbbbb|bb..........|
//	notes       | a     | b  | b          |b |                 each with a hash, and a text that names it
//
// A range is shared until its piece has passed BeforeWrite. If its bytes differ before that,
// somebody wrote them without BeforeWrite; the text names possible writers. BeforeWrite compares
// the notes of a unit before it copies a piece of it, and Check all that are still shared.
//
// A fixed range is one that nobody writes while a layer has it, whether or not its unit has passed
// BeforeWrite.

// Text returns a report of n bytes of a range, from byte at on, that were written past the write
// barrier: Stale or Missed.
type Text func(at, n int) string

// Stale is the text for memory to which users have slices and pointers.
func Stale(what string) string {
	return "ecs: World.Snapshot: " + what +
		" was written through a slice or pointer that was taken before the snapshot; take it anew after World.Snapshot"
}

// Missed is the text for memory that only the library writes.
func Missed(what string) string {
	return "ecs: World.Snapshot: " + what + " were written, and not kept for the snapshot"
}

// note is the part of a range in one piece.
type note struct {
	at, n int // bytes of the memory
	from  int // byte of the range
	hash  uint64
	fixed bool
	text  Text
}

var seed = maphash.MakeSeed()

// Note notes n bytes of a memory from p on, which the layer shares: it has begun last. EndNotes
// follows the last one.
func (l *Layer) Note(m *Memory, p unsafe.Pointer, n int, text Text) { l.note(m, p, n, false, text) }

// NoteFixed is Note of a fixed range.
func (l *Layer) NoteFixed(m *Memory, p unsafe.Pointer, n int, text Text) { l.note(m, p, n, true, text) }

func (l *Layer) note(m *Memory, p unsafe.Pointer, n int, fixed bool, text Text) {
	part := l.part(m.at)
	first := int(uintptr(p) - uintptr(m.base)) // Safe because the addresses are only subtracted.
	for at, end := first, first+n; at < end; {
		next := min(end, (at/PieceSize+1)*PieceSize)
		o := note{at: at, n: next - at, from: at - first, fixed: fixed, text: text}
		o.hash = o.hashNow(m)
		part.notes = append(part.notes, o)
		at = next
	}
}

// EndNotes ends the noting of ranges.
func (l *Layer) EndNotes() {
	for _, p := range l.parts {
		slices.SortFunc(p.notes, func(a, b note) int { return cmp.Compare(a.at, b.at) })
	}
}

// Check returns an error for the first range whose bytes are others than noted though it is still
// shared. Each is reported once. It belongs to the owner, and no BeforeWrite may be under way.
func (l *Layer) Check() (first error) {
	if l.closed || l.Err() != nil {
		return nil // fixed ranges of a lost layer may be written
	}
	for at, p := range l.parts {
		m := l.past.memories[at]
		for i := range p.notes {
			o := &p.notes[i]
			if !o.fixed && l.passed(m.stateNow(o.at/UnitSize))&o.piece() != 0 {
				continue
			}
			if text := o.compare(m); text != "" && first == nil {
				first = errors.New(text)
			}
		}
	}
	return first
}

// passed returns the pieces of a unit that may have passed BeforeWrite since the layer began, if s
// is the state of the unit.
func (l *Layer) passed(s uint64) pieces {
	switch number := s >> numberShift; {
	case number < l.number:
		return 0
	case number == l.number:
		return savedIn(s)
	}
	return allPieces
}

// piece returns the piece that the note is of.
func (o *note) piece() pieces { return piecesOf(o.at%UnitSize, o.n) }

// checkUnit panics if pieces of a unit, of which the caller is about to copy some and has made the
// unit busy, are not as noted by the layers that lack them. s was its state. Each range is reported
// once.
func (m *Memory) checkUnit(unit int, s uint64) {
	m.past.mu.RLock()
	defer m.past.mu.RUnlock()
	first := ""
	for l := m.past.Newest(); l != nil && l.passed(s) != allPieces; l = l.below {
		first = cmp.Or(first, l.parts[m.at].compareUnit(m, unit, l.passed(s)))
	}
	if first != "" {
		m.state(unit).Store(s)
		panic(first)
	}
}

// compareUnit compares the notes of a unit but for those of pieces, and returns the text of the
// first that differs.
func (p *part) compareUnit(m *Memory, unit int, but pieces) (first string) {
	i, _ := slices.BinarySearchFunc(p.notes, unit*UnitSize, func(o note, at int) int { return cmp.Compare(o.at, at) })
	for ; i < len(p.notes) && p.notes[i].at < (unit+1)*UnitSize; i++ {
		if o := &p.notes[i]; o.fixed || o.piece()&but == 0 {
			first = cmp.Or(first, o.compare(m))
		}
	}
	return first
}

// compare returns a text if the bytes are others than noted, and notes them then.
func (o *note) compare(m *Memory) string {
	now := o.hashNow(m)
	if now == o.hash {
		return ""
	}
	o.hash = now
	return o.text(o.from, o.n)
}

func (o *note) hashNow(m *Memory) uint64 {
	// Safe because the range lies in the memory.
	return maphash.Bytes(seed, unsafe.Slice((*byte)(unsafe.Add(m.base, o.at)), o.n))
}
