package fuzz

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"

	"quarry/alloc"
	"quarry/ecs"
)

// The world driver: it applies each operation of a stream to a world and to the model, and compares
// them.

// WorldConfig is the setting of a stream.
type WorldConfig struct {
	Universe *alloc.Universe // the world's chunks come from here
	Tight    bool            // the driver takes chunks away, so that calls meet limits
	Beside   func(step int)  // called after each step; it may use the universe; nil: nothing
}

// WorldResult is the result of a stream.
type WorldResult struct {
	Steps   int    // operations applied
	Hash    uint64 // of the world at the end
	Refused int    // calls that met a limit
	Peak    int    // most entities alive
	Along   int    // chunks with a value that went along with their rows
	Merged  int    // times that the values of several chunks became one

	Restored int // times that the world went back to a snapshot
	Lost     int // snapshots that were lost
	Forked   int // worlds made of snapshots
	Opened   int // of which so many were written to a file and opened
	Applied  int // deltas that made a world equal to a newer snapshot
}

const (
	verifyBelow = 2000 // entities; below that, World.Verify runs after every step
	verifyEvery = 64   // steps between the others, and between full comparisons
	maxQueries  = 12   // most queries of a world: they stay until it closes
	mostGroups  = 500  // more archetypes, most without rows, are too slow to check
)

// world is one run.
type world struct {
	w      *ecs.World
	u      *alloc.Universe
	m      *model
	list   []kind // by kind number
	active kinds  // the kinds that this run uses
	sets   [8]kinds
	most   int  // entities alive; above it, creating destroys
	ebb    bool // the number falls from most entities to a tenth; else it grows
	tight  bool
	growth alloc.Growth // of the chunks of an archetype
	small  bool         // archetypes begin with small chunks

	all            *query // without terms: every entity
	changes        []change
	burial         *ecs.Change            // removes all cleanup types
	second         *world                 // the world to which entities go, and from which they come back
	apart          bool                   // other types are registered between the kinds
	copied         bool                   // snapshots and files have managed values
	sparseLink     ecs.Sparse[sparseLink] // see sparseLinks
	chunkModels    *chunkModels           // nil: the run has no chunk type
	watches        [maxKinds]*query       // of one kind each, to check its versions
	queries        []*query
	sinces         []uint32           // change versions of the past
	hog            []alloc.ChunkIndex // chunks that the driver keeps from the world
	snapshotModels []*snapshotModel   // the snapshots that are alive, the newest at the end
	taken          int                // snapshots so far
	twin           *world             // a fork of one of them, or nil
	unsorted       bool               // the order of the groups with rows is read from the world
	arranged       bool               // a delta may have changed the order of archetypes
	inLoop         int                // loops of the driver under way
	result         WorldResult
}

// worldOps are the operations; their order is part of the meaning of a stream.
var worldOps = []struct {
	name string
	do   func(*world, record) error
}{
	{"Create", (*world).create},
	{"Squeeze", (*world).squeeze},
	{"CreateN", (*world).createN},
	{"Destroy", (*world).destroy},
	{"DestroyRows", (*world).destroyRows},
	{"Add", (*world).add},
	{"Remove", (*world).remove},
	{"Set", (*world).set},
	{"Look", (*world).look},
	{"Toggle", (*world).toggle},
	{"ToggleRows", (*world).toggleRows},
	{"Append", (*world).append},
	{"AppendOwn", (*world).appendOwn},
	{"SwapRemove", (*world).swapRemove},
	{"Clear", (*world).clear},
	{"Query", (*world).runQuery},
	{"NewQuery", (*world).newQuery},
	{"Archetype", (*world).archetype},
	{"Advance", (*world).advance},
	{"Misuse", (*world).misuse},
	{"Trim", (*world).trim},
	{"Apply", (*world).applyOne},
	{"ApplyQuery", (*world).applyQuery},
	{"ApplyList", (*world).applyList},
	{"DestroyQuery", (*world).destroyQuery},
	{"DestroyList", (*world).destroyList},
	{"ToggleQuery", (*world).toggleQuery},
	{"ToggleList", (*world).toggleList},
	{"Wipe", (*world).wipe},
	{"Reserve", (*world).reserve},
	{"NewTerms", (*world).newTerms},
	{"CloseQuery", (*world).closeQuery},
	{"Collect", (*world).collect},
	{"Lend", (*world).lend},
	{"Name", (*world).setName},
	{"LookupMany", (*world).lookupMany},
	{"EditBuffer", (*world).editBuffer},
	{"ApplyRows", (*world).applyRows},
	{"Shrink", (*world).shrink},
	{"RowsOf", (*world).rowsOf},
	{"Instantiate", (*world).instantiate},
	{"Migrate", (*world).migrate},
	{"SparseLink", (*world).linkOne},
	{"SparseLinkMany", (*world).linkMany},
	{"Swap", (*world).swap},
	{"Clone", (*world).clone},
	{"ChunkMarks", (*world).markChunk},
	{"Gather", (*world).gather},
	{"Snapshot", (*world).snapshot},
	{"Restore", (*world).restore},
	{"CloseSnapshot", (*world).closeSnapshot},
	{"Fork", (*world).fork},
	{"Delta", (*world).applyDelta},
}

