package container

import (
	"fmt"
	"hash/maphash"
	"iter"
	"math"
	"unsafe"

	"quarry/alloc"
)

// The texts.
//
// A text has an entry of 32 bytes, which holds it if it has at most 12 bytes; a longer one is a
// block of its own:
//
//	            12 bytes           4        4      4            4      4
//	entry       | "Ada"          | length | refs | generation | hash | next |
//	entry       | address | .... | length | refs | generation | hash | next |
//	                 |
//	                 +-> "a text of more than twelve bytes"
//
// Entries lie in pages of 512, which never move. The index is a table of buckets, each the number
// of the first entry of a list over next. It grows by linear hashing: with each text, one bucket
// splits into two, so no call moves more than a bucket's list. Buckets lie in pages too:
//
//	buckets   0 ... split-1 | split ... 2^level-1 | 2^level ... 2^level+split-1
//	          have split      have not              the other halves
//
// Invariants:
//
//	T1 Each live text (refs > 0) has an odd generation and is in the list of its hash's bucket, once.
//	   A free entry has an even generation and is in the list of free entries.
//	T2 No two live texts are equal.
//	T3 live is the number of live texts, bytes the sum of their lengths and refs that of their
//	   references.
//	T4 There are at least as many buckets as live texts, and pages for them and for the entries.

const (
	inlineBytes = 12
	entryShift  = 9 // entries of a page: 512 of 32 bytes, a chunk
	bucketShift = 12
	pageBytes   = 16 << 10
	noEntry     = math.MaxUint32
)

// textEntry is a text. Its first 8 bytes are the address of a text that is longer than inlineBytes.
type textEntry struct {
	inline     [inlineBytes]byte
	length     uint32
	refs       uint32
	generation uint32
	hash       uint32
	next       uint32 // entry of the bucket's list, or of the free entries; noEntry: the last
}

const _ = uint(pageBytes - unsafe.Sizeof(textEntry{})<<entryShift)
const _ = uint(pageBytes - 4<<bucketShift)

// TextID names a text of a Text. It holds no pointer, so it may be stored in components and blocks,
// and two texts are equal if and only if their ids are. It stays safe to use after the text was
// released: no look-up finds it. A slot would have to be used 2^31 times before an old id names a
// new text. The zero TextID names none.
type TextID struct {
	Slot       uint32 // number of the entry
	Generation uint32 // generation of the entry; odd while in use. 0: none
}

// Text keeps texts off the heap, each of them once, and counts references to them. A text takes 36
// bytes if it has at most 12, else its own block besides; the first one takes 32 KiB. Over an Arena
// texts lie packed, and released ones stay until the arena is reset. Use NewText.
type Text struct {
	source
	seed    maphash.Seed
	keep    uint32           // of a hash; all ones, but in tests of equal hashes
	entries []unsafe.Pointer // pages
	heads   []unsafe.Pointer // pages of buckets
	buckets uint32           // in use: 2^level + split
	made    uint32           // entries that were ever in use
	free    uint32           // the first free entry, or noEntry
	live    int              // texts
	bytes   int              // of all texts
	refs    int              // references; each change of a text writes it, and each read of a text reads it
}

// NewText returns an empty Text, which has no block yet.
func NewText(from alloc.Allocator) *Text {
	return &Text{source: newSource("NewText", from), seed: maphash.MakeSeed(), keep: math.MaxUint32, free: noEntry}
}

// Intern returns the id of the text, and counts a reference. The first time it copies the text; an
// error is the allocator's then, or wraps ErrTooBig for 4 GiB or more, and nothing has changed.
func (t *Text) Intern(s string) (TextID, error) {
	t.check("Text.Intern")
	return t.intern("Text.Intern", s, t.hashOf(s))
}

// InternBytes is Intern of a text in bytes, which it does not keep.
func (t *Text) InternBytes(b []byte) (TextID, error) {
	t.check("Text.InternBytes")
	// Safe because nobody changes b during the call, and the string is not kept.
	s := unsafe.String(unsafe.SliceData(b), len(b))
	return t.intern("Text.InternBytes", s, t.hashOf(s))
}

// Find returns the id of the text without counting a reference, and false when it is not there.
func (t *Text) Find(s string) (TextID, bool) {
	t.check("Text.Find")
	i := t.find(s, t.hashOf(s))
	if i == noEntry {
		return TextID{}, false
	}
	return TextID{i, t.entry(i).generation}, true
}

