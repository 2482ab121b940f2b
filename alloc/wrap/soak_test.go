package wrap_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// soaker is a chain of wrappers that several goroutines work on.
type soaker struct {
	a       alloc.Allocator
	passing chan live // blocks on their way from one goroutine to another
	until   time.Time
}

// TestSoak has goroutines work on wrappers in several orders around one heap: they pass
// blocks to each other, and each has an arena, a stack and a pool of its own on them.
// QUARRY_SOAK is the duration.
func TestSoak(t *testing.T) {
	d, err := time.ParseDuration(os.Getenv("QUARRY_SOAK"))
	if err != nil {
		d = 300 * time.Millisecond
	}
	t.Logf("%v; QUARRY_SOAK=60s for longer", d)
	h := newHeap(t)
	var closers []func() error
	var soakers []*soaker
	for seed := range uint64(3) {
		var a alloc.Allocator = h
		for _, i := range rand.New(rand.NewPCG(seed, 5)).Perm(len(wrappers)) {
			var done func() error
			a, done = wrappers[i].around(a)
			closers = append(closers, done)
		}
		soakers = append(soakers, &soaker{a: a, passing: make(chan live, 50), until: time.Now().Add(d)})
	}
	errs := make([]error, 6)
	var all sync.WaitGroup
	for g := range errs {
		all.Go(func() { errs[g] = soakers[g%len(soakers)].work(uint64(g)) })
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	for _, s := range soakers {
		for len(s.passing) > 0 {
			b := <-s.passing
			require.NoError(t, b.check())
			s.a.FreeSized(b.p, b.size, b.align)
		}
	}
	for i := len(closers) - 1; i >= 0; i-- {
		require.NoError(t, closers[i]())
	}
	require.Zero(t, h.Stats().LiveBlocks)
}

// check reports whether a block has the bytes that were written to it.
func (b *live) check() error {
	for i, v := range bytesOf(b.p, b.size) {
		if v != b.fill {
			return fmt.Errorf("byte %d of a block of %d: got %d want %d", i, b.size, v, b.fill)
		}
	}
	return nil
}

// work is one goroutine's.
func (s *soaker) work(seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 6))
	for round := 0; time.Now().Before(s.until); round++ {
		var err error
		switch round % 4 {
		case 0:
			err = s.pass(r)
		case 1:
			err = s.arena(r)
		case 2:
			err = s.stack(r)
		default:
			err = s.pool(r)
		}
		if err != nil && !errors.Is(err, alloc.ErrInjected) && !errors.Is(err, alloc.ErrFull) {
			return err
		}
	}
	return nil
}

// make allocates and fills a block.
func (s *soaker) make(a alloc.Allocator, r *rand.Rand) (live, error) {
	b := live{size: r.IntN(4000), align: 16, fill: byte(r.Uint32())}
	var err error
	if b.p, err = a.Alloc(b.size, b.align); err == nil {
		write(bytesOf(b.p, b.size), b.fill)
	}
	return b, err
}

// pass sends blocks to others and frees those of others.
func (s *soaker) pass(r *rand.Rand) error {
	for range 20 {
		b, err := s.make(s.a, r)
		if err != nil {
			return err
		}
		select {
		case s.passing <- b:
		default:
			if err := b.check(); err != nil {
				return err
			}
			s.a.FreeSized(b.p, b.size, b.align)
		}
		select {
		case b := <-s.passing:
			if err := b.check(); err != nil {
				return err
			}
			if s.a.ResizeSized(b.p, b.size, b.align, b.size+8) {
				b.size += 8
			}
			s.a.FreeSized(b.p, b.size, b.align)
		default:
		}
	}
	return nil
}

func (s *soaker) arena(r *rand.Rand) error {
	a := alloc.NewArena(s.a)
	defer a.Close()
	for range 3 {
		var blocks []live
		for range 20 {
			b, err := s.make(a, r)
			if err != nil {
				return err
			}
			blocks = append(blocks, b)
		}
		for i := range blocks {
			if err := blocks[i].check(); err != nil {
				return err
			}
		}
		a.Reset(r.IntN(100_000))
	}
	return a.Verify()
}

func (s *soaker) stack(r *rand.Rand) (err error) {
	stack, err := alloc.NewStack(s.a, 100_000)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stack.Close()) }()
	var blocks []live
	for range 20 {
		b, err2 := s.make(stack, r)
		if err2 != nil {
			err = err2
			break
		}
		blocks = append(blocks, b)
	}
	for i := len(blocks) - 1; i >= 0; i-- {
		err = errors.Join(err, blocks[i].check())
		stack.FreeSized(blocks[i].p, blocks[i].size, blocks[i].align)
	}
	return err
}

func (s *soaker) pool(r *rand.Rand) (err error) {
	p, err := alloc.NewPool[[32]uint64](s.a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Verify(), p.Close()) }()
	for range 100 {
		v, err := p.New()
		if err != nil {
			break
		}
		v[31] = uint64(p.Ref(v).Slot)
		if r.IntN(3) == 0 {
			p.Free(v)
		}
	}
	for ref, v := range p.All() {
		if v[31] != uint64(ref.Slot) {
			err = fmt.Errorf("slot %d has %d", ref.Slot, v[31])
		}
		p.Free(v)
	}
	return err
}
