package fuzz

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"quarry/alloc"
)

// The universe driver. The model is a bool per chunk, the number with which every chunk in use was
// filled, and which granules hold memory.

// granuleChunks is the number of chunks that are committed at once: 2 MiB.
const granuleChunks = 2 * alloc.ChunksPerMegachunk

// universe is one run.
type universe struct {
	u      *alloc.Universe
	retain int              // granules that a purge leaves
	delay  time.Duration    // how long memory must have been empty
	inUse  []bool           // by chunk
	number []uint64         // by chunk: what it is filled with
	gone   []bool           // by chunk: it is free, and its memory was given back
	idle   []bool           // by chunk: it was free at Maintain's last look; nil: there was none
	looked time.Time        // when that was
	ready  []bool           // by granule: it holds memory
	noted  []bool           // by granule: it became empty since the last trim
	since  []time.Time      // by granule: when Maintain, or a Free beside too many, first saw it empty; zero: never
	now    time.Time        // the clock that Maintain is given
	runs   []run            // handed out and not wholly freed
	serial uint64           // of the last chunk filled
	free   int              // chunks
	freed  alloc.ChunkIndex // one of the chunks freed last
}

// run is the result of one call, less what was freed since.
type run struct {
	first alloc.ChunkIndex
	n     int
}

// universeOps are the operations; their order is part of the meaning of a
// stream.
var universeOps = []struct {
	name string
	do   func(*universe, record) error
}{
	{"Alloc", (*universe).alloc},
	{"AllocExact", (*universe).allocExact},
	{"Free", (*universe).freeRun},
	{"FreePart", (*universe).freePart},
	{"FreeMany", (*universe).freeMany},
	{"Trim", (*universe).trim},
	{"Misuse", (*universe).misuse},
	{"Look", (*universe).look},
	{"AllocZeroed", (*universe).allocZeroed},
	{"Extend", (*universe).extend},
	{"Maintain", (*universe).maintain},
}

// RunUniverse applies a stream to a new universe of 2 to 10 MiB and returns the first difference
// from the model. At the end it frees everything and closes the universe.
func RunUniverse(data []byte) (steps int, err error) {
	s := newStream(data)
	size := 1 + int(s.size%5)<<21 // rounded up to granules: 2 to 10 MiB
	retain := int(s.flags % 4)
	delay := time.Duration(s.flags>>2%2) * time.Hour // 0, or longer than any run
	u, err := alloc.NewUniverse(alloc.Size(size), alloc.Retain(retain<<21+1), alloc.PurgeAfter(delay))
	if err != nil {
		return 0, fmt.Errorf("fuzz: RunUniverse: %w", err)
	}
	d := &universe{u: u, retain: retain, delay: delay, now: time.Now().Add(time.Minute)}
	granules := int(s.size%5) + 1
	d.ready, d.noted, d.since = make([]bool, granules), make([]bool, granules), make([]time.Time, granules)
	d.free = granules * granuleChunks
	d.inUse, d.number, d.gone = make([]bool, d.free), make([]uint64, d.free), make([]bool, d.free)
	table := s.table(len(universeOps), 0)
	for r, ok := s.next(); ok; r, ok = s.next() {
		op := &universeOps[choose(table, r)]
		err := guarded(func() error {
			if err := op.do(d, r); err != nil {
				return err
			}
			return d.check(steps%verifyEvery == 0)
		})
		if err != nil {
			return steps, fmt.Errorf("fuzz: RunUniverse: step %d, %s %+v: %w", steps, op.name, r, err)
		}
		steps++
	}
	if err := guarded(d.end); err != nil {
		return steps, fmt.Errorf("fuzz: RunUniverse: after %d steps: %w", steps, err)
	}
	return steps, nil
}

// longest returns the longest run of free chunks inside one megachunk, by counting.
func (d *universe) longest() int {
	best, n := 0, 0
	for c, used := range d.inUse {
		if c%alloc.ChunksPerMegachunk == 0 {
			n = 0
		}
		if n++; used {
			n = 0
		}
		best = max(best, n)
	}
	return best
}