// chunkGrowths are the policies for the chunks of an archetype; the first is the
// default.
var chunkGrowths = [8]alloc.Growth{
	alloc.Doubling().Capped(64), {}, alloc.Fixed(1), alloc.Fixed(3),
	alloc.Fixed(70), alloc.Doubling(), alloc.Geometric(1.5), alloc.Doubling().Capped(2),
}

// beginSmall has true for the policies that begin with a small chunk: those that multiply.
var beginSmall = [8]bool{0: true, 5: true, 6: true, 7: true}

// Half of the streams, by their seed, run without the operations from opSnapshot on: while
// snapshots are alive, a world uses memory that the model cannot predict, and less is checked.
const (
	opCreate   = 0
	opSqueeze  = 1
	opSnapshot = 48
)

// RunWorld applies a stream to a new world and returns the first difference from the model. At the
// end it closes the world; everything that the world took from the universe must have gone back
// (when Beside uses the universe, the caller has to check that).
func RunWorld(data []byte, config WorldConfig) (WorldResult, error) {
	var d *world
	s := newStream(data)
	before := config.Universe.Stats().LiveChunks
	err := guarded(func() (err error) {
		d, err = newWorld(s, config)
		return err
	})
	if err != nil {
		return WorldResult{}, fmt.Errorf("fuzz: RunWorld: new world: %w", err)
	}
	ops, always := len(worldOps), []int{opCreate}
	if mix(uint64(s.seed))&1 == 0 {
		ops = opSnapshot
	}
	if config.Tight {
		always = append(always, opSqueeze)
	}
	table := s.table(ops, always...)
	for r, ok := s.next(); ok; r, ok = s.next() {
		op := &worldOps[choose(table, r)]
		err := guarded(func() error {
			if err := op.do(d, r); err != nil {
				return err
			}
			return d.check()
		})
		if err != nil {
			return d.result, fmt.Errorf("fuzz: RunWorld: step %d, %s %+v: %w", d.result.Steps, op.name, r, err)
		}
		d.result.Steps++
		if config.Beside != nil {
			config.Beside(d.result.Steps)
		}
	}
	err = guarded(d.end)
	if live := config.Universe.Stats().LiveChunks; err == nil && config.Beside == nil && live != before {
		err = fmt.Errorf("a closed world leaves %d chunks", live-before)
	}
	if err != nil {
		err = fmt.Errorf("fuzz: RunWorld: after %d steps: %w", d.result.Steps, err)
	}
	return d.result, err
}

// newWorld sets up a run. It fills the first chunks, so that it shows if a world forgets to clear
// something, and shows again when the stream is run again.
func newWorld(s *stream, config WorldConfig) (*world, error) {
	if err := soil(config.Universe, 2*alloc.ChunksPerMegachunk); err != nil {
		return nil, err
	}
	options, growth := []ecs.Option{ecs.WithUniverse(config.Universe)}, chunkGrowths[s.flags>>5]
	if s.flags>>5 != 0 {
		options = append(options, ecs.ChunkGrowth(growth))
	}
	w, err := ecs.NewWorld(options...)
	if err != nil {
		return nil, err
	}
	d := &world{w: w, u: config.Universe, tight: config.Tight, growth: growth, small: beginSmall[s.flags>>5]}
	d.apart, d.copied = s.flags&1 != 0, s.flags&16 != 0
	d.list = register(w, d.apart, d.copied)
	d.m = newModel(d.list)
	d.active = kinds(s.kinds)
	if d.active == 0 {
		d.active = 1<<firstShared - 1
	}
	d.active |= laterKinds(s.size >> 3)
	if s.flags&8 != 0 {
		d.active |= 1 << chunkMarksKind
		d.chunkModels = newChunkModels(w, d.list[chunkMarksKind])
	}
	d.sets[1] = d.active
	for i := 2; i < len(d.sets); i++ {
		d.sets[i] = d.active & kinds(mix(uint64(s.seed)+uint64(i)<<32))
		if i%3 != 0 {
			d.sets[i] &^= hiding
		}
	}
	d.most = []int{40, 250, 250, 1000, 1000, 1900, 1900, 7000}[s.size%8]
	if config.Tight {
		d.most = min(d.most, 400)
	}
	d.all = &query{q: ecs.NewQuery(w, ecs.IncludeDisabled(), ecs.IncludePrefabs()), inDisabled: true, inPrefabs: true}
	if s.flags&2 != 0 { // room for the first records, and for one chunk of rows or none
		return d, d.squeeze(record{kind: 1, n: recordChunks + uint32(s.flags>>2&1)})
	}
	return d, nil
}

