package command

import (
	"slices"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/world"
)

// A player makes the changes of one Play: check works out what the commands do to each entity
// (check.go), then apply makes the changes, run by run (play.go). This file has the state that the
// steps share, and keeps its memory for the next Play.

// player is the state of one Play, kept for reuse.
type player struct {
	programs
	base          unsafe.Pointer // of the universe
	linkedType    ecs.Buffer[ecs.LinkedEntity]
	cleanupEntity ecs.Component[ecs.CleanupEntity]
	segments      []segment
	remap         [][]int32 // by stream and number of an op there: its number in ops; -1 if not looked up yet

	subjects subjects
	latest   []int32 // by index of entity: its last subject
	placed   []int32 // by number of placeholder: its last subject
	runs     []run

	here       place
	segment    *segment  // of the current record
	number     int       // of the current record in its segment
	failures   []Failure // found by check, the first MostFailures
	failed     int       // number of all that check found
	late       []Failure // found while playing
	lateFailed int
	cause      error // of the last late failure

	judges []world.Judge
	stale  map[named]bool

	listed   bool // some command about a list has a value
	named    bool // some value has placeholders
	block    checkBlock
	plays    uint64       // number of the Play
	patterns [][]patterns // by stream and number of an op there
	work     work
	peak     peak
	need     need // of lists, in bytes
}

// run is commands that are played together. A command about a query ends a run.
type run struct {
	first, end int32          // subjects
	query      *commandRecord // that ends the run; nil if a copy or the last command does
	op         int32
	unsure     bool  // the effects of earlier queries could not be predicted: see sync
	from       place // its first command
	failures   int   // len(player.failures) when the run began
	failed     int   // player.failed then
}

// place is where a record is in the order of playback.
type place struct {
	segment int
	c       cursor // at the record
	number  int    // of the record in the segment
}

// work is the state of playing a run, kept for reuse.
type work struct {
	order   []int32      // subjects of the run, by node
	touched []int32      // nodes at which subjects of the run end, in order of first use
	made    []ecs.Entity // by number of placeholder
	gone    []bool       // placeholders whose entity was never made
	born    bool         // made has entities of this Play
	list    []ecs.Entity
	values  []int32
	records []int32 // positions of the current command's records of a group, less skip; see valuesOf
	skip    int32
	linked  []linked // subjects of the group with links
	steps   int      // number of commands that records has advanced
	unfit   unfitRows
	late    []lateValue  // what fill has left to spread, group by group
	heirs   []ecs.Entity // to be destroyed after the run: members of destroyed groups, and copies
	tx      edit.Tx
	groups  int  // number of groups in tx
	changed bool // the run has changed the world
}

// peak is the largest length that lists of a player reached in one Play.
type peak struct {
	subjects, links int
	index           int // highest index of an entity, + 1
	list            int // entities of a group or of a query
}

// begin prepares a Play of what some streams have recorded for a world, with a number of
// placeholders.
func (p *player) begin(w *ecs.World, streams []*stream, placeholders int) {
	if p.edges == nil {
		p.edges, p.roots, p.byOp = map[edge]int32{}, map[rootKey]int32{}, map[op]int32{}
		p.linkedType, p.cleanupEntity = ecs.RegisterBuffer[ecs.LinkedEntity](w), ecs.Register[ecs.CleanupEntity](w)
	}
	p.w, p.base = w, w.Universe().Base()
	p.segments = inOrder(p.segments[:0], streams)
	for i, s := range streams {
		if len(p.remap) == i {
			p.remap = append(p.remap, nil)
		}
		if s != nil {
			p.remap[i] = slices.Grow(p.remap[i][:0], len(s.list))[:len(s.list)]
			for n := range p.remap[i] {
				p.remap[i][n] = -1
			}
		}
	}
	p.placed = zeroed(p.placed, placeholders)
	p.work.made = zeroed(p.work.made, len(p.placed))
	p.work.gone = zeroed(p.work.gone, len(p.placed))
	p.work.born = false
	p.subjects.clear()
	p.subjects.grow(placeholders)
	p.restart()
	p.plays++
	p.listed, p.named, p.block.n = false, false, 0
	clear(p.lastRoots[:])
	p.liveness.live = p.liveness.live[:0]
	clear(p.block.known[:])
	p.failures, p.failed, p.late, p.lateFailed, p.cause = p.failures[:0], 0, p.late[:0], 0, nil
}