// FindBytes is Find of a text in bytes.
func (t *Text) FindBytes(b []byte) (TextID, bool) {
	// Safe because nobody changes b during the call, and the string is not kept.
	return t.Find(unsafe.String(unsafe.SliceData(b), len(b)))
}

// Get returns the bytes of a text, or nil when the id names none. They are to be read, and are
// valid until the text is released for the last time. It copies nothing.
func (t *Text) Get(id TextID) []byte {
	t.check("Text.Get")
	e := t.named(id)
	if e == nil {
		return nil
	}
	// Safe because the entry is live: its text has length bytes.
	return unsafe.Slice((*byte)(e.at()), e.length)
}

// String returns a text as a string of Go, a copy on the Go heap, which stays valid; false: the id
// names none.
func (t *Text) String(id TextID) (string, bool) {
	t.check("Text.String")
	b := t.Get(id)
	return string(b), b != nil
}

// Has reports whether the id names a text.
func (t *Text) Has(id TextID) bool {
	t.check("Text.Has")
	return t.named(id) != nil
}

// Refs returns how often Intern and Retain counted a reference that was not released, or 0 when the
// id names no text.
func (t *Text) Refs(id TextID) int {
	t.check("Text.Refs")
	if e := t.named(id); e != nil {
		return int(e.refs)
	}
	return 0
}

// Retain counts one more reference. It panics when the id names no text. A text with 2^32-1
// references keeps them for good.
func (t *Text) Retain(id TextID) {
	t.check("Text.Retain")
	e := t.named(id)
	if e == nil {
		t.panicStale("Retain", id)
	}
	t.retain(e)
}

func (t *Text) retain(e *textEntry) {
	if e.refs < math.MaxUint32 {
		e.refs++
		t.refs++
	}
}

// Release takes a reference back, and with the last one the text. It panics when the id names no
// text.
func (t *Text) Release(id TextID) {
	t.check("Text.Release")
	e := t.named(id)
	if e == nil {
		t.panicStale("Release", id)
	}
	if e.refs == math.MaxUint32 {
		return
	}
	t.refs--
	if e.refs--; e.refs == 0 {
		t.unlink(id.Slot, e)
		t.drop(id.Slot, e)
	}
}

//go:noinline
func (t *Text) panicStale(op string, id TextID) {
	panic(fmt.Sprintf("container: Text.%s: slot %d generation %d names no text", op, id.Slot, id.Generation))
}

// Len returns the number of texts.
func (t *Text) Len() int {
	t.check("Text.Len")
	return t.live
}

// Bytes returns the bytes of all texts together.
func (t *Text) Bytes() int {
	t.check("Text.Bytes")
	return t.bytes
}

// All yields the texts in the order of their slots, as Get returns them. Texts may be added and
// released meanwhile: a released one is not shown, a new one may be.
func (t *Text) All() iter.Seq2[TextID, []byte] {
	return func(yield func(TextID, []byte) bool) {
		t.check("Text.All")
		for i := uint32(0); i < t.made && t.refs > 0; i++ {
			e := t.entry(i)
			if e.refs == 0 {
				continue
			}
			// Safe because the entry is live: its text has length bytes.
			if !yield(TextID{i, e.generation}, unsafe.Slice((*byte)(e.at()), e.length)) {
				return
			}
			t.check("Text.All")
		}
	}
}

// Clear releases all texts, whatever their references, and keeps the entries and the index.
func (t *Text) Clear() {
	t.check("Text.Clear")
	for b := range t.buckets {
		for head := t.head(b); *head != noEntry; { // each by itself: a free may panic
			i := *head
			e := t.entry(i)
			*head = e.next
			t.drop(i, e)
		}
	}
}

// Close frees all blocks. The Text must not be used afterwards; a second Close does nothing, and so
// does the Close of a Text whose allocator has given up the blocks.
func (t *Text) Close() {
	if t.from == nil || t.closed {
		return
	}
	if !t.hold.Lost() {
		t.Clear()
		for _, p := range t.entries {
			t.source.free(p, pageBytes, 64)
		}
		for _, p := range t.heads {
			t.source.free(p, pageBytes, 64)
		}
	}
	t.closed, t.entries, t.heads, t.made, t.buckets, t.refs = true, nil, nil, 0, 0, 0
}
