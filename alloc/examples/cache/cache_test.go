package cache_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/examples/cache"
)

func Example() {
	universe, err := alloc.NewUniverse(alloc.Size(64 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	heap, _ := alloc.NewHeap(universe)
	c, err := cache.New(heap, 4, 4000)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 1000 {
		_ = c.Set(fmt.Sprintf("player:%d", i), []byte("somewhere on the map"), time.Time{})
	}
	_ = c.Set("session:7", []byte("token"), time.Now().Add(-time.Second))
	for _, key := range []string{"player:999", "player:0", "session:7"} {
		value, ok := c.Get(key, nil)
		fmt.Printf("%s: %q %v\n", key, value, ok)
	}
	c.Close()
	fmt.Println(errors.Join(heap.Close(), universe.Close()))
	// Output:
	// player:999: "somewhere on the map" true
	// player:0: "" false
	// session:7: "" false
	// <nil>
}

func newHeap(t *testing.T, options ...alloc.Option) (*alloc.Heap, func()) {
	u, err := alloc.NewUniverse(append(options, alloc.Size(64<<20))...)
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	return h, func() {
		require.Zero(t, h.Stats().LiveBlocks, "all memory is given back")
		require.NoError(t, errors.Join(h.Verify(), h.Close(), u.Close()))
	}
}

// laps is the slow twin: lists of the entries of two laps, the oldest first.
type laps struct {
	this, before []*record
	live         map[string]*record
	room         int // bytes of the ring
	end          int // bytes of the lap before
}

type record struct {
	key, value string
	until      time.Time
	used       bool
}

func (r *record) size() int { return cache.Header + len(r.key) + len(r.value) }

func size(list []*record) (n int) {
	for _, r := range list {
		n += r.size()
	}
	return n
}

func (l *laps) get(key string) (string, bool) {
	r := l.live[key]
	if r == nil || !r.until.IsZero() && !time.Now().Before(r.until) {
		return "", false
	}
	r.used = true
	return r.value, true
}

func (l *laps) set(r *record) {
	delete(l.live, r.key)
	if r.size() > l.room {
		return
	}
	for moved := 0; ; {
		free := l.room - size(l.this)
		if len(l.before) > 0 {
			free = l.end - size(l.before) - size(l.this)
		}
		if free >= r.size() {
			break
		}
		if len(l.before) == 0 {
			l.this, l.before, l.end = nil, l.this, size(l.this)
			continue
		}
		old := l.before[0]
		l.before = l.before[1:]
		if l.live[old.key] != old {
			continue
		}
		if old.used && moved < 16 {
			old.used = false
			l.this = append(l.this, old)
			moved++
		} else {
			delete(l.live, old.key)
		}
	}
	l.this = append(l.this, r)
	l.live[r.key] = r
}

// TestCacheIsItsModel: one shard, which keeps what the model keeps; time is the bubble's.
func TestCacheIsItsModel(t *testing.T) {
	steps := 10_000
	if testing.Short() {
		steps = 2000
	}
	for _, room := range []int{0, 100, 2000, 6000} {
		synctest.Test(t, func(t *testing.T) {
			h, end := newHeap(t)
			defer end()
			c, err := cache.New(h, 1, room)
			require.NoError(t, err)
			model := &laps{live: map[string]*record{}, room: room}
			same := func(key string) {
				want, there := model.get(key)
				got, ok := c.Get(key, []byte("into "))
				require.Equal(t, there, ok)
				require.Equal(t, "into "+want, string(got))
			}
			random := rand.New(rand.NewPCG(3, uint64(room)))
			for i := range steps {
				key := fmt.Sprint("key", random.IntN(60))
				switch random.IntN(10) {
				case 0:
					require.Equal(t, model.live[key] != nil, c.Delete(key))
					delete(model.live, key)
				case 1, 2, 3:
					r := &record{key: key, value: strings.Repeat(fmt.Sprint(i, " "), random.IntN(40))}
					switch random.IntN(200) {
					case 0:
						r.value = strings.Repeat("x", room) // more than there is room for
					case 1:
						r.value = strings.Repeat("x", max(0, room-cache.Header-len(key))) // all of it
					}
					if live := random.IntN(20) - 10; live > 0 {
						r.until = time.Now().Add(time.Duration(live) * time.Millisecond)
					}
					model.set(r)
					require.NoError(t, c.Set(key, []byte(r.value), r.until))
				case 4:
					time.Sleep(time.Duration(random.IntN(3)) * time.Millisecond)
				case 5:
					if random.IntN(20) == 0 { // all are in use: a Set may move 16
						for i := range 60 {
							same(fmt.Sprint("key", i))
						}
					}
				default:
					same(key)
				}
			}
			for i := range 60 {
				same(fmt.Sprint("key", i))
			}
			c.Close()
		})
	}
}

// TestCacheWhereAllIsInUse: a Set moves 16 entries, then one goes although it is in use.
func TestCacheWhereAllIsInUse(t *testing.T) {
	h, end := newHeap(t)
	defer end()
	key := func(i int) string { return fmt.Sprintf("%02d", i) }
	c, err := cache.New(h, 1, 40*(cache.Header+2))
	require.NoError(t, err)
	for i := range 40 {
		require.NoError(t, c.Set(key(i), nil, time.Time{}))
	}
	for i := range 40 {
		_, ok := c.Get(key(i), nil)
		require.True(t, ok, i)
	}
	require.NoError(t, c.Set("new", nil, time.Time{})) // a byte more than the others: two go
	for i := range 40 {
		_, ok := c.Get(key(i), nil)
		require.Equal(t, i != 16 && i != 17, ok, i)
	}
	c.Close()
}

// TestCacheWithEqualHashes: among so many keys some have equal hashes of 32 bits (18 pairs are
// expected). Such a key has its own value or none, and Delete ends no other key's.
func TestCacheWithEqualHashes(t *testing.T) {
	const keys = 400_000
	h, end := newHeap(t)
	defer end()
	c, err := cache.New(h, 1, keys*(cache.Header+20))
	require.NoError(t, err)
	var key, into []byte
	for i := range keys {
		key = strconv.AppendInt(key[:0], int64(i), 10)
		require.NoError(t, c.Set(string(key), key, time.Time{}))
	}
	lost := 0
	for i := range keys {
		key = strconv.AppendInt(key[:0], int64(i), 10)
		value, ok := c.Get(string(key), into[:0])
		if into = value; !ok {
			lost++
		} else if string(value) != string(key) {
			t.Fatalf("%s has %s", key, value)
		}
	}
	require.Greater(t, lost, 0)
	require.Less(t, lost, 100)
	for i := range keys { // some have the hash of one that is there
		key = strconv.AppendInt(key[:0], int64(keys+i), 10)
		if c.Delete(string(key)) {
			t.Fatalf("%s had no entry", key)
		}
	}
	c.Close()
}

// TestCacheFromManyGoroutines: values found are those that were set, in all shards at once.
func TestCacheFromManyGoroutines(t *testing.T) {
	h, end := newHeap(t)
	defer end()
	c, err := cache.New(h, 8, 100_000)
	require.NoError(t, err)
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(5, uint64(g)))
			var into []byte
			for range 20_000 {
				key := fmt.Sprint("key", random.IntN(2000))
				value := strings.Repeat(key, len(key))
				if got, ok := c.Get(key, into[:0]); !ok {
					if err := c.Set(key, []byte(value), time.Time{}); err != nil {
						t.Error(err)
					}
				} else if into = got; string(got) != value {
					t.Errorf("%s has %s", key, got)
				}
				if random.IntN(50) == 0 {
					c.Delete(key)
				}
			}
		})
	}
	group.Wait()
	c.Close()
}