// soil fills n free chunks and gives them back.
func soil(u *alloc.Universe, n int) error {
	var taken []alloc.ChunkIndex
	dirt := bytes.Repeat([]byte{0xA5}, alloc.ChunkSize)
	for range n {
		c, err := u.AllocExact(1)
		if errors.Is(err, alloc.ErrFull) {
			break
		}
		if err != nil {
			return err
		}
		taken = append(taken, c)
		copy(u.Bytes(c, 1), dirt)
	}
	for _, c := range taken {
		u.Free(c, 1)
	}
	return nil
}

// check compares all counters, and more from time to time.
func (d *world) check() error {
	if err := d.tend(); err != nil {
		return err
	}
	d.lose()
	m := d.m
	want := ecs.Stats{
		Alive: len(m.entities), Created: m.created, Destroyed: m.destroyed,
		Archetypes: m.archetypes(d.w.Stats().Archetypes), Buffers: m.spilled, Reserved: len(m.reserved),
	}
	least, most, mostReserve, mostSmall := 0, 0, 0, 0
	for _, g := range m.groups {
		if g.a.Len() != len(g.rows) {
			return fmt.Errorf("%v: Len: got %d want %d", g.a, g.a.Len(), len(g.rows))
		}
		rows := g.a.Plan().Rows
		chunks := (len(g.rows) + rows - 1) / rows
		if small := d.smallRows(g); small > 0 && len(g.rows) <= small {
			mostSmall++
		} else {
			least += chunks
		}
		if chunks > 0 {
			// The last chunk may be nearly empty, and 64 units have rows for 63.
			most += chunks + chunks/(alloc.ChunksPerMegachunk-1) + alloc.ChunksPerMegachunk
		}
		mostReserve += d.mostReserve(chunks)
	}
	if len(d.snapshotModels) > 0 { // which may have small chunks, and blocks
		mostSmall = math.MaxInt
	}
	got := d.w.Stats()
	// Not predicted, but bounded.
	want.Reserve, want.Chunks, want.Small, want.Shared = got.Reserve, got.Chunks, got.Small, got.Shared
	want.Spilled = got.Spilled // a block has 16 bytes at least, and here 1 MiB at most
	if got != want || got.Spilled < 16*m.spilled || len(d.snapshotModels) == 0 && got.Spilled > m.spilled<<20 ||
		got.Reserve > mostReserve || got.Chunks < least || got.Chunks > most ||
		got.Small > mostSmall || got.Shared > got.Small || got.Small > got.Shared*smallChunks {
		return fmt.Errorf(
			"in Stats: got %+v want %+v, %d to %d units with rows, at most %d in reserve and %d small chunks",
			got, want, least, most, mostReserve, mostSmall)
	}
	if d.w.Version() != m.version {
		return fmt.Errorf("in Version: got %d want %d", d.w.Version(), m.version)
	}
	if err := d.compareSet(); err != nil {
		return err
	}
	d.result.Peak = max(d.result.Peak, len(m.entities))
	d.ebb = len(m.entities) >= d.most || d.ebb && len(m.entities) > d.most/10
	turn := d.result.Steps%verifyEvery == 0
	if len(m.entities) < verifyBelow || turn {
		if err := errors.Join(d.w.Verify(), d.u.Verify()); err != nil {
			return err
		}
	}
	if len(m.groups) > mostGroups {
		if err := d.shrink(record{}); err != nil {
			return err
		}
	}
	if turn {
		return d.compareAll()
	}
	return nil
}

