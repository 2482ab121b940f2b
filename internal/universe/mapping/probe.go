package mapping

import (
	"os"

	"quarry/mmap"
)

// Probes: what the tests of package alloc look at and break. Programs contain none of it.

// FailingRegion refuses the k-th call of Reserve, Commit, MapFile, Decommit, Guard, Unguard or
// Release of all mappings of a heap, counted from 1.
type FailingRegion struct {
	*mmap.Region
	script *Script
}

// Script counts the calls.
type Script struct {
	Calls, FailAt int
	Err           error
	Hints         []mmap.Hint
}

func (s *Script) fails() error {
	s.Calls++
	if s.Calls == s.FailAt {
		return s.Err
	}
	return nil
}

// Commit is of the region, unless it is refused.
func (f *FailingRegion) Commit(offset, n int) error {
	if err := f.script.fails(); err != nil {
		return err
	}
	return f.Region.Commit(offset, n)
}

// MapFile is of the region, unless it is refused.
func (f *FailingRegion) MapFile(offset, n int, file *os.File, at int64) error {
	if err := f.script.fails(); err != nil {
		return err
	}
	return f.Region.MapFile(offset, n, file, at)
}

// Decommit is of the region, unless it is refused.
func (f *FailingRegion) Decommit(offset, n int) error {
	if err := f.script.fails(); err != nil {
		return err
	}
	return f.Region.Decommit(offset, n)
}

// Guard is of the region, unless it is refused.
func (f *FailingRegion) Guard(offset, n int) error {
	if err := f.script.fails(); err != nil {
		return err
	}
	return f.Region.Guard(offset, n)
}

// Unguard is of the region, unless it is refused.
func (f *FailingRegion) Unguard(offset, n int) error {
	if err := f.script.fails(); err != nil {
		return err
	}
	return f.Region.Unguard(offset, n)
}

// Hint is counted, and never refused.
func (f *FailingRegion) Hint(h mmap.Hint, on bool) error {
	f.script.Hints = append(f.script.Hints, h)
	return f.Region.Hint(h, on)
}

// Release is of the region, unless it is refused.
func (f *FailingRegion) Release() error {
	if err := f.script.fails(); err != nil {
		return err
	}
	return f.Region.Release()
}

// Reserve returns a region whose calls follow the script.
func (s *Script) Reserve(size, least int) (Region, error) {
	if err := s.fails(); err != nil {
		return nil, err
	}
	r, err := mmap.ReserveUpTo(size, least)
	if err != nil {
		return nil, err
	}
	return &FailingRegion{Region: r, script: s}, nil
}

// Follow makes the calls of all mappings follow a script.
func (l *Set) Follow(s *Script) {
	l.reserve = func(size int) (Region, error) { return s.Reserve(size, size) }
}

// Committed is what the layer below has committed.
func (l *Set) Committed() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.live {
		n += int64(m.Region.Committed())
	}
	for _, m := range l.kept {
		n += int64(m.Region.Committed())
	}
	return n
}

// Corrupt breaks H6 and returns what puts it right.
func (l *Set) Corrupt() (restore func()) {
	l.bytes += mmap.Granule
	return func() { l.bytes -= mmap.Granule }
}