// end drops the state of the Play, and everything that refers to the world.
func (p *player) end() {
	p.restart()
	p.keep()
	p.judges = nil
	clear(p.nodes)
	clear(p.segments)
	clear(p.runs)
	p.nodes = p.nodes[:0]
	// Ops are kept for the next Play, unless some hold shared values or queries.
	if len(p.ops) > mostOps || slices.ContainsFunc(p.ops, func(o op) bool { return o.shared || o.query != nil }) {
		clear(p.ops)
		clear(p.codecs)
		p.ops, p.codecs = p.ops[:0], p.codecs[:0]
		clear(p.byOp)
	}
	for i := range p.patterns {
		if len(p.patterns[i]) > mostOps {
			p.patterns[i] = nil
		}
	}
	clear(p.edges)
	clear(p.roots)
}

// restart drops the subjects, so that the commands that follow are worked out from the world as it
// is.
func (p *player) restart() {
	most := &p.peak
	for _, e := range p.subjects.e[1:] {
		if i := e.Index(); !e.IsPlaceholder() && i < len(p.latest) {
			p.latest[i] = 0
			most.index = max(most.index, i+1)
		}
	}
	most.subjects, most.links = max(most.subjects, int(p.subjects.len())), max(most.links, len(p.subjects.links))
	p.subjects.clear()
	p.runs = append(p.runs[:0], run{first: 1})
	clear(p.placed)
}

// keep frees the player's lists if they are much larger than the recent plays needed. Growing lists
// have up to twice the room they need, so lists of up to four times the need are kept; otherwise
// the next Play might have to grow them again. Made answers as before.
func (p *player) keep() {
	all := p.lists()
	p.peak = peak{}
	if all.held <= max(4*p.need.note(all.used), leastKept) {
		return
	}
	p.subjects, p.latest, p.placed, p.segments, p.runs = subjects{}, nil, nil, nil, nil
	p.nodes, p.edges, p.roots = nil, map[edge]int32{}, map[rootKey]int32{}
	p.segment, p.work = nil, work{made: slices.Clone(p.work.made)}
}

// leastKept is how many bytes of lists are kept in any case.
const leastKept = 64 << 10

// lists counts the lists of the player that grow with the world or with the recording.
func (p *player) lists() (all tally) {
	w, t, most := &p.work, &p.subjects, &p.peak
	count(&all, t.e, most.subjects)
	count(&all, t.node, most.subjects)
	count(&all, t.first, most.subjects)
	count(&all, t.last, most.subjects)
	count(&all, t.links, most.links)
	count(&all, p.latest, most.index)
	count(&all, p.placed, len(p.placed))
	count(&all, p.segments, len(p.segments))
	count(&all, p.nodes, len(p.nodes))
	count(&all, w.made, len(w.made))
	count(&all, w.gone, len(w.gone))
	count(&all, w.order, most.subjects)
	count(&all, w.values, most.list)
	count(&all, w.records, most.list)
	count(&all, w.linked, len(w.linked))
	count(&all, w.late, len(w.late))
	count(&all, w.list, most.list)
	count(&all, w.heirs, len(w.heirs))
	return all
}

// opOf returns the number of a record's op among the player's.
func (p *player) opOf(remap []int32, r *commandRecord) int32 {
	s := p.segment.stream
	one := s.list[r.op]
	if one.shared && one.valued {
		one.value = s.values[r.number()]
	}
	remap[r.op] = p.numberOf(one, s.codecs[r.op])
	return remap[r.op]
}

// real returns the entity that runs already played have made for placeholder e; otherwise it
// returns e.
func (p *player) real(e ecs.Entity) ecs.Entity {
	if e.IsPlaceholder() {
		if number, _ := door.Number(e); p.work.made[number] != ecs.Null {
			return p.work.made[number]
		}
	}
	return e
}

// last returns the last subject of an entity, or 0.
func (p *player) last(e ecs.Entity) int32 {
	if e.IsPlaceholder() {
		number, _ := door.Number(e)
		return p.placed[number]
	}
	if i := e.Index(); i < len(p.latest) {
		if s := p.latest[i]; s != 0 && p.subjects.e[s] == e {
			return s
		}
	}
	return 0
}

// note makes s the last subject of e.
func (p *player) note(e ecs.Entity, s int32) {
	p.know(e.Index())
	p.latest[e.Index()] = s
}

// know grows latest to include an index, with some room to spare.
func (p *player) know(index int) {
	if index >= len(p.latest) {
		p.latest = append(p.latest, make([]int32, index+1+index/2-len(p.latest))...)
	}
}

// recordOf returns the record at a link, or at a ^position.
func (p *player) recordOf(l int32) *commandRecord {
	at := uint32(^l)
	if l >= 0 {
		at = p.subjects.links[l].at
	}
	// Safe because a record lies there until the buffer is cleared.
	return (*commandRecord)(unsafe.Add(p.base, uintptr(at)*8))
}
