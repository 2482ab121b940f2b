package container

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"unsafe"

	"quarry/alloc"
)

// hashOf returns the hash of a text.
func (t *Text) hashOf(s string) uint32 {
	return uint32(maphash.String(t.seed, s)>>32) & t.keep
}

// entry returns an entry that was ever in use.
func (t *Text) entry(i uint32) *textEntry {
	// Safe because the page has 1 << entryShift entries.
	return (*textEntry)(unsafe.Add(t.entries[i>>entryShift], uintptr(i&(1<<entryShift-1))*unsafe.Sizeof(textEntry{})))
}

// head returns a bucket in use.
func (t *Text) head(b uint32) *uint32 {
	// Safe because the page has 1 << bucketShift buckets.
	return (*uint32)(unsafe.Add(t.heads[b>>bucketShift], uintptr(b&(1<<bucketShift-1))*4))
}

// at returns the address of the text of a live entry.
func (e *textEntry) at() unsafe.Pointer {
	if e.length <= inlineBytes {
		// Safe because the text begins at the entry's first byte.
		return unsafe.Pointer(&e.inline)
	}
	// Safe because setAt wrote the address there, aligned to 8 bytes as the entry is.
	return *(*unsafe.Pointer)(unsafe.Pointer(&e.inline))
}

// setAt sets the address of a long text, as a number: the memory is not the collector's.
func (e *textEntry) setAt(p unsafe.Pointer) {
	// Safe because the entry is aligned to 8 bytes and has room for an address.
	*(*uintptr)(unsafe.Pointer(&e.inline)) = uintptr(p)
}

// named returns the live entry of an id, or nil.
func (t *Text) named(id TextID) *textEntry {
	if t.refs == 0 || id.Slot >= t.made || id.Generation&1 == 0 {
		return nil
	}
	if e := t.entry(id.Slot); e.generation == id.Generation {
		return e
	}
	return nil
}

// bucketOf returns the bucket of a hash.
func (t *Text) bucketOf(hash uint32) uint32 {
	level := uint32(1) << (bits.Len32(t.buckets) - 1)
	if b := hash & (2*level - 1); b < t.buckets {
		return b
	}
	return hash & (level - 1)
}

// find returns the live entry of a text, or noEntry.
func (t *Text) find(s string, hash uint32) uint32 {
	if t.refs == 0 {
		return noEntry
	}
	for i := *t.head(t.bucketOf(hash)); i != noEntry; {
		e := t.entry(i)
		// Safe because the entry is live: its text has length bytes.
		if e.hash == hash && int(e.length) == len(s) && unsafe.String((*byte)(e.at()), e.length) == s {
			return i
		}
		i = e.next
	}
	return noEntry
}

// intern finds a text or adds it: first all that may be refused, then the changes.
func (t *Text) intern(name, s string, hash uint32) (TextID, error) {
	if i := t.find(s, hash); i != noEntry {
		e := t.entry(i)
		t.retain(e)
		return TextID{i, e.generation}, nil
	}
	block, err := t.prepare(s)
	if err != nil {
		return TextID{}, fmt.Errorf("container: %s: a text of %d bytes: %w", name, len(s), err)
	}
	i := t.free
	if i == noEntry {
		i = t.made
		t.made++
		*t.entry(i) = textEntry{next: noEntry}
	}
	e := t.entry(i)
	t.free = e.next
	e.length, e.refs, e.hash = uint32(len(s)), 1, hash
	e.generation++
	if block != nil {
		e.setAt(block)
	}
	// Safe because the text has len(s) bytes, in the entry or in the block.
	copy(unsafe.Slice((*byte)(e.at()), len(s)), s)
	t.live++
	t.refs++
	t.bytes += len(s)
	if t.live > int(t.buckets) {
		t.split()
	}
	head := t.head(t.bucketOf(hash))
	e.next, *head = *head, i
	return TextID{i, e.generation}, nil
}

// prepare allocates what one more text needs: a page of entries, a page of buckets, and the block
// of a long text. Pages that are there when the block is refused serve the next text.
func (t *Text) prepare(s string) (block unsafe.Pointer, err error) {
	if uint64(len(s)) > math.MaxUint32 {
		return nil, fmt.Errorf("at most 4 GiB: %w", alloc.ErrTooBig)
	}
	if t.free == noEntry {
		if t.made == noEntry {
			return nil, fmt.Errorf("%d texts: %w", t.made, alloc.ErrFull)
		}
		if err := t.addPage(&t.entries, int(t.made)>>entryShift); err != nil {
			return nil, err
		}
	}
	if t.live >= int(t.buckets) {
		if err := t.addPage(&t.heads, int(t.buckets)>>bucketShift); err != nil {
			return nil, err
		}
	}
	if len(s) <= inlineBytes {
		return nil, nil
	}
	return t.alloc(len(s), 1)
}

