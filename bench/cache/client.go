package main

import (
	"time"
	"unsafe"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// sampledBy is how many gets there are for one that is timed.
const sampledBy = 64

// kept is the number of requests that are live at a time.
const kept = 64

// request is what a server makes for each request beside its cache: about 2 KiB that nobody needs
// any more 64 requests later.
type request struct {
	fields []string // 24 of 16 B
	body   []byte   // 1 KiB
	reply  []byte   // 512 B
}

// client is a goroutine that reads through a cache: what it does not find it makes and sets.
type client struct {
	e       *entries
	s       store
	garbage bool // requests are made beside

	key, into, made []byte
	requests        [kept]*request
	times           *hdrhistogram.Histogram // of gets, in ns
	hits, refused   int
	wrong           error // the first value that was not right
}

func newClient(e *entries, s store, garbage bool) *client {
	return &client{e: e, s: s, garbage: garbage, into: make([]byte, 0, valueMost), made: make([]byte, 0, valueMost),
		times: hdrhistogram.New(1, int64(time.Minute), 3)}
}

// text returns a buffer as a string.
func text(b []byte) string {
	// Safe because the buffer is written when nobody uses the string any more: a store that keeps a
	// key copies it.
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// serve gets each key once.
func (c *client) serve(draws []uint32) {
	for i, n := range draws {
		c.key = c.e.key(n, c.key[:0])
		key := text(c.key)
		var value []byte
		var ok bool
		if i%sampledBy == 0 {
			start := time.Now()
			value, ok = c.s.get(key, c.into[:0])
			_ = c.times.RecordValue(max(1, time.Since(start).Nanoseconds())) // above a minute: not counted
		} else {
			value, ok = c.s.get(key, c.into[:0])
		}
		if ok {
			c.hits++
			if err := c.e.check(n, value); err != nil && c.wrong == nil {
				c.wrong = err
			}
		} else {
			c.load(n, key)
		}
		if c.garbage {
			c.request(i, n)
		}
	}
}

// load makes a value, as a database would, and sets it.
func (c *client) load(n uint32, key string) {
	c.made = c.e.value(n, c.made[:0])
	if !c.s.set(key, c.made, lifetime(key)) {
		c.refused++
	}
}

// request makes a request, and forgets the one of 64 requests ago.
func (c *client) request(i int, n uint32) {
	r := &request{fields: make([]string, 24), body: make([]byte, 1<<10), reply: make([]byte, 512)}
	r.fields[0] = sessionPrefix
	r.body[0], r.reply[0] = byte(n), byte(i)
	c.requests[i%kept] = r
}
