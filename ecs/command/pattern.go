package command

import (
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// pattern describes how the commands of a new entity lie in a stream: its Create, directly followed
// by the commands about the same placeholder. Most of the following entities are made alike. Their
// records have the same heads except for the placeholder, so they lead to the same program, and a
// comparison of heads is enough to check them. Their subjects are packed and need no links, since
// their records are contiguous.
type pattern struct {
	stream *stream // nil if there is no pattern
	heads  []head
	size   int   // bytes of all records
	node   int32 // program
	wait   int   // entities to skip before the next search for a pattern, since recent searches failed
	pause  int   // the value that wait began with
}

// head is the first 8 bytes of a record, and the record's offset from the first record of the
// pattern.
type head struct {
	word uint64
	at   uintptr
}

// longestPause is the most entities that are checked one by one before the next search for a
// pattern.
const longestPause = 63

// mostHeads is the most commands of a pattern. Entities with more are checked one by one.
const mostHeads = 64

// takes reports whether a pattern may contain the op after a Create. Its records must have one
// size, and its effect must follow from the op alone and concern no other entity.
func (pattern) takes(o *op, c codec) bool {
	return o.kind > destroy && o.query == nil && !(o.shared && o.valued) && (c == nil || c.fills())
}

// spawn checks entities that are made alike, starting at the Create at a cursor, and returns how
// many commands it checked. If it returns 0, the caller checks the Create with checkOne.
func (p *player) spawn(c *cursor, remap []int32) (int, error) {
	l := &p.pattern
	c.turn()
	n := p.repeatSpawn(c)
	if n > 0 {
		return n, nil
	}
	if l.wait > 0 {
		l.wait--
		return 0, nil
	}
	if err := p.learn(*c, remap); err != nil {
		return 0, err
	}
	if n = p.repeatSpawn(c); n > 0 {
		l.pause = 0
	} else {
		l.pause = min(2*l.pause+1, longestPause)
		l.wait = l.pause
	}
	return n, nil
}

// begins reports whether the records at an address match the pattern and are about e.
func (l *pattern) begins(at unsafe.Pointer, e ecs.Entity) bool {
	for i := range l.heads {
		// Safe because the caller knows that so many bytes of records are there.
		r := (*commandRecord)(unsafe.Add(at, l.heads[i].at))
		if r.head() != l.heads[i].word || r.e != e {
			return false
		}
	}
	return true
}

// learn makes a pattern of the commands at a cursor.
func (p *player) learn(c cursor, remap []int32) error {
	l := &p.pattern
	page := &c.s.pages[c.page]
	at, left := c.at, c.left
	if l.stream == c.s && page.used-at < l.size {
		return nil // the page ends here
	}
	l.stream, l.heads, l.size = nil, l.heads[:0], 0
	r := (*commandRecord)(unsafe.Add(page.base, at)) // Safe because a record begins there.
	e := r.e
	n, err := p.root(rootKey{at: p.ops[remap[r.op]].archetype, created: true})
	if err != nil {
		return err
	}
	for left > 0 && at < page.used && len(l.heads) < mostHeads {
		r = (*commandRecord)(unsafe.Add(page.base, at)) // Safe because a record begins there.
		if at > c.at {
			o := remap[r.op]
			if r.e != e || r.flags&(listed|hasPlaceholders|stale) != 0 {
				break
			}
			if s := c.s; o < 0 && !s.list[r.op].shared {
				o = p.opOf(remap, r)
			}
			if o < 0 || !l.takes(&p.ops[o], p.codecs[o]) {
				break
			}
			to, err := p.step(n, o)
			if err != nil {
				return err
			}
			if to < 0 || to == n {
				break // the command fails, or changes nothing and so has no link
			}
			n = to
		}
		l.heads = append(l.heads, head{r.head(), uintptr(at - c.at)})
		at += int(r.size)
		left--
	}
	l.stream, l.size, l.node = c.s, at-c.at, n
	return nil
}

// repeatSpawn checks the entities at a cursor whose records match the pattern.
func (p *player) repeatSpawn(c *cursor) (commands int) {
	l, t := &p.pattern, &p.subjects
	if l.stream != c.s {
		return 0
	}
	page := &c.s.pages[c.page]
	most := min((page.used-c.at)/l.size, c.left/len(l.heads))
	first := int(t.len())
	t.grow(most)
	list, begins := t.e[first:first+most], t.first[first:first+most]
	// Safe because so many records of this size lie from there on.
	at, end := unsafe.Add(page.base, c.at), unsafe.Add(page.base, page.used)
	n := 0
	for ; n < most; n++ {
		r := (*commandRecord)(at) // Safe because a record begins there.
		e := r.e
		if !l.begins(at, e) {
			break
		}
		next := unsafe.Add(at, l.size)
		if next != end && (*commandRecord)(next).e == e { // Safe because another record begins there.
			break // the entity has more commands
		}
		list[n], begins[n] = e, ^int32(r.from(p.base)+r.size/8) // the Create has no link
		number, _ := door.Number(e)
		p.placed[number] = int32(first + n)
		at = next
	}
	t.e, t.first = t.e[:first+n], t.first[:first+n]
	t.node, t.last = t.node[:first+n], t.last[:first+n]
	for i := first; i < first+n; i++ {
		t.node[i], t.last[i] = l.node, packed
	}
	if len(l.heads) == 1 { // no commands after the Create
		for i := first; i < first+n; i++ {
			t.first[i], t.last[i] = -1, -1
		}
	}
	c.at += n * l.size
	c.left -= n * len(l.heads)
	return n * len(l.heads)
}

// unpack gives links to a packed subject. The depth of its node must equal its number of commands.
func (p *player) unpack(s int32) {
	t := &p.subjects
	l := t.first[s]
	t.first[s], t.last[s] = -1, -1
	for range p.nodes[t.node[s]].depth {
		r := p.recordOf(l)
		t.link(s, r.from(p.base))
		l -= int32(r.size / 8)
	}
}