// freeRuns counts the free runs by the class of their length.
func (d *universe) freeRuns() (count [7]int) {
	n := 0
	for c := range d.inUse {
		if !d.inUse[c] {
			n++
		}
		if (d.inUse[c] || c%alloc.ChunksPerMegachunk == alloc.ChunksPerMegachunk-1) && n > 0 {
			class := 0
			for 2<<class <= n {
				class++
			}
			count[class]++
			n = 0
		}
	}
	return count
}

// taken records a run that was handed out and fills it.
func (d *universe) taken(first alloc.ChunkIndex, n int) error {
	if int(first)+n > len(d.inUse) || int(first)/alloc.ChunksPerMegachunk != (int(first)+n-1)/alloc.ChunksPerMegachunk {
		return fmt.Errorf("got [%d, %d+%d), which leaves its megachunk or the universe of %d",
			first, first, n, len(d.inUse))
	}
	if err := d.u.Verify(); err != nil { // before touching memory that may not be there
		return err
	}
	for c := first; c < first+alloc.ChunkIndex(n); c++ {
		if d.inUse[c] {
			return fmt.Errorf("chunk %d was handed out twice", c)
		}
		d.inUse[c], d.gone[c] = true, false
		d.serial++
		d.number[c] = d.serial
		fillChunk(d.u.Bytes(c, 1), d.serial)
	}
	d.free -= n
	d.ready[int(first)/granuleChunks] = true
	d.runs = append(d.runs, run{first, n})
	return nil
}

// fillChunk writes a chunk's number at both ends of every 2 KiB.
func fillChunk(b []byte, number uint64) {
	for i := 0; i < len(b); i += 2048 {
		binary.LittleEndian.PutUint64(b[i:], number)
		binary.LittleEndian.PutUint64(b[i+2040:], ^number)
	}
}

// compareChunk looks for a chunk's number.
func (d *universe) compareChunk(c alloc.ChunkIndex) error {
	b := d.u.Bytes(c, 1)
	for i := 0; i < len(b); i += 2048 {
		got, inverse := binary.LittleEndian.Uint64(b[i:]), binary.LittleEndian.Uint64(b[i+2040:])
		if got != d.number[c] || inverse != ^d.number[c] {
			return fmt.Errorf("chunk %d, byte %d: got %#x and %#x want number %#x and its inverse",
				c, i, got, inverse, d.number[c])
		}
	}
	return nil
}

func (d *universe) alloc(r record) error {
	n := 1 + int(r.who)%alloc.ChunksPerMegachunk
	if r.n&7 != 0 { // mostly short
		n = 1 + n%8
	}
	want := n
	for longest := d.longest(); want > longest; {
		want /= 2
	}
	first, got, err := d.u.Alloc(n)
	if want == 0 {
		return d.full(err)
	}
	if err != nil || got != want {
		return fmt.Errorf("Alloc(%d): got %d chunks, %v, want %d", n, got, err, want)
	}
	return d.taken(first, got)
}

func (d *universe) allocExact(r record) error {
	n := 1 + int(r.who)%alloc.ChunksPerMegachunk
	if r.n&3 != 0 {
		n = 1 + n%20
	}
	first, err := d.u.AllocExact(n)
	if n > d.longest() {
		return d.full(err)
	}
	if err != nil {
		return fmt.Errorf("AllocExact(%d): got %w, want a run of the %d free chunks", n, err, d.free)
	}
	return d.taken(first, n)
}

// full checks the error of a call that found no room.
func (d *universe) full(err error) error {
	if !errors.Is(err, alloc.ErrFull) {
		return fmt.Errorf("got error %v, want alloc.ErrFull", err)
	}
	return nil
}

