package main

import (
	"errors"
	"fmt"
	"time"
)

// The lifetime that is checked, and how much later than after it an entry must be gone: a clean-up
// comes each second, and lifetimes are whole seconds to some caches.
const (
	shortLife = 2 * time.Second
	lateMost  = 6 * time.Second
	smallest  = 4 << 20 // the bound of the cache that is tested, in bytes
)

// expiry tests with a small cache of a contender whether an entry goes when its time is over and
// another stays. Between begin and end there may be other work.
type expiry struct {
	c     *contender
	s     store
	e     *entries
	begun time.Time
}

const mortal, immortal = 8, 9 // numbers of the entries

// begin sets the entries.
func beginExpiry(c *contender, e *entries) (*expiry, error) {
	s, err := c.open(bound{smallest, e.mean(), shortLife})
	if err != nil {
		return nil, err
	}
	x := &expiry{c: c, s: s, e: e, begun: time.Now()}
	for n, ttl := range map[uint32]time.Duration{mortal: shortLife, immortal: 0} {
		if key := string(e.key(n, nil)); !s.set(key, e.value(n, nil), ttl) {
			return nil, errors.Join(fmt.Errorf("%s did not take the value of %s", c.name, key), s.close())
		}
	}
	// ristretto takes what is set a little later.
	for !x.has(mortal) && time.Since(x.begun) < shortLife/4 && !c.null {
		time.Sleep(time.Millisecond)
	}
	if !c.null && !x.has(mortal) && time.Since(x.begun) < shortLife/2 {
		return nil, errors.Join(fmt.Errorf("%s lost an entry before its time", c.name), s.close())
	}
	return x, nil
}

func (x *expiry) has(n uint32) bool {
	value, ok := x.s.get(string(x.e.key(n, nil)), nil)
	return ok && x.e.check(n, value) == nil
}

// end waits until the entry's time is over, returns what is wrong, and closes the cache.
func (x *expiry) end() error {
	time.Sleep(time.Until(x.begun.Add(shortLife)))
	for x.has(mortal) && time.Since(x.begun) < shortLife+lateMost {
		time.Sleep(10 * time.Millisecond)
	}
	var err error
	if x.has(mortal) {
		err = fmt.Errorf("an entry of %v is there after %v", shortLife, time.Since(x.begun).Round(time.Second))
	} else if !x.c.null && !x.c.onlyTTL && !x.has(immortal) {
		err = errors.New("an entry without a lifetime went with one that has one")
	}
	return errors.Join(err, x.s.close())
}
