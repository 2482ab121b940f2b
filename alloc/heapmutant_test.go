//go:build alloc_mutants

package alloc_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestStressCatchesHeapMutants plants each seeded defect of the heap's protocol
// and requires that the stress of 6 goroutines, or Verify after it, shows it; the
// sound heap passes as many rounds.
func TestStressCatchesHeapMutants(t *testing.T) {
	for seed := range uint64(40) {
		require.NoError(t, stressOnce(seed))
	}
	defer alloc.Plant(0)
	for n := alloc.Mutants + 2; n <= alloc.HeapMutants; n++ {
		alloc.Plant(n)
		var err error
		seed := uint64(0)
		for began := time.Now(); err == nil && time.Since(began) < time.Minute; seed++ {
			err = stressOnce(seed)
		}
		require.Error(t, err, "defect %d", n)
		t.Logf("defect %d, after %d rounds: %v", n, seed, err)
	}
}

// stressOnce runs one short round on a heap of its own.
func stressOnce(seed uint64) error {
	u, err := alloc.NewUniverse(alloc.Size(16 << 20))
	if err != nil {
		return err
	}
	h, err := alloc.NewHeap(u)
	if err != nil {
		return err
	}
	s := &stress{h: h, until: time.Now().Add(20 * time.Millisecond), passing: make(chan sized, 200)}
	if seed%2 == 0 { // slabs come, go and change hands all the time
		s.most, s.locals, s.passing = 1+int(seed/2%8), 5, make(chan sized, 4)
	}
	errs := make([]error, 6)
	var all sync.WaitGroup
	for g := range errs {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[g] = fmt.Errorf("panic: %v", p)
				}
			}()
			errs[g] = s.work(seed<<8 | uint64(g))
		})
	}
	all.Wait()
	if s.bad.Load() > 0 {
		errs = append(errs, fmt.Errorf("%d cookies were overwritten", s.bad.Load()))
	}
	if err := errors.Join(append(errs, h.Verify(), u.Verify())...); err != nil {
		return err
	}
	for len(s.passing) > 0 {
		h.Free((<-s.passing).p)
	}
	return errors.Join(h.Close(), u.Close())
}
