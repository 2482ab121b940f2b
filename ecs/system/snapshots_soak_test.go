package system_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// TestSnapshotsSoak has goroutines ask for snapshots, hold and read them at random times, while
// frames of systems and jobs write all rows and change the structure, and while the owner goes
// back, forks what they read and lets snapshots be lost. QUARRY_SOAK is the duration.
func TestSnapshotsSoak(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(32 << 20))
	require.NoError(t, err)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	b := openBank(t, w)
	until := time.Now().Add(soak(t))
	readers := make([]*soakReader, 4)
	var all sync.WaitGroup
	for i := range readers {
		r := &soakReader{
			bank: b, snapshots: b.systems.Snapshots(), r: rand.New(rand.NewPCG(uint64(i), 7)), stop: b.stop,
		}
		readers[i] = r
		all.Go(func() { r.err = r.run() })
	}
	enough := func() bool { // each kind of read happened; a short run ends later rather than prove nothing
		return time.Now().After(until) && b.reads.Load() > 20 && b.diffs.Load() > 0 && b.forks > 0 &&
			b.lost.Load() > 0 && b.restores > 0
	}
	deadline := until.Add(time.Minute)
	for !enough() && !b.failed.Load() && time.Now().Before(deadline) {
		b.step()
		runtime.Gosched() // where there is one thread, nothing else lets the readers run
	}
	close(b.stop)
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	require.NoError(t, b.systems.Close()) // those who wait are refused, and what is being read stays
	b.serveUntil(ended)
	for _, r := range readers {
		require.NoError(t, r.err)
	}
	t.Logf("%d frames, %d reads, %d differences, %d snapshots lost, %d forks, %d restores",
		b.frame, b.reads.Load(), b.diffs.Load(), b.lost.Load(), b.forks, b.restores)
	require.True(t, enough(), "the soak did not do all that it is for")
	for _, s := range b.held {
		s.Close()
	}
	require.NoError(t, w.Verify())
	require.NoError(t, w.Close())
	require.NoError(t, u.Verify())
	require.Zero(t, u.Stats().LiveChunks)
	require.NoError(t, u.Close())
}

// soakReader is a goroutine that reads.
type soakReader struct {
	*bank
	snapshots *system.Snapshots
	r         *rand.Rand
	held      []*system.Published // older ones first
	stop      chan struct{}
	err       error
}

// run reads until the systems are closed, and then what it holds once more.
func (r *soakReader) run() (err error) {
	defer func() {
		if err != nil {
			r.failed.Store(true)
		}
		for _, s := range r.held {
			s.Release()
		}
	}()
	for {
		ctx, cancel := context.Background(), context.CancelFunc(func() {})
		if r.r.IntN(8) == 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(r.r.IntN(2000))*time.Microsecond)
		}
		s, err := r.snapshots.Take(ctx)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			continue
		case errors.Is(err, system.ErrClosed):
			for _, s := range r.held {
				if err := r.read(s); err != nil {
					return err
				}
			}
			return nil
		case err != nil:
			return err
		}
		r.held = append(r.held, s)
		for len(r.held) > 0 && (len(r.held) > 3 || r.r.IntN(2) == 0) {
			i := r.r.IntN(len(r.held))
			if err := r.read(r.held[i]); err != nil {
				return err
			}
			if r.r.IntN(3) == 0 {
				time.Sleep(time.Duration(r.r.IntN(3000)) * time.Microsecond)
			}
			r.held[i].Release()
			r.held = append(r.held[:i], r.held[i+1:]...)
		}
	}
}

// read reads a snapshot in some of the ways. What lost snapshots and a lack of memory refuse is no
// error.
func (r *soakReader) read(s *system.Published) (err error) {
	defer func() {
		if p := recover(); p != nil {
			refused, ok := p.(error)
			if !ok || !r.mayRefuse(refused, s) {
				panic(p)
			}
			r.lost.Add(1)
			err = nil
		}
	}()
	var seen sums
	if err := seen.read(r.bank, s.Snapshot); err != nil {
		return err
	}
	r.reads.Add(1)
	switch r.r.IntN(5) {
	case 0:
		if err := s.Verify(); err != nil {
			return err
		}
	case 1:
		hash := s.Hash()
		time.Sleep(time.Duration(r.r.IntN(2000)) * time.Microsecond)
		if again := s.Hash(); again != hash {
			return fmt.Errorf("the hash of a snapshot was %x, and is %x", hash, again)
		}
	case 2:
		return r.fork(forkRequest{of: s.Snapshot, want: s.Hash()})
	case 3:
		return r.compare(s)
	case 4:
		return r.lookUp(s.Snapshot, seen)
	}
	return nil
}

// mayRefuse reports whether reads of a snapshot, and of others that are held, may end with an
// error.
func (r *soakReader) mayRefuse(err error, s *system.Published) bool {
	return allowed(err, s.Snapshot) ||
		slices.ContainsFunc(r.held, func(s *system.Published) bool { return allowed(err, s.Snapshot) })
}