// TestCacheWithoutRoom: an error of Set leaves the key without a value and all else as it was.
func TestCacheWithoutRoom(t *testing.T) {
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(2<<20), alloc.InjectFailures(f))
		if err != nil {
			return err
		}
		h, err := alloc.NewHeap(u)
		require.NoError(t, err)
		c, err := cache.New(h, 2, 500_000)
		if err != nil {
			require.Zero(t, h.Stats().LiveBlocks)
			return errors.Join(err, h.Close(), u.Close())
		}
		var failed error
		for i := range 100 {
			key := fmt.Sprint("key", i)
			err := c.Set(key, make([]byte, 3000), time.Time{})
			got, ok := c.Get(key, nil)
			require.Equal(t, err == nil, ok)
			require.Equal(t, err == nil, len(got) == 3000)
			if err != nil && failed == nil {
				failed = err
			}
		}
		c.Close()
		require.Zero(t, h.Stats().LiveBlocks)
		require.NoError(t, errors.Join(h.Close(), u.Close()))
		return failed
	}))
}

// TestCacheForLong: a time far in the future is not over.
func TestCacheForLong(t *testing.T) {
	h, end := newHeap(t)
	defer end()
	c, err := cache.New(h, 1, 1000)
	require.NoError(t, err)
	for _, until := range []time.Time{
		{}, time.Now().Add(math.MaxInt64), time.Unix(1<<40, 0), time.Unix(1<<62, 0), time.Unix(-1<<60, 0),
	} {
		require.NoError(t, c.Set("key", []byte("value"), until))
		value, ok := c.Get("key", nil)
		require.True(t, ok)
		require.Equal(t, "value", string(value))
	}
	require.NoError(t, c.Set("key", []byte("value"), time.Now()))
	_, ok := c.Get("key", nil)
	require.False(t, ok)
	c.Close()
}

// TestCacheOfNoShards: there is one at least, and a size below 0 is 0.
func TestCacheOfNoShards(t *testing.T) {
	h, end := newHeap(t)
	defer end()
	for _, shards := range []int{-1, 0, 1, 3} {
		c, err := cache.New(h, shards, -5)
		require.NoError(t, err)
		require.NoError(t, c.Set("", nil, time.Time{}))
		_, ok := c.Get("", nil)
		require.False(t, ok)
		c.Close()
		c, err = cache.New(h, shards, 3*cache.Header)
		require.NoError(t, err)
		require.NoError(t, c.Set("", nil, time.Time{}))
		value, ok := c.Get("", nil)
		require.True(t, ok)
		require.Empty(t, value)
		require.True(t, c.Delete(""))
		require.False(t, c.Delete(""))
		c.Close()
	}
}
