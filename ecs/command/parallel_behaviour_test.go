package command

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// Behaviour 64 of the list of what entity systems agree on: recording by many goroutines.

// partOf is the part of a job that a worker runs.
type partOf struct {
	worker  int
	flight  uint64
	ordinal int
}

func (b partOf) Worker() int    { return b.worker }
func (b partOf) Flight() uint64 { return b.flight }
func (b partOf) Ordinal() int   { return b.ordinal }

// recordPart records what one part does: it follows from its flight, its ordinal and the entities
// alone. Batches are about the same entities, so their order shows.
func recordPart(y *yard, w *Writer, flight uint64, ordinal int, there []ecs.Entity) {
	r := rand.New(rand.NewPCG(flight, uint64(ordinal)))
	known := there
	for range r.IntN(30) {
		if r.IntN(6) == 0 {
			w.Key(int64(r.IntN(5) - 2))
			known = there // what is created with a key is not there for commands with lower ones
		}
		o := order{r.IntN(doDestroyQuery), r.IntN(1000), r.IntN(1000), r.IntN(20)}
		if o.what == doDestroy && r.IntN(4) > 0 {
			o.what = doPutPtr
		}
		known = o.record(y, w, known[:len(known):len(known)])
		runtime.Gosched()
	}
}

// numbers are those of placeholders: they do depend on who recorded.
var numbers = regexp.MustCompile("placeholder [0-9]+")

// playParts has parts of two flights recorded by workers, in an order and by whom nobody knows,
// and plays them. It returns the world's hash, what could not apply, and the list of commands.
func playParts(t *testing.T, workers int, seed uint64) (hash uint64, failed, listed string) {
	y := openYard(t)
	there := y.populate(100, true)
	cb := y.open(t)
	var todo []partOf
	for flight := range uint64(2) {
		for ordinal := range 40 {
			todo = append(todo, partOf{flight: flight + 1, ordinal: ordinal})
		}
	}
	r := rand.New(rand.NewPCG(seed, uint64(workers)))
	r.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	recordPart(y, cb.Writer, 0, 0, there)
	parts := make(chan partOf, len(todo))
	for _, b := range todo {
		parts <- b
	}
	close(parts)
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for b := range parts {
				b.worker = worker
				recordPart(y, cb.Parallel(b), b.flight, b.ordinal, there)
				for range seed % 3 {
					runtime.Gosched()
				}
			}
		})
	}
	recordPart(y, cb.Writer, 0, 1, there) // the owner records meanwhile
	all.Wait()
	_, listed, _ = strings.Cut(cb.String(), "\n") // chunks, in the first line, are each worker's
	err := cb.PlayRest()
	require.NoError(t, y.w.Verify())
	return y.w.Hash(), numbers.ReplaceAllString(fmt.Sprint(err), "one"), numbers.ReplaceAllString(listed, "one")
}

// TestBehaviour64WorkersMakeNoDifference: one goroutine or sixteen, each recording parts at any
// time: the same commands in the same order, the same world.
func TestBehaviour64WorkersMakeNoDifference(t *testing.T) {
	hash, failed, listed := playParts(t, 1, 0)
	require.Contains(t, failed, "cannot apply, the others were applied", "failures are in the order of playback too")
	workers := []int{2, 3, 16}
	if !testing.Short() {
		workers = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	}
	for _, k := range workers {
		// Each world is closed before the next one: in debug builds the versions of ids depend on
		// how many worlds with the same tag are open.
		t.Run(fmt.Sprint(k, " workers"), func(t *testing.T) {
			h, f, l := playParts(t, k, uint64(k))
			require.Equal(t, listed, l)
			require.Equal(t, failed, f)
			require.Equal(t, hash, h)
		})
	}
}

// TestBehaviour64Order: key, then flight, then ordinal, then as recorded.
func TestBehaviour64Order(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.full.Create()
	n := int32(0)
	var want []int32
	say := func(w *Writer, key int64, place int32) {
		w.Key(key)
		n++
		Append(w, e, y.hits, hit{N: place})
	}
	late, early := cb.Parallel(partOf{0, 2, 5}), cb.Parallel(partOf{1, 1, 9})
	say(late, 0, 8)
	say(early, 0, 7)
	say(early, 7, 13)
	say(late, -3, 1)
	say(cb.Writer, 0, 4)
	say(cb.Writer, 7, 12)
	say(cb.Writer, 0, 5)
	say(cb.Writer, -1<<63, 0)
	before := cb.Parallel(partOf{1, 2, 4})
	say(before, -3, 2)                            // no: ordinal 4 is before 5
	say(cb.Parallel(partOf{2, 1, 8}), 0, 6)       // and 8 before 9
	say(cb.Parallel(partOf{0, 2, 1 << 40}), 0, 9) // a flight's last
	say(cb.Writer, 1<<63-1, 14)
	say(cb.Writer, 0, 5)
	require.NoError(t, cb.Play())
	var got []int32
	for _, h := range y.hits.Slice(e) {
		got = append(got, h.N)
	}
	want = []int32{0, 2, 1, 4, 5, 5, 6, 7, 8, 9, 12, 13, 14}
	require.Equal(t, want, got)
	require.Len(t, got, int(n))
}

// TestBehaviour64CreatedLater: a command about what another with a higher key creates cannot apply.
func TestBehaviour64CreatedLater(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	there := y.full.Create()
	cb.Key(5)
	e := cb.Create(y.plain)
	cb.Key(4)
	Set(cb, e, y.pos, position{1, 1})
	Set(cb, there, y.ptr, pointer{e, 1})
	cb.Destroy(e)
	hash := y.w.Hash()
	var refused *PlayError
	require.ErrorAs(t, cb.Play(), &refused)
	require.Equal(t, 3, refused.Count)
	require.Contains(t, refused.Failures[0].Why, "comes later in the order of playback")
	require.Contains(t, refused.Failures[1].Why, "creation comes later in the order of playback")
	require.Equal(t, []int64{4, 4, 4}, []int64{
		refused.Failures[0].Key, refused.Failures[1].Key, refused.Failures[2].Key,
	})
	require.Equal(t, hash, y.w.Hash())
	require.ErrorAs(t, cb.PlayRest(), &refused)
	require.True(t, y.w.Alive(cb.Made(e)))
	require.Equal(t, pointer{}, *y.ptr.Get(there))
}

// TestBehaviour64ManyWriters: a thousand workers and flights, each with few commands.
func TestBehaviour64ManyWriters(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.full.Create()
	for i := range 1000 {
		Append(cb.Parallel(partOf{i % 50, uint64(1000 - i), 0}), e, y.hits, hit{N: int32(1000 - i)})
	}
	require.Equal(t, 1000, cb.Len())
	require.NoError(t, cb.Play())
	for i, h := range y.hits.Slice(e) {
		require.Equal(t, int32(i+1), h.N)
	}
}

// TestBehaviour64WriterOfAFormerFlight: a writer is void once its part is another, of whatever
// flight and ordinal.
func TestBehaviour64WriterOfAFormerFlight(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.full.Create()
	part := &partOf{0, 1, 3}
	w := cb.Parallel(part)
	for _, next := range []partOf{{0, 2, 3}, {0, 1, 4}} {
		*part = next
		require.Contains(t, panicOf(func() { w.Destroy(e) }), "the writer's part has ended")
	}
	require.Zero(t, cb.Len())
}
