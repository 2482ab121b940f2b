package name

import (
	"hash/maphash"
	"iter"
	"strings"

	"quarry/ecs/internal/entity"
)

// Invariants, checked by Verify:
//
//	N1 Each value lies in the leaf that its key's bits lead to. A slot with a branch has no values,
//	   and none has more than 16, but on the last level. Nothing was made after now.
//	N2 No index has two entries.
//	N3 A list has the hash of its text, and no other list has the text.
//	N4 From the front of a list on, each entry has the list's text and leads back to the one before;
//	   each entry is in a list.
//
// Verify cannot see whether a node was written that shared Names have too, as nothing in the node
// shows it: tests compare them with a model.

// Names are names of entities; the zero Names are empty.
type Names struct {
	entries trie[entry]
	lists   trie[list]
	n       int
}

// entry is the name of an entity.
type entry struct {
	id   entity.ID
	text string
	prev uint32 // index of the neighbor towards the front; 0, which no entity has: none
	next uint32 // towards the back
}

// list is the list of the entities that have a text.
type list struct {
	text  string
	front entity.ID
	hash  uint32 // of the text
}

func (e entry) key() uint32 { return keyOf(e.id.Index()) }
func (l list) key() uint32  { return l.hash }

// keyOf returns the key of an index. No other index has the same, since the factor is odd; indices
// in a row, or at equal distances, get keys that differ in the highest bits.
func keyOf(index uint32) uint32 { return index * 0x9e3779b1 }

var seed = maphash.MakeSeed()

// hashOf returns the hash of a text, which other texts may have too.
func hashOf(text string) uint32 { return uint32(maphash.String(seed, text)) }

// Len returns the number of entities that have a name.
func (n *Names) Len() int { return n.n }

// Of returns the text of the entity with an index, or "".
func (n *Names) Of(index uint32) string {
	if e, _ := n.entry(index); e != nil {
		return e.text
	}
	return ""
}

// entry returns the entry of an index, to read, and its position in its leaf, or nil.
func (n *Names) entry(index uint32) (*entry, int) {
	values := n.entries.find(keyOf(index)).values
	for at := range values {
		if values[at].id.Index() == index {
			return &values[at], at
		}
	}
	return nil, 0
}

// change returns the entry of an index that has one, to write.
func (n *Names) change(index uint32) *entry {
	_, at := n.entry(index)
	return n.entries.change(keyOf(index), at)
}

// list returns the list of a text, to read, and its position in its leaf, or nil.
func (n *Names) list(hash uint32, text string) (*list, int) {
	values := n.lists.find(hash).values
	for at := range values {
		if l := &values[at]; l.hash == hash && l.text == text {
			return l, at
		}
	}
	return nil, 0
}

// Named returns the entity that was given a text last, or false if none has it.
func (n *Names) Named(text string) (entity.ID, bool) {
	if l, _ := n.list(hashOf(text), text); l != nil {
		return l.front, true
	}
	return entity.ID{}, false
}

// Set gives an entity a text, instead of the one that an entity with its index has; "" removes
// that. What has the text already stays where it is in the list.
func (n *Names) Set(id entity.ID, text string) {
	index := id.Index()
	if e, _ := n.entry(index); e != nil {
		if e.text == text {
			return
		}
		n.Remove(index)
	}
	if text == "" {
		return
	}
	hash, next := hashOf(text), uint32(0)
	if l, at := n.list(hash, text); l != nil {
		text, next = l.text, l.front.Index()
		n.lists.change(hash, at).front = id
		n.change(next).prev = index
	} else {
		text = strings.Clone(text)
		n.lists.add(hash, list{text, id, hash})
	}
	n.entries.add(keyOf(index), entry{id: id, text: text, next: next})
	n.n++
}

// Remove removes the name of the entity with an index, if it has one.
func (n *Names) Remove(index uint32) {
	p, at := n.entry(index)
	if p == nil {
		return
	}
	e := *p
	n.entries.remove(keyOf(index), at)
	n.n--
	if e.next != 0 {
		n.change(e.next).prev = e.prev
	}
	if e.prev != 0 {
		n.change(e.prev).next = e.next
		return
	}
	hash := hashOf(e.text)
	_, at = n.list(hash, e.text)
	if e.next != 0 {
		next, _ := n.entry(e.next)
		n.lists.change(hash, at).front = next.id
	} else {
		n.lists.remove(hash, at)
	}
}

// Share returns the names as they are, for any goroutine to read: changes from now on leave them as
// they are. They themselves must not be changed.
func (n *Names) Share() Names {
	shared := *n
	n.entries.now++
	n.lists.now++
	return shared
}

// Same reports whether the names of two moments of one world are known to be the same, since
// nothing was written in between.
func (n *Names) Same(as *Names) bool {
	return n.n == as.n && n.entries.root.same(&as.entries.root) && n.lists.root.same(&as.lists.root)
}

// Return makes the names those of a moment, which Share returned then and which stay as they are.
func (n *Names) Return(to *Names) {
	n.entries.root, n.lists.root, n.n = to.entries.root, to.lists.root, to.n
	n.entries.now++
	n.lists.now++
}

// All yields the entities that have a name, with the text, in no order. The names must not change
// meanwhile.
func (n *Names) All() iter.Seq2[entity.ID, string] {
	return func(yield func(entity.ID, string) bool) {
		n.entries.root.all(func(e *entry) bool { return yield(e.id, e.text) })
	}
}

// Texts yields the texts that entities have, each once, in no order. The names must not change
// meanwhile.
func (n *Names) Texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		n.lists.root.all(func(l *list) bool { return yield(l.text) })
	}
}

// AllNamed yields the entities that have a text, the one that was given it last first. The names
// must not change meanwhile.
func (n *Names) AllNamed(text string) iter.Seq[entity.ID] {
	return func(yield func(entity.ID) bool) {
		id, more := n.Named(text)
		for more && yield(id) {
			e, _ := n.entry(id.Index())
			if more = e.next != 0; more {
				e, _ = n.entry(e.next)
				id = e.id
			}
		}
	}
}