// release frees a part of a run and records granules that became empty.
func (d *universe) release(i, from, n int) error {
	old := d.runs[i]
	first := old.first + alloc.ChunkIndex(from)
	for c := first; c < first+alloc.ChunkIndex(n); c++ {
		if err := d.compareChunk(c); err != nil {
			return err
		}
		d.inUse[c] = false
	}
	d.u.Free(first, n)
	d.free += n
	d.freed = first
	d.runs = slices.Delete(d.runs, i, i+1)
	if from > 0 {
		d.runs = append(d.runs, run{old.first, from})
	}
	if rest := old.n - from - n; rest > 0 {
		d.runs = append(d.runs, run{first + alloc.ChunkIndex(n), rest})
	}
	g := int(first) / granuleChunks
	if d.isEmpty(g) {
		d.noted[g], d.since[g] = true, time.Time{}
		noted := 0
		for _, is := range d.noted {
			if is {
				noted++
			}
		}
		switch {
		case noted <= 2*d.retain:
		case d.delay == 0:
			d.trimmed(d.retain)
		default: // the real clock, behind the one that Maintain is given
			d.since[g] = time.Now()
		}
	}
	return nil
}

func (d *universe) freeRun(r record) error {
	if len(d.runs) == 0 {
		return nil
	}
	i := int(r.who) % len(d.runs)
	return d.release(i, 0, d.runs[i].n)
}

func (d *universe) freePart(r record) error {
	if len(d.runs) == 0 {
		return nil
	}
	i := int(r.who) % len(d.runs)
	from := int(r.kind) % d.runs[i].n
	return d.release(i, from, 1+int(r.n)%(d.runs[i].n-from))
}

// freeMany frees nearly everything in one granule, or in all.
func (d *universe) freeMany(r record) error {
	if r.bits(8, 2) != 0 {
		return d.freeRun(r)
	}
	for i := len(d.runs) - 1; i >= 0; i-- {
		g := int(d.runs[i].first) / granuleChunks
		if r.bits(0, 2) == 0 || g == int(r.who)%len(d.ready) {
			if err := d.release(i, 0, d.runs[i].n); err != nil {
				return err
			}
		}
	}
	return nil
}

// allocZeroed requests zeroed chunks and checks every byte.
func (d *universe) allocZeroed(r record) error {
	n := 1 + int(r.who)%20
	want := n
	for longest := d.longest(); want > longest; {
		want /= 2
	}
	first, got, err := d.u.AllocZeroed(n)
	if want == 0 {
		return d.full(err)
	}
	if err != nil || got != want {
		return fmt.Errorf("AllocZeroed(%d): got %d chunks, %v, want %d", n, got, err, want)
	}
	for i, b := range d.u.Bytes(first, got) {
		if b != 0 {
			return fmt.Errorf("in AllocZeroed(%d): byte %d of chunk %d is %#x", n, i, first, b)
		}
	}
	return d.taken(first, got)
}

// extend makes a run longer where it lies.
func (d *universe) extend(r record) error {
	if len(d.runs) == 0 {
		return nil
	}
	i := int(r.who) % len(d.runs)
	old := d.runs[i]
	more := 1 + int(r.n)%12
	end := int(old.first) + old.n
	want := end%alloc.ChunksPerMegachunk != 0 && end%alloc.ChunksPerMegachunk+more <= alloc.ChunksPerMegachunk
	for c := end; want && c < end+more; c++ {
		want = !d.inUse[c]
	}
	if got := d.u.Extend(old.first, old.n, more); got != want {
		return fmt.Errorf("Extend(%d, %d, %d): got %v want %v", old.first, old.n, more, got, want)
	}
	if !want {
		return nil
	}
	if err := d.taken(alloc.ChunkIndex(end), more); err != nil {
		return err
	}
	d.runs = d.runs[:len(d.runs)-1]
	d.runs[i].n += more
	return nil
}

