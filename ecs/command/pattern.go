package command

import (
	"unsafe"

	"quarry/ecs"
	"quarry/internal/seam"
)

// pattern is how the commands of a new entity lie in a stream: its Create, and right behind it what
// is about the same placeholder. The entities behind it mostly are made alike: their records have
// the same heads, but for the placeholder, so they come to the same program, and are taken by a
// comparison of heads. Their subjects are packed: they need no links, for the records lie one
// behind the other.
type pattern struct {
	stream *stream // nil: there is none
	heads  []head
	size   int   // bytes of all
	node   int32 // program
	wait   int   // entities until the next is looked at, for those before had no pattern
	pause  int   // what wait began with
}

// head is the first 8 bytes of a record and where the record is from the first of the pattern.
type head struct {
	word uint64
	at   uintptr
}

// longestPause is how many entities are taken one by one before one is looked at again.
const longestPause = 63

// mostHeads is how many commands a pattern has: what is longer is taken one by one.
const mostHeads = 64

// takes reports whether a pattern may have the op behind a Create: its records have one size, what
// they do follows from the op alone, and is about no other entity.
func (pattern) takes(o *op, c codec) bool {
	return o.kind > destroy && o.query == nil && !(o.shared && o.valued) && (c == nil || c.fills())
}

// spawn takes entities that are made alike, from the Create at a cursor on, and returns how many
// commands that are. With 0 it is for checkOne to take the Create.
func (p *player) spawn(c *cursor, canon []int32) (int, error) {
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
	if err := p.learn(*c, canon); err != nil {
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

// begins reports whether the records at a place are as the pattern says, and about e.
func (l *pattern) begins(at unsafe.Pointer, e ecs.Entity) bool {
	for i := range l.heads {
		r := (*record)(unsafe.Add(at, l.heads[i].at)) // Safe because the caller knows that so many bytes of records are there.
		if r.head() != l.heads[i].word || r.e != e {
			return false
		}
	}
	return true
}

// learn makes the pattern that of the commands from a cursor on.
func (p *player) learn(c cursor, canon []int32) error {
	l := &p.pattern
	page := &c.s.pages[c.page]
	at, left := c.at, c.left
	if l.stream == c.s && page.used-at < l.size {
		return nil // cut by the end of a page
	}
	l.stream, l.heads, l.size = nil, l.heads[:0], 0
	r := (*record)(unsafe.Add(page.base, at)) // Safe because a record begins there.
	e := r.e
	n, err := p.root(rootKey{at: p.ops[canon[r.op]].archetype, created: true})
	if err != nil {
		return err
	}
	for left > 0 && at < page.used && len(l.heads) < mostHeads {
		r = (*record)(unsafe.Add(page.base, at)) // Safe because a record begins there.
		if at > c.at {
			o := canon[r.op]
			if r.e != e || r.flags&(listed|linked) != 0 {
				break
			}
			if s := c.s; o < 0 && !s.list[r.op].shared {
				o = p.opOf(canon, r)
			}
			if o < 0 || !l.takes(&p.ops[o], p.codecs[o]) {
				break
			}
			to, err := p.step(n, o)
			if err != nil {
				return err
			}
			if to < 0 || to == n {
				break // it fails, or has no link
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

// repeatSpawn takes the entities from a cursor on whose records are as the pattern says.
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
		r := (*record)(at) // Safe because a record begins there.
		e := r.e
		if !l.begins(at, e) {
			break
		}
		next := unsafe.Add(at, l.size)
		if next != end && (*record)(next).e == e { // Safe because another record begins there.
			break // it has other commands
		}
		list[n], begins[n] = e, ^int32(r.from(p.base)+r.size/8) // the Create has no link
		number, _ := seam.Number(e)
		p.placed[number] = int32(first + n)
		at = next
	}
	t.e, t.first = t.e[:first+n], t.first[:first+n]
	t.node, t.last = t.node[:first+n], t.last[:first+n]
	for i := first; i < first+n; i++ {
		t.node[i], t.last[i] = l.node, packed
	}
	if len(l.heads) == 1 { // no commands but the Create
		for i := first; i < first+n; i++ {
			t.first[i], t.last[i] = -1, -1
		}
	}
	c.at += n * l.size
	c.left -= n * len(l.heads)
	return n * len(l.heads)
}
