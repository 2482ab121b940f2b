package alloc

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"quarry/internal/universe"
)

// Failures refuses requests for memory on purpose, to test how a program handles errors. It serves
// universes made with InjectFailures, wrap.Fail, and any caller of Next. Any goroutine may use it.
// The zero value refuses nothing and counts requests.
type Failures struct {
	first, last int64 // range of requests refused, counted from 1; 0: none
	asked       atomic.Int64
	refused     atomic.Int64
}

// FailAt returns a Failures that refuses the n-th request from now, and no other. It panics when n
// is less than 1.
func FailAt(n int) *Failures { return failures("FailAt", n, n) }

// FailFrom returns a Failures that refuses the n-th request from now and all later ones. It panics
// when n is less than 1.
func FailFrom(n int) *Failures { return failures("FailFrom", n, int(^uint(0)>>1)) }

func failures(name string, first, last int) *Failures {
	if first < 1 {
		panic(fmt.Sprintf("alloc: %s: n=%d is less than 1", name, first))
	}
	return &Failures{first: int64(first), last: int64(last)}
}

// Next counts a request. It returns nil, or the error with which the request is refused.
func (f *Failures) Next() error {
	n := f.asked.Add(1)
	if f.first == 0 || n < f.first || n > f.last {
		return nil
	}
	f.refused.Add(1)
	return fmt.Errorf("%w: request %d: %w", ErrCommit, n, ErrInjected)
}

// Asked returns the number of requests so far.
func (f *Failures) Asked() int { return int(f.asked.Load()) }

// Refused returns the number of requests refused so far.
func (f *Failures) Refused() int { return int(f.refused.Load()) }

// refusal returns the function that a universe calls before each request; nil: nothing.
func (f *Failures) refusal() func() error {
	if f == nil {
		return nil
	}
	return f.Next
}

// InjectFailures makes a universe call f.Next at every request for chunks, and its heaps, and
// Pages, at every request for a mapping. Such a universe keeps no homes for shards, so each request
// is slower.
func InjectFailures(f *Failures) Option {
	return func(c *universe.Config) { c.Refusal = f.refusal() }
}

// CheckEveryFailure runs f repeatedly, each time with other requests for memory refused: the first
// alone, the first and all after it, the second alone, and so on until f makes no further request.
// f must create what it tests with the given Failures (InjectFailures, wrap.NewFail), free
// everything, and return the first error it got. f may also recover from a refusal and return nil.
// CheckEveryFailure returns an error that names the refused request when
//
//   - f panics, or returns an error that does not wrap ErrInjected,
//   - f returns an error that wraps ErrLeak: f must join the errors of Close for this check,
//   - f fails with nothing refused, or requests no memory.
//
// f must make the same requests each time.
func CheckEveryFailure(f func(*Failures) error) error {
	if f == nil {
		panic("alloc: CheckEveryFailure: the function is nil")
	}
	counting := &Failures{}
	if err := checkFailure(f, counting); err != nil {
		return fmt.Errorf("alloc: CheckEveryFailure: nothing refused: %w", err)
	}
	if counting.Asked() == 0 {
		return errors.New("alloc: CheckEveryFailure: no memory was asked for")
	}
	for n := 1; ; n++ {
		one, rest := FailAt(n), FailFrom(n)
		for _, s := range []*Failures{one, rest} {
			if err := checkFailure(f, s); err != nil {
				which := "alone"
				if s == rest {
					which = "and all after it"
				}
				return fmt.Errorf("alloc: CheckEveryFailure: request %d of %d, %s, refused: %w",
					n, counting.Asked(), which, err)
			}
		}
		if n >= counting.Asked() && one.Refused() == 0 && rest.Refused() == 0 {
			return nil
		}
	}
}

// checkFailure runs f once.
func checkFailure(f func(*Failures) error, s *Failures) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	err = f(s)
	switch {
	case err == nil, s.Refused() > 0 && errors.Is(err, ErrInjected) && !errors.Is(err, ErrLeak):
		return nil
	case errors.Is(err, ErrLeak):
		return fmt.Errorf("memory was lost: %w", err)
	case s.Refused() == 0:
		return err
	}
	return fmt.Errorf("the error does not wrap alloc.ErrInjected: %w", err)
}
