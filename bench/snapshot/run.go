package snapshot

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"quarry/bench/workload"
)

// Options are the options of Run. The zero value is the full sizes.
type Options struct {
	Large  int // rows of take and all
	Small  int // rows of some, of which a hundredth is written
	Rounds int
}

// Usual and Quick are options for a short run and a very short one.
var (
	Usual = Options{Large: 1_000_000, Small: 100_000, Rounds: 31}
	Quick = Options{Large: 200_000, Small: 100_000, Rounds: 21}
)

// What is wanted of the full sizes.
const (
	wantTake    = 50 * time.Microsecond
	wantSome    = 50 * time.Microsecond
	wantRestore = 100 * time.Microsecond
	wantAll     = 1.0 // times a frame and a copy
)

// bench has both sides, and the samples of each round.
type bench struct {
	o            Options
	large, small *rows
	plainLarge   *copied
	plainSmall   *copied
	spare        []Position // where a plain copy of the large positions goes

	take, close, some, list, someUnsaved, listUnsaved, restore []time.Duration
	frame, all, copy                                           []time.Duration
	plainTake, plainSome, plainRestore, plainAll               []time.Duration
	kept                                                       int
	allocs                                                     uint64 // of Go, in all rounds but the first ones
}

// warm is the number of rounds that are not counted.
const warm = 3

// Run measures both sides. Figures of ours: take_ns, close_ns; some_ns (Snapshot and 1 % written
// by slices), list_ns (the same, one by one by entities), some_unsaved_ns and list_unsaved_ns (the
// writes alone), restore_ns; frame_ns (all written without a snapshot), all_ns (Snapshot, all
// written), copy_ns (a plain copy of what is written), all_ratio (all to frame and copy); kept and
// allocs (a round). Plain has take_ns, some_ns, restore_ns and all_ns. Times are medians. An op is
// a round.
func Run(o Options, progress workload.Progress) (plain, ours workload.Side, err error) {
	if o.Large == 0 {
		o = Options{1_000_000, 100_000, 61}
	}
	b := &bench{o: o}
	before := workload.LiveHeap()
	b.plainLarge, b.plainSmall, b.spare = newCopied(o.Large), newCopied(o.Small), make([]Position, o.Large)
	plain.Heap = workload.LiveHeap() - before
	if b.large, err = newRows(o.Large); err != nil {
		return plain, ours, err
	}
	defer func() { err = errors.Join(err, b.large.world.Close()) }()
	if b.small, err = newRows(o.Small); err != nil {
		return plain, ours, err
	}
	defer func() { err = errors.Join(err, b.small.world.Close()) }()
	b.reserve()
	for round := range warm + o.Rounds {
		if round == warm {
			b.forget()
		}
		if err := b.round(round); err != nil {
			return plain, ours, err
		}
		if progress != nil {
			progress(round+1, warm+o.Rounds)
		}
	}
	ours.Heap = workload.LiveHeap() - before - plain.Heap
	b.report(&plain, &ours)
	return plain, ours, nil
}

func (b *bench) lists() []*[]time.Duration {
	all := [...]*[]time.Duration{&b.take, &b.close, &b.frame, &b.all, &b.copy, &b.plainTake, &b.plainAll}
	return append(b.smallLists(), all[:]...)
}

// smallLists returns the lists that roundSmall fills.
func (b *bench) smallLists() []*[]time.Duration {
	return []*[]time.Duration{&b.some, &b.list, &b.someUnsaved, &b.listUnsaved, &b.restore, &b.plainSome,
		&b.plainRestore}
}

// reserve makes room for all samples, so that rounds allocate nothing themselves.
func (b *bench) reserve() {
	for _, l := range b.lists() {
		*l = make([]time.Duration, 0, warm+b.o.Rounds)
	}
}

// forget drops the samples of the warm rounds.
func (b *bench) forget() {
	for _, l := range b.lists() {
		*l = (*l)[:0]
	}
	b.allocs = 0
}

