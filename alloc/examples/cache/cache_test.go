package cache_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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
		_ = c.Set(fmt.Sprintf("player:%d", i), []byte("somewhere on the map"), 0)
	}
	value, ok := c.Get("player:999", nil)
	fmt.Printf("%s %v\n", value, ok)
	_, ok = c.Get("player:0", nil)
	entries, bytes := c.Stats()
	fmt.Println(ok, entries > 100, bytes <= 4000)
	fmt.Println(errors.Join(c.Close(), heap.Close(), universe.Close()))
	// Output:
	// somewhere on the map true
	// false true true
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

// lru is the slow twin: a list of keys by use, the latest last.
type lru struct {
	keys   []string
	values map[string]string
	until  map[string]time.Time
	most   int
}

func (l *lru) size() (n int) {
	for k, v := range l.values {
		n += len(k) + len(v)
	}
	return n
}

func (l *lru) drop(key string) bool {
	for i, k := range l.keys {
		if k == key {
			l.keys = append(l.keys[:i:i], l.keys[i+1:]...)
			delete(l.values, key)
			delete(l.until, key)
			return true
		}
	}
	return false
}

func (l *lru) get(key string) (string, bool) {
	v, ok := l.values[key]
	if until, ends := l.until[key]; ok && ends && !time.Now().Before(until) {
		l.drop(key)
		return "", false
	}
	if ok {
		until, ends := l.until[key]
		l.drop(key)
		l.keep(key, v, until, ends)
	}
	return v, ok
}

func (l *lru) keep(key, value string, until time.Time, ends bool) {
	l.keys = append(l.keys, key)
	l.values[key] = value
	if ends {
		l.until[key] = until
	}
}

func (l *lru) set(key, value string, live time.Duration) {
	l.drop(key)
	if len(key)+len(value) > l.most {
		return
	}
	for l.size()+len(key)+len(value) > l.most {
		l.drop(l.keys[0])
	}
	l.keep(key, value, time.Now().Add(live), live > 0)
}

// TestCacheIsItsModel: one shard, whose order of use is that of the model; time is the bubble's.
func TestCacheIsItsModel(t *testing.T) {
	steps := 20_000
	if testing.Short() {
		steps = 3000
	}
	synctest.Test(t, func(t *testing.T) {
		h, end := newHeap(t)
		defer end()
		c, err := cache.New(h, 1, 2000)
		require.NoError(t, err)
		model := &lru{values: map[string]string{}, until: map[string]time.Time{}, most: 2000}
		random := rand.New(rand.NewPCG(3, 4))
		for i := range steps {
			key := fmt.Sprint("key", random.IntN(60))
			switch random.IntN(10) {
			case 0:
				_, there := model.get(key)
				require.Equal(t, there, c.Delete(key))
				model.drop(key)
			case 1, 2, 3:
				value := strings.Repeat(fmt.Sprint(i, " "), random.IntN(40))
				if random.IntN(200) == 0 {
					value = strings.Repeat("x", 2500) // more than there is room for
				}
				live := time.Duration(max(0, random.IntN(20)-10)) * time.Millisecond
				model.set(key, value, live)
				require.NoError(t, c.Set(key, []byte(value), live))
			case 4:
				time.Sleep(time.Duration(random.IntN(3)) * time.Millisecond)
			default:
				want, there := model.get(key)
				got, ok := c.Get(key, []byte("into "))
				require.Equal(t, there, ok)
				require.Equal(t, "into "+want, string(got))
			}
			entries, bytes := c.Stats()
			require.Equal(t, len(model.keys), entries)
			require.Equal(t, model.size(), bytes)
		}
		require.NoError(t, c.Close())
	})
}

// TestCacheFromManyGoroutines: what is found is what was set, in all shards at once.
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
					if err := c.Set(key, []byte(value), 0); err != nil {
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
	require.NoError(t, c.Close())
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
		require.NoError(t, err)
		var failed error
		for i := range 100 {
			key := fmt.Sprint("key", i)
			err := c.Set(key, make([]byte, 3000), 0)
			got, ok := c.Get(key, nil)
			require.Equal(t, err == nil, ok)
			require.Equal(t, err == nil, len(got) == 3000)
			if err != nil && failed == nil {
				failed = err
			}
		}
		require.NoError(t, c.Close())
		require.Zero(t, h.Stats().LiveBlocks)
		require.NoError(t, errors.Join(h.Close(), u.Close()))
		return failed
	}))
}

// TestCacheForLong: a time to live that no clock can tell the end of does not end.
func TestCacheForLong(t *testing.T) {
	h, end := newHeap(t)
	defer end()
	c, err := cache.New(h, 1, 1000)
	require.NoError(t, err)
	require.NoError(t, c.Set("key", []byte("value"), math.MaxInt64))
	value, ok := c.Get("key", nil)
	require.True(t, ok)
	require.Equal(t, "value", string(value))
	require.NoError(t, c.Close())
}