// lookUp compares what look-ups by entity find with the rows.
func (r *soakReader) lookUp(s *ecs.Snapshot, seen sums) error {
	coins, trails, marks := r.coin.Lookup(s), r.trail.Lookup(s), r.debt.Lookup(s)
	marked := 0
	for rows := range s.Rows(r.coins) {
		for i, e := range rows.Entities() {
			if !s.Alive(e) || *coins.Get(e) != r.coin.Slice(rows)[i] {
				return fmt.Errorf("a look-up of %v differs from its row", e)
			}
			if trail, ok := trails.Get(e); ok {
				for k, x := range trail.Slice() {
					if x != trail.Slice()[0]+int64(k) {
						return fmt.Errorf("a look-up finds a torn buffer: %v", trail.Slice())
					}
				}
			}
			if m := marks.Get(e); m != nil {
				if m.Plus != -m.Minus {
					return fmt.Errorf("torn: %v", *m)
				}
				marked++
			}
		}
	}
	if marked != seen.Marked {
		return fmt.Errorf("%d sparse values, want %d", marked, seen.Marked)
	}
	if e, ok := s.Named("totals"); !ok || e != r.totals {
		return fmt.Errorf("the entity of the totals is %v %v, want %v", e, ok, r.totals)
	}
	return nil
}

// compare makes the delta from an older snapshot that is held to this one or a newer one, and has
// the owner apply it to a fork.
func (r *soakReader) compare(s *system.Published) error {
	other := r.held[r.r.IntN(len(r.held))]
	older, newer := s.Snapshot, other.Snapshot
	if older.Version() > newer.Version() {
		older, newer = newer, older
	}
	d, err := ecs.Diff(older, newer)
	if err != nil {
		if r.mayRefuse(err, s) {
			r.lost.Add(1)
			return nil
		}
		return err
	}
	if d.IsEmpty() != (older == newer) {
		return fmt.Errorf("the delta of versions %d to %d is empty: %v", older.Version(), newer.Version(), d.IsEmpty())
	}
	changed := 0
	for rows := range newer.RowsSince(r.changed, older.Version()) {
		changed += rows.Len()
	}
	if n := newer.Count(r.coins); older != newer && changed != n || older == newer && changed != 0 {
		return fmt.Errorf("%d of %d rows changed from version %d to %d, each frame writes all",
			changed, n, older.Version(), newer.Version())
	}
	var text bytes.Buffer
	if err := ecs.EncodeDelta(&text, d); err != nil {
		return err
	}
	r.diffs.Add(1)
	return r.fork(forkRequest{of: older, delta: text.Bytes(), want: newer.Hash()})
}

// forkRequest asks the owner for a fork, to which it applies a delta, if there is one.
type forkRequest struct {
	of    *ecs.Snapshot
	delta []byte
	want  uint64 // hash
	done  chan error
}

// fork has the owner make a fork of a snapshot that is held.
func (r *soakReader) fork(q forkRequest) error {
	q.done = make(chan error, 1)
	select {
	case r.asked <- q:
		return <-q.done
	case <-r.stop:
		return nil
	}
}

// serve makes the forks that readers have asked for.
func (b *bank) serve() {
	for {
		select {
		case q := <-b.asked:
			q.done <- b.serveOne(q)
		default:
			return
		}
	}
}

// serveUntil serves until all readers have ended.
func (b *bank) serveUntil(ended <-chan struct{}) {
	for {
		select {
		case q := <-b.asked:
			q.done <- b.serveOne(q)
		case <-ended:
			return
		}
	}
}

func (b *bank) serveOne(q forkRequest) error {
	f, err := q.of.Fork(ecs.WithUniverse(b.w.Universe()))
	if err != nil {
		if allowed(err, q.of) {
			return nil
		}
		return err
	}
	b.forks++
	if q.delta != nil {
		err = f.ApplyDelta(bytes.NewReader(q.delta))
	}
	var full *ecs.LimitError
	if errors.As(err, &full) {
		return f.Close()
	}
	if got := f.Hash(); err == nil && got != q.want {
		err = fmt.Errorf("the hash of a fork is %x, want %x; of a delta of %d bytes", got, q.want, len(q.delta))
	}
	return errors.Join(err, f.Verify(), f.Close())
}

// allowed reports whether an error is of a lost snapshot or of a lack of memory.
func allowed(err error, s *ecs.Snapshot) bool {
	var full *ecs.LimitError
	return errors.As(err, &full) && errors.Is(err, alloc.ErrFull) ||
		s.Err() != nil && strings.HasSuffix(err.Error(), s.Err().Error())
}

// counts are what readers and the owner have done.
type counts struct {
	reads, diffs, lost atomic.Int64
	failed             atomic.Bool
	forks, restores    int // of the owner
}
