package main

import (
	"math/bits"
	"runtime/debug"
	"slices"
	"time"
)

// store is a cache as the workload sees it. Any goroutine may call get and set. Keys and values are
// the caller's, in buffers that it uses again, as those that come out of a connection are: a store
// that keeps them must copy them. Calls go through this interface, which costs every cache the same
// 1 to 2 ns.
type store interface {
	// get returns the value of a key: the cache's own, or a copy, which may be in into. The caller
	// does not write it.
	get(key string, into []byte) (value []byte, ok bool)
	// set puts a value; a ttl of 0 means that it does not expire. False: the cache did not take it.
	set(key string, value []byte, ttl time.Duration) bool
	// bytes is the size of the keys and values that are held as the cache itself counts them, -1 if
	// it does not.
	bytes() int
	close() error
}

// bound is what a cache may hold.
type bound struct {
	bytes int           // of keys and values
	mean  float64       // bytes of a key and value: what a cache that counts more than those gets on top
	ttl   time.Duration // of a cache that has one lifetime for all of its entries
}

// entries is how many entries the bound has room for.
func (b bound) entries() int { return int(float64(b.bytes) / b.mean) }

// plus is the bound of a cache that counts so many bytes more for each entry.
func (b bound) plus(overhead float64) int { return int(float64(b.bytes) * (1 + overhead/b.mean)) }

// shards is a power of two of at most most shards, of 256 KiB at least.
func (b bound) shards(most int) int {
	return min(most, 1<<(bits.Len(uint(b.bytes>>18)|1)-1))
}

// contender is one of the caches that are compared.
type contender struct {
	name, module string
	counts       string // how it counts against its bound, and which entries it evicts
	open         func(bound) (store, error)
	ours         bool
	onlyTTL      bool // all entries have the lifetime that the cache was opened with
	late         bool // it takes sets some time after they have returned
	null         bool // it holds nothing: its row is the cost of the harness
}

// contenders run in this order within a round.
var contenders = []contender{
	{name: "quarry", ours: true, open: newQuarry(false),
		counts: "keys, values and 21 bytes an entry in rings that are allocated at once, to which it was given on top; the index is not counted; the oldest go that nobody asked for; 256 shards; the collector as Go sets it"},
	{name: "quarry + GCFor", ours: true, open: newQuarry(true),
		counts: "the same; the collector set by alloc.GCFor, which leaves 64 MiB to Go"},
	{name: "freecache", module: "github.com/coocood/freecache", open: newFreecache(20),
		counts: "keys, values and 24 bytes an entry in a ring that is allocated at once, to which it was given on top; the index is not counted; nearly LRU; SetGCPercent(20) as its README has it"},
	{name: "freecache GOGC=100", module: "github.com/coocood/freecache", open: newFreecache(100),
		counts: "the same with the collector as Go sets it"},
	{name: "bigcache", module: "github.com/allegro/bigcache/v3", open: newBigcache, onlyTTL: true,
		counts: "keys, values and 20 bytes an entry in a queue for each shard, to which it was given on top; the index is not counted; the oldest goes; one lifetime for all"},
	{name: "otter", module: "github.com/maypok86/otter/v2", open: newOtter,
		counts: "keys and values, as the weight; W-TinyLFU"},
	{name: "ristretto", module: "github.com/dgraph-io/ristretto/v2", open: newRistretto, late: true,
		counts: "keys and values, as the cost (IgnoreInternalCost); it keeps hashes of keys instead of keys; sampled LFU, and a set may be dropped"},
	{name: "map + list", open: newLists,
		counts: "keys and values; LRU; a mutex for each of 256 shards"},
	{name: "null", open: newNull, null: true,
		counts: "nothing: it makes each value anew; its row is the cost of the harness"},
}

func contenderNamed(name string) *contender {
	i := slices.IndexFunc(contenders, func(c contender) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &contenders[i]
}

// withPercent sets the collector as GOGC does, and returns what sets it back.
func withPercent(percent int) (back func()) {
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}