// addPage adds the page of the given number unless it is there.
func (t *Text) addPage(pages *[]unsafe.Pointer, n int) error {
	if n < len(*pages) {
		return nil
	}
	p, err := t.alloc(pageBytes, 64)
	if err == nil {
		*pages = append(*pages, p)
	}
	return err
}

// split adds a bucket and moves the entries to it that belong there now, of one other bucket.
func (t *Text) split() {
	added := t.buckets
	t.buckets++
	*t.head(added) = noEntry
	if added == 0 {
		return
	}
	// The bucket that splits is the added one without its highest bit.
	from := t.head(added &^ (1 << (bits.Len32(added) - 1)))
	to := t.head(added)
	for i := *from; i != noEntry; i = *from {
		e := t.entry(i)
		if t.bucketOf(e.hash) != added {
			from = &e.next
			continue
		}
		*from = e.next
		e.next, *to = *to, i
	}
}

// unlink takes an entry out of its bucket's list.
func (t *Text) unlink(i uint32, e *textEntry) {
	link := t.head(t.bucketOf(e.hash))
	for *link != i {
		link = &t.entry(*link).next
	}
	*link = e.next
}

// drop makes an entry free that no list has.
func (t *Text) drop(i uint32, e *textEntry) {
	p, n := e.at(), int(e.length)
	t.live--
	t.refs -= int(e.refs)
	t.bytes -= n
	e.generation++
	e.refs, e.length = 0, 0
	e.next, t.free = t.free, i
	if n > inlineBytes {
		t.source.free(p, n, 1)
	}
}

// Verify checks T1 to T4 and returns an error that names the first violation. Cost: a map of all
// texts.
func (t *Text) Verify() error {
	t.check("Text.Verify")
	if t.live > int(t.buckets) || int(t.buckets) > int(t.made) || int(t.made) > len(t.entries)<<entryShift ||
		int(t.buckets) > len(t.heads)<<bucketShift {
		return fmt.Errorf("container: T4: %d texts, %d buckets in %d pages, %d entries in %d pages",
			t.live, t.buckets, len(t.heads), t.made, len(t.entries))
	}
	seen := make(map[string]uint32, t.live)
	listed, bytes, refs := 0, 0, 0
	for b := range t.buckets {
		for i := *t.head(b); i != noEntry; i = t.entry(i).next {
			if i >= t.made || listed == t.live {
				return fmt.Errorf("container: T1: bucket %d has entry %d of %d, or a loop; %d texts are live",
					b, i, t.made, t.live)
			}
			e := t.entry(i)
			if e.refs == 0 || e.generation&1 == 0 || t.bucketOf(e.hash) != b {
				return fmt.Errorf("container: T1: bucket %d has entry %d: %d references, generation %d, hash %#x",
					b, i, e.refs, e.generation, e.hash)
			}
			// Safe because the entry is live: its text has length bytes.
			s := unsafe.String((*byte)(e.at()), e.length)
			if t.hashOf(s) != e.hash {
				return fmt.Errorf("container: T1: entry %d has hash %#x, its text %q has %#x",
					i, e.hash, s, t.hashOf(s))
			}
			if other, twice := seen[s]; twice && other == i {
				return fmt.Errorf("container: T1: bucket %d has entry %d twice", b, i)
			} else if twice {
				return fmt.Errorf("container: T2: entries %d and %d are both %q", other, i, s)
			}
			seen[s] = i
			listed++
			bytes += len(s)
			refs += int(e.refs)
		}
	}
	if listed != t.live || bytes != t.bytes || refs != t.refs {
		return fmt.Errorf(
			"container: T3: %d texts of %d bytes with %d references are in the index, the counts are %d, %d and %d",
			listed, bytes, refs, t.live, t.bytes, t.refs)
	}
	return t.verifyEntries(listed)
}

// verifyEntries checks the list of free entries (T1).
func (t *Text) verifyEntries(listed int) error {
	free := 0
	for i := t.free; i != noEntry && free <= int(t.made); i = t.entry(i).next {
		if i >= t.made || t.entry(i).refs != 0 || t.entry(i).generation&1 != 0 {
			return fmt.Errorf("container: T1: entry %d is in the list of free ones", i)
		}
		free++
	}
	if free+listed != int(t.made) {
		return fmt.Errorf("container: T1: %d entries are live and %d free, of %d", listed, free, t.made)
	}
	return nil
}
