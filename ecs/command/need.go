package command

import (
	"slices"
	"unsafe"
)

// need is what the last plays of a buffer needed of some memory. A buffer keeps for the next ones
// what recent ones needed, and gives back what is left of a peak before, by itself.
type need struct {
	last [recent]int
	at   int
}

// recent is how many plays a peak is remembered.
const recent = 8

// note notes what one more play needed, and returns the most of the recent ones.
func (n *need) note(size int) (most int) {
	n.last[n.at] = size
	n.at = (n.at + 1) % recent
	for _, one := range n.last {
		most = max(most, one)
	}
	return most
}

// peak is the most that the lists of a player have held in one Play.
type peak struct {
	subjects, links int
	index           int // of entities + 1
	list            int // entities of a group or of a query
}

// leastKept is how many bytes of lists are kept in any case.
const leastKept = 64 << 10

// keep gives the lists of the player back where they are much larger than the recent plays needed.
// Lists that grow are up to twice as large as they must be, so those that are kept may be four
// times: then none is given back that the next Play makes as large again. Made is answered as
// before.
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

// lists counts the lists of the player whose lengths are those of a world or a recording.
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

// tally is how many bytes of lists are held, and how many of these were needed.
type tally struct{ held, used int }

// count adds a list of which so many were needed.
func count[T any](t *tally, list []T, used int) {
	size := int(unsafe.Sizeof(*new(T)))
	t.held += size * cap(list)
	t.used += size * used
}
