package command

import (
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// pattern describes how the commands of a new entity lie in a stream: its Create, directly followed
// by the commands about the same placeholder. Most entities that are created by the same op are
// made alike. Their records have the same heads, so they lead to the same program, and a comparison
// of heads is enough to check them. Their subjects are packed and need no links, since their
// records are contiguous.
//
//	Create a   Set    Append      Create b   Set    Create a   Set    Append
//	+-- pattern of Create a --+   +-- of b --+-+    +-- of a again ----------+
//
// The head of a record is its op, its flags and its size. Where a record has elements of a buffer,
// whose number differs, the size is not compared.
type pattern struct {
	play   uint64 // in which it was learned; in others it does not hold
	heads  []head
	size   int   // bytes of the records that it was learned from
	varies bool  // some record has elements
	node   int32 // program
}

// patterns are those of the entities that one op of a stream creates.
type patterns struct {
	list  [2]pattern
	last  int // which fitted, or was learned, last
	wait  int // entities to skip before the next search for a pattern, since recent searches failed
	pause int // the value that wait began with
}

// head is the first 8 bytes of a record, and the record's offset from the first record of the
// pattern.
type head struct {
	word uint64
	mask uint64 // of the bits of word that are compared
	at   uintptr
}

const (
	wholeHead = ^uint64(0)
	noSize    = 1<<32 - 1 // the op and the flags
)

// longestPause is the most entities that are checked one by one before the next search for a
// pattern.
const longestPause = 63

// mostHeads is the most commands of a pattern. Entities with more are checked one by one.
const mostHeads = 64

// takes returns the mask of the head of a record with an op after a Create, and whether a pattern
// may contain it: its effect must follow from the op alone and concern no other entity.
func (pattern) takes(o *op, c codec) (mask uint64, ok bool) {
	if o.kind <= destroy || o.query != nil || o.sparse || o.shared && o.valued {
		return 0, false
	}
	if c != nil && c.counted() {
		return noSize, true
	}
	return wholeHead, true
}

// spawn checks entities that are made alike, starting at the Create at a cursor, and returns how
// many commands it checked. If it returns 0, the caller checks the Create with checkOne.
func (p *player) spawn(c *cursor, remap []int32) (int, error) {
	c.turn()
	n := p.repeatSpawns(c)
	if n > 0 {
		return n, nil
	}
	if n = p.repeatTurning(c); n > 0 {
		return n, nil
	}
	l := p.patternsAt(c)
	if l.wait > 0 {
		l.wait--
		return 0, nil
	}
	if err := p.learn(l, *c, remap); err != nil {
		return 0, err
	}
	if n = p.repeatSpawns(c); n == 0 {
		n = p.repeatTurning(c)
	}
	if n > 0 {
		l.pause = 0
	} else {
		l.pause = min(2*l.pause+1, longestPause)
		l.wait = l.pause
	}
	return n, nil
}

// patternsAt returns the patterns of the Create at a cursor.
func (p *player) patternsAt(c *cursor) *patterns {
	for len(p.patterns) <= c.s.worker {
		p.patterns = append(p.patterns, nil)
	}
	of := &p.patterns[c.s.worker]
	r := (*commandRecord)(unsafe.Add(c.s.pages[c.page].base, c.at)) // Safe because a record begins there.
	for len(*of) <= int(r.op) {
		*of = append(*of, patterns{})
	}
	l := &(*of)[r.op]
	if l.list[0].play != p.plays && l.list[1].play != p.plays {
		l.wait, l.pause = 0, 0
	}
	return l
}

// learn makes a pattern of the commands at a cursor.
func (p *player) learn(to *patterns, c cursor, remap []int32) error {
	if to.list[to.last].play == p.plays {
		to.last = 1 - to.last
	}
	l := &to.list[to.last]
	l.play, l.heads, l.size, l.varies = 0, l.heads[:0], 0, false
	r := c.next()
	e := r.e
	n, err := p.root(rootKey{at: p.ops[remap[r.op]].archetype, created: true})
	if err != nil {
		return err
	}
	l.heads = append(l.heads, head{r.head(), wholeHead, 0})
	l.size = int(r.size)
	for len(l.heads) < mostHeads {
		r = c.next()
		if r == nil || r.e != e || r.flags&(listed|hasPlaceholders|stale) != 0 {
			break
		}
		o := remap[r.op]
		if s := c.s; o < 0 && !s.list[r.op].shared {
			o = p.opOf(remap, r)
		}
		if o < 0 {
			break
		}
		mask, ok := pattern{}.takes(&p.ops[o], p.codecs[o])
		if !ok {
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
		l.heads = append(l.heads, head{r.head(), mask, uintptr(l.size)})
		l.varies = l.varies || mask != wholeHead
		l.size += int(r.size)
	}
	l.play, l.node = p.plays, n
	return nil
}

// fits returns the bytes of the records at an address that match the pattern and are about e, or 0.
// room is how many bytes of records there are.
func (l *pattern) fits(at unsafe.Pointer, e ecs.Entity, room int) int {
	if l.varies {
		return l.fitsVarying(at, e, room)
	}
	if l.size > room {
		return 0
	}
	for i := range l.heads {
		// Safe because so many bytes of records are there.
		r := (*commandRecord)(unsafe.Add(at, l.heads[i].at))
		if r.head() != l.heads[i].word || r.e != e {
			return 0
		}
	}
	return l.size
}

// fitsVarying is fits for a pattern with records of different sizes.
func (l *pattern) fitsVarying(at unsafe.Pointer, e ecs.Entity, room int) int {
	size := 0
	for i := range l.heads {
		if size >= room {
			return 0
		}
		r := (*commandRecord)(unsafe.Add(at, size)) // Safe because a record begins there.
		if (r.head()^l.heads[i].word)&l.heads[i].mask != 0 || r.e != e {
			return 0
		}
		size += int(r.size)
	}
	return size
}

// fit returns the pattern that the records of e at an address match, and their bytes, or nil.
func (p *player) fit(of []patterns, at unsafe.Pointer, room int) (*pattern, int) {
	r := (*commandRecord)(at) // Safe because a record begins there.
	if int(r.op) >= len(of) {
		return nil, 0
	}
	l := &of[r.op]
	one := &l.list[l.last]
	if one.play != p.plays {
		return nil, 0
	}
	if size := one.fits(at, r.e, room); size > 0 {
		return one, size
	}
	if one = &l.list[1-l.last]; one.play == p.plays {
		if size := one.fits(at, r.e, room); size > 0 {
			l.last = 1 - l.last
			return one, size
		}
	}
	return nil, 0
}

// repeatSpawns checks the entities at a cursor whose records match patterns, up to the end of the
// page.
func (p *player) repeatSpawns(c *cursor) (commands int) {
	if c.s.worker >= len(p.patterns) {
		return 0
	}
	of, t := p.patterns[c.s.worker], &p.subjects
	page := &c.s.pages[c.page]
	first, n, left := int(t.len()), 0, c.left
	// Safe because records lie up to there.
	at, room := unsafe.Add(page.base, c.at), page.used-c.at
	for left > 0 && room > 0 {
		l, size := p.fit(of, at, room)
		if l == nil || len(l.heads) > left {
			break
		}
		r := (*commandRecord)(at) // Safe because a record begins there.
		e, next := r.e, unsafe.Add(at, size)
		if size < room && (*commandRecord)(next).e == e { // Safe because another record begins there.
			break // the entity has more commands
		}
		if first+n == cap(t.e) || first+n == cap(t.first) || first+n == cap(t.node) || first+n == cap(t.last) {
			t.e, t.node, t.first, t.last = t.e[:first+n], t.node[:first+n], t.first[:first+n], t.last[:first+n]
			t.grow(room/size + 1)
		}
		begins, last := ^int32(r.from(p.base)+r.size/8), int32(packed) // the Create has no link
		if len(l.heads) == 1 {                                         // no commands after the Create
			begins, last = -1, -1
		}
		i := first + n
		t.e[:i+1][i], t.first[:i+1][i] = e, begins
		t.node[:i+1][i], t.last[:i+1][i] = l.node, last
		number, _ := door.Number(e)
		p.placed[number] = int32(i)
		at, room = next, room-size
		left -= len(l.heads)
		n++
	}
	t.e, t.first = t.e[:first+n], t.first[:first+n]
	t.node, t.last = t.node[:first+n], t.last[:first+n]
	commands = c.left - left
	c.at, c.left = page.used-room, left
	return commands
}

// repeatTurning checks the entity at a cursor if its records match a pattern but do not end on the
// page of the first. Its subject has links.
func (p *player) repeatTurning(c *cursor) (commands int) {
	l := p.patternsAt(c)
	one, after := &l.list[l.last], *c
	left := c.s.pages[c.page].used - c.at
	if one.play != p.plays || len(one.heads) > c.left || left >= one.size+mostTurning {
		return 0
	}
	var at [mostHeads]uint32
	var e ecs.Entity
	for i := range one.heads {
		r := after.next()
		if i == 0 {
			e = r.e
		}
		if (r.head()^one.heads[i].word)&one.heads[i].mask != 0 || r.e != e {
			return 0
		}
		at[i] = r.from(p.base)
	}
	if next := after; next.left > 0 && next.next().e == e {
		return 0 // the entity has more commands
	}
	number, _ := door.Number(e)
	s := p.subjects.add(e, one.node, -1)
	p.placed[number] = s
	for _, from := range at[1:len(one.heads)] {
		p.subjects.link(s, from)
	}
	*c = after
	return len(one.heads)
}

// mostTurning is how many bytes more than those of a pattern the records of an entity may have that
// repeatTurning looks at.
const mostTurning = 1 << 10

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