// smallChunks is the number of small chunks of a unit.
const smallChunks = 8

// smallRows is the number of rows of a group in a small chunk, or 0 if it gets none.
func (d *world) smallRows(g *group) int {
	if !d.small {
		return 0
	}
	return g.a.Plan().Rows / smallChunks
}

// mostReserve is the largest reserve of an archetype whose rows fill the given number of units; its
// last chunk may have up to a megachunk more.
func (d *world) mostReserve(units int) int {
	if units == 0 {
		return d.growth.Next(0, 1)
	}
	most := 0
	for more := range alloc.ChunksPerMegachunk {
		most = max(most, 2*(d.growth.Next(units+more, units+more+1)-units-more))
	}
	return most
}

// compareAll compares every entity, by look-ups and by a query for all, and checks that the
// remembered dead entities are dead.
func (d *world) compareAll() error {
	for e, x := range d.m.entities {
		if err := d.compare(e, x); err != nil {
			return err
		}
	}
	for _, e := range d.m.dead {
		if err := d.compare(e, nil); err != nil {
			return err
		}
	}
	return errors.Join(d.walk(d.all, visit{}), d.compareNames())
}

// compare compares one entity; x is nil when it is dead.
func (d *world) compare(e ecs.Entity, x *entity) error {
	if got := d.w.Alive(e); got != (x != nil) {
		return fmt.Errorf("Alive(%v): got %v want %v", e, got, x != nil)
	}
	for k, c := range d.list {
		var want any
		on := false
		if x != nil {
			want = x.values[k]
			on = want != nil && !x.off.has(k)
		}
		if got := c.has(e); got != (want != nil) {
			return fmt.Errorf("%v: Has(%v): got %v want %v", c.Type(), e, got, want != nil)
		}
		if err := c.same(e, want); err != nil {
			return err
		}
		if t := c.toggles(); t != nil && t.Enabled(e) != on {
			return fmt.Errorf("%v: Enabled(%v): got %v want %v", c.Type(), e, !on, on)
		}
	}
	return errors.Join(d.compareEntry(e, x), d.compareName(e, x))
}

// end compares everything once more and closes the world.
func (d *world) end() error {
	if err := errors.Join(d.compareAll(), d.w.Verify()); err != nil {
		return err
	}
	d.result.Hash = d.w.Hash()
	for _, c := range d.hog {
		d.u.Free(c, 1)
	}
	if d.second != nil {
		if err := d.second.end(); err != nil {
			return fmt.Errorf("second world: %w", err)
		}
	}
	if d.m.created&1 == 0 { // a fork may outlive its world
		if err := d.closeTwin(); err != nil {
			return err
		}
	}
	if err := d.w.Close(); err != nil {
		return err
	}
	return errors.Join(d.u.Verify(), d.closed(), d.closeTwin())
}

// closed checks a closed world: it is empty, and reports that it is closed.
func (d *world) closed() error {
	c := d.list[0]
	for _, f := range []func(){
		func() { d.w.Destroy(ecs.Null) },
		func() { c.has(ecs.Null) },
		func() { ecs.NewArchetype(d.w) },
		func() { ecs.NewQuery(d.w) },
		func() { ecs.Register[int8](d.w) },
		func() {
			for range d.all.q.Rows() {
				panic("a closed world gives rows")
			}
		},
	} {
		if err := panics("ecs: ", f); err != nil {
			return fmt.Errorf("a closed world: %w", err)
		}
	}
	for e := range d.m.entities {
		if d.w.Alive(e) {
			return fmt.Errorf("Alive(%v) in a closed world: got true", e)
		}
	}
	for _, t := range d.snapshotModels {
		t.s.Close() // by the world already
		if err := panics("ecs: ", func() { _ = d.w.Restore(t.s) }); err != nil {
			return fmt.Errorf("a closed world: %w", err)
		}
	}
	return errors.Join(d.w.Close(), d.w.Verify())
}

// elsewhere is an entity of a world that stays open, for calls to refuse. A new world gets the tag
// with the fewest worlds, so with up to 15 other worlds none shares this world's tag.
var elsewhere = sync.OnceValues(func() (ecs.Entity, error) {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	if err != nil {
		return ecs.Null, err
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	if err != nil {
		return ecs.Null, err
	}
	var e ecs.Entity
	err = ecs.Try(func() { e = ecs.NewArchetype(w).Create() })
	return e, err
})