// misuse frees chunks that are not in use and requests impossible runs.
func (d *universe) misuse(r record) error {
	c := alloc.ChunkIndex(int(r.who) % len(d.inUse))
	at := int(c) % alloc.ChunksPerMegachunk
	wrong := []func(){
		func() { d.u.Free(c, 0) },
		func() { d.u.Free(c, -1) },
		func() { d.u.Free(c, alloc.ChunksPerMegachunk-at+1) }, // into the next megachunk
		func() { d.u.Free(alloc.ChunkIndex(len(d.inUse)), 1) },
		func() { d.u.Free(1<<20, 1) },
		func() { _, _, _ = d.u.Alloc(0) },
		func() { _, _, _ = d.u.Alloc(65) },
		func() { _, _ = d.u.AllocExact(-3) },
		func() { d.u.Bytes(alloc.ChunkIndex(len(d.inUse)), 1) },
		func() { d.u.Extend(c, 0, 1) },
		func() { d.u.Extend(c, alloc.ChunksPerMegachunk-at+1, 1) },
		func() { _, _, _ = d.u.AllocZeroed(-1) },
	}
	if !d.inUse[c] {
		wrong = append(wrong, func() { d.u.Free(c, 1) }, func() { d.u.Bytes(c, 1) }, func() { d.u.Extend(c, 1, 1) })
	}
	if !d.inUse[d.freed] {
		wrong = append(wrong, func() { d.u.Free(d.freed, 1) })
	}
	for i := range d.runs { // a run with a neighbour that is not in use
		last := d.runs[i].first + alloc.ChunkIndex(d.runs[i].n)
		if int(last)%alloc.ChunksPerMegachunk != 0 && !d.inUse[last] {
			wrong = append(wrong, func() { d.u.Free(d.runs[i].first, d.runs[i].n+1) })
			break
		}
	}
	for i, f := range wrong {
		if err := panics("alloc: Universe.", f); err != nil {
			return fmt.Errorf("chunk %d, misuse %d: %w", c, i, err)
		}
	}
	if len(d.runs) > 0 {
		if err := d.u.Close(); !errors.Is(err, alloc.ErrInUse) {
			return fmt.Errorf("in Close with chunks in use: got %v want alloc.ErrInUse", err)
		}
	}
	return nil
}

// look goes from a chunk to its address and back.
func (d *universe) look(r record) error {
	c := alloc.ChunkIndex(int(r.who) % len(d.inUse))
	p := d.u.Pointer(c)
	if got, ok := d.u.IndexOf(p); got != c || !ok {
		return fmt.Errorf("IndexOf the address of chunk %d: got %d, %v", c, got, ok)
	}
	if got := uintptr(p) - uintptr(d.u.Base()); got != uintptr(c)*alloc.ChunkSize || uintptr(p)%alloc.ChunkSize != 0 {
		return fmt.Errorf("chunk %d: got address %p, base %p", c, p, d.u.Base())
	}
	var word uint64
	if got, ok := d.u.IndexOf(unsafe.Pointer(&word)); ok {
		return fmt.Errorf("IndexOf an address elsewhere: got %d", got)
	}
	return nil
}

// check compares all figures, and on request all chunks.
func (d *universe) check(all bool) error {
	if err := d.u.Verify(); err != nil {
		return err
	}
	live := len(d.inUse) - d.free
	want := alloc.Stats{
		Reserved: len(d.inUse) * alloc.ChunkSize, Live: live * alloc.ChunkSize,
		LiveChunks: live, LongestRun: d.longest(), FreeRuns: d.freeRuns(),
	}
	for g, ready := range d.ready {
		if ready {
			want.Committed += d.memoryOf(g)
		}
	}
	if got := d.u.Stats(); got != want {
		return fmt.Errorf("in Stats: got %+v want %+v", got, want)
	}
	for first, n := range d.u.Runs() {
		for c := range n {
			if !d.inUse[int(first)+c] {
				return fmt.Errorf("in Runs: [%d, %d+%d) has a free chunk", first, first, n)
			}
		}
		live -= n
	}
	if live != 0 {
		return fmt.Errorf("in Runs: %d chunks in use are missing", live)
	}
	for c, used := range d.inUse {
		if got := d.u.InUse(alloc.ChunkIndex(c)); got != used {
			return fmt.Errorf("InUse(%d): got %v want %v", c, got, used)
		}
		if used && all {
			if err := d.compareChunk(alloc.ChunkIndex(c)); err != nil {
				return err
			}
		}
	}
	return nil
}

// end frees everything and closes the universe.
func (d *universe) end() error {
	if err := d.check(true); err != nil {
		return err
	}
	for len(d.runs) > 0 {
		if err := d.release(0, 0, d.runs[0].n); err != nil {
			return err
		}
	}
	if err := d.check(true); err != nil {
		return err
	}
	return errors.Join(d.u.Close(), d.u.Close())
}