// round times each way once.
func (b *bench) round(round int) error {
	first, n := b.part(round)
	before := mallocs()
	b.roundLarge()
	for range 2 { // the first time brings the rows to the caches, and is not counted
		for _, l := range b.smallLists() {
			*l = (*l)[:len(b.take)-1]
		}
		if err := b.roundSmall(first, n); err != nil {
			return err
		}
	}
	b.allocs += mallocs() - before
	return nil
}

// part returns the rows that a round of "some" writes.
func (b *bench) part(round int) (first, n int) {
	n = b.o.Small / 100
	return round * 7 % 100 * n, n
}

func (b *bench) roundLarge() {
	start := time.Now()
	s := b.large.snapshot()
	start = lap(&b.take, start)
	s.Close()
	start = lap(&b.close, start)
	b.large.moveAll()
	start = lap(&b.frame, start)
	copy(b.spare, b.plainLarge.p)
	start = lap(&b.copy, start)
	s = b.large.snapshot()
	b.large.moveAll()
	lap(&b.all, start)
	b.kept = s.Kept()
	s.Close()

	start = time.Now()
	b.plainLarge.save()
	start = lap(&b.plainTake, start)
	move(b.plainLarge.p, b.plainLarge.v)
	b.plainLarge.save()
	move(b.plainLarge.p, b.plainLarge.v)
	b.plainAll = append(b.plainAll, time.Since(start)/2)
}

// roundSmall leaves the rows of the round moved twice.
func (b *bench) roundSmall(first, n int) error {
	w := b.small.world
	start := time.Now()
	b.small.moveSome(first, n)
	start = lap(&b.someUnsaved, start)
	b.small.moveList(first, n)
	lap(&b.listUnsaved, start)
	for i, way := range []struct {
		move func(first, n int)
		to   *[]time.Duration
	}{{b.small.moveSome, &b.some}, {b.small.moveList, &b.list}} {
		start = time.Now()
		s := b.small.snapshot()
		way.move(first, n)
		start = lap(way.to, start)
		err := w.Restore(s)
		if i == 0 {
			lap(&b.restore, start)
		}
		if s.Close(); err != nil {
			return err
		}
	}
	p := b.plainSmall
	start = time.Now()
	p.save()
	move(p.p[first:first+n], p.v[first:first+n])
	start = lap(&b.plainSome, start)
	p.back()
	lap(&b.plainRestore, start)
	move(p.p[first:first+n], p.v[first:first+n])
	move(p.p[first:first+n], p.v[first:first+n])
	return nil
}

// lap notes the time since start, and returns now.
func lap(to *[]time.Duration, start time.Time) time.Time {
	now := time.Now()
	*to = append(*to, now.Sub(start))
	return now
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func middle(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// ratio returns the median of the rounds' ratios of all to a frame and a copy.
func (b *bench) ratio() float64 {
	var list []float64
	for i := range b.all {
		list = append(list, float64(b.all[i])/float64(b.frame[i]+b.copy[i]))
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// checkAll compares all places.
func (b *bench) checkAll(plain, ours *workload.Side) {
	rounds := warm + b.o.Rounds
	large := func(int) int { return 2 * rounds } // a frame without a snapshot and one after one
	small := func(i int) (moves int) {
		for round := range rounds {
			if first, n := b.part(round); i >= first && i < first+n {
				moves += 4 // by both ways, twice
			}
		}
		return moves
	}
	for _, c := range []struct {
		side  *workload.Side
		n     int
		place func(i int) Position
		moves func(i int) int
	}{
		{plain, b.o.Large, func(i int) Position { return b.plainLarge.p[i] }, large},
		{plain, b.o.Small, func(i int) Position { return b.plainSmall.p[i] }, small},
		{ours, b.o.Large, b.large.place, large},
		{ours, b.o.Small, b.small.place, small},
	} {
		if err := check(c.n, c.place, c.moves); err != nil {
			c.side.Fail(fmt.Sprintf("of %d rows: %v", c.n, err))
		}
	}
}
