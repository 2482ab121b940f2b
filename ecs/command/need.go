package command

import (
	"slices"
	"unsafe"
)

// need remembers how much of some memory the last plays of a buffer needed. The buffer keeps what
// recent plays needed for the next ones, and frees what remains of an older peak by itself.
type need struct {
	last [recent]int
	at   int
}

// recent is the number of plays for which a peak is remembered.
const recent = 8

// note adds the need of one more play, and returns the largest need of the recent plays.
func (n *need) note(size int) (most int) {
	n.last[n.at] = size
	n.at = (n.at + 1) % recent
	for _, one := range n.last {
		most = max(most, one)
	}
	return most
}

// peak is the largest length that lists of a player reached in one Play.
type peak struct {
	subjects, links int
	index           int // highest index of an entity, + 1
	list            int // entities of a group or of a query
}

// leastKept is how many bytes of lists are kept in any case.
const leastKept = 64 << 10

// keep frees the player's lists if they are much larger than the recent plays needed. Growing lists
// have up to twice the room they need, so lists of up to four times the need are kept; otherwise
// the next Play might have to grow them again. Made answers as before.
func (p *player) keep() {
	all := p.lists()
	p.peak = peak{}
	if all.held <= max(4*p.need.note(all.used), leastKept) {
		return
	}
	p.subjects, p.links, p.latest, p.placed, p.segments, p.runs = subjects{}, nil, nil, nil, nil, nil
	p.nodes, p.edges, p.roots = nil, map[edge]int32{}, map[rootKey]int32{}
	p.segment, p.work = nil, work{made: slices.Clone(p.work.made)}
}

// lists counts the lists of the player that grow with the world or with the recording.
func (p *player) lists() (all tally) {
	w, t, most := &p.work, &p.subjects, &p.peak
	count(&all, t.e, most.subjects)
	count(&all, t.node, most.subjects)
	count(&all, t.first, most.subjects)
	count(&all, t.last, most.subjects)
	count(&all, p.links, most.links)
	count(&all, p.latest, most.index)
	count(&all, p.placed, len(p.placed))
	count(&all, p.segments, len(p.segments))
	count(&all, p.nodes, len(p.nodes))
	count(&all, w.made, len(w.made))
	count(&all, w.gone, len(w.gone))
	count(&all, w.order, most.subjects)
	count(&all, w.values, most.list)
	count(&all, w.cursor, most.list)
	count(&all, w.list, most.list)
	count(&all, w.heirs, len(w.heirs))
	return all
}

// tally is the number of bytes that lists hold, and how many of them were needed.
type tally struct{ held, used int }

// count adds a list of which used elements were needed.
func count[T any](t *tally, list []T, used int) {
	size := int(unsafe.Sizeof(*new(T)))
	t.held += size * cap(list)
	t.used += size * used
}
