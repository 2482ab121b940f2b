package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/internal/disk/simdisk"

	"github.com/stretchr/testify/require"
)

// A simulation is a program that journals, on a simulated disk, in a bubble of testing/synctest. No
// step that changes the disk is done before the simulation allows it: it waits until all goroutines
// wait, and dice choose which of the steps that are wanted comes next, whether it fails, and
// whether the program is killed instead. So one seed gives one history, whatever the machine does.
type simulation struct {
	t       *testing.T
	dice    *rand.Rand
	disk    *simdisk.Disk
	past    []string // what was done
	after   func()   // each step
	folder  string
	backups int
	killIn  int // steps; negative: never
	killed  bool
	hangs   bool   // a call does not return
	full    bool   // steps that need room fail
	bad     bool   // one step in eight fails
	refuse  string // steps of this name fail

	mu     sync.Mutex
	wanted []*wantedStep
	writes int // to temporary files

	p      *simdisk.Process
	u      *alloc.Universe
	w      *ecs.World
	value  ecs.Component[int64]
	text   ecs.Managed[string]
	values *ecs.Query
	j      *Journal

	hashes map[uint64]uint64 // by the numbers of commits
	sure   uint64            // the last commit that was acknowledged
}

// wantedStep is a step of the disk that waits.
type wantedStep struct {
	name, path string
	answer     chan error
}

func newSimulation(t *testing.T, seed uint64) *simulation {
	return &simulation{t: t, dice: rand.New(rand.NewPCG(seed, 50)), disk: simdisk.New(), folder: "a/b/c", killIn: -1,
		hashes: map[uint64]uint64{}}
}

// bubble runs a simulation in a bubble, which no goroutine may outlive.
func bubble(t *testing.T, seed uint64, f func(s *simulation)) {
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, seed)
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if s.hangs {
				panic(p)
			}
			t.Errorf("seed %d: %v; %s", seed, p, s.tell())
			if s.mu.Lock(); !s.killed {
				s.kill()
			}
			s.mu.Unlock()
			if s.j != nil {
				s.call("Close", func() { _ = s.j.Close() })
				s.end()
			}
		}()
		f(s)
	})
}

// before is of simdisk.Process. Steps that change nothing do not wait.
func (s *simulation) before(name, path string) error {
	switch name {
	case "Lstat", "Open", "OpenLog", "List", "Read", "Size", "Chmod", "Lock", "Held", "At":
		return nil
	}
	w := &wantedStep{name, path, make(chan error)}
	s.mu.Lock()
	if strings.Contains(path, ".quarry-") {
		w.path = "temporary" // its name is random
		if s.writes++; name == "Write" && s.writes%8 > 0 && !s.full {
			s.mu.Unlock()
			return nil // a base is some dozens of writes
		}
	}
	s.wanted = append(s.wanted, w)
	s.mu.Unlock()
	return <-w.answer
}

func (s *simulation) note(format string, values ...any) {
	s.past = append(s.past, fmt.Sprintf(format, values...))
}

// step lets one of the steps that are wanted be done, or fail. It returns false if there is none.
func (s *simulation) step() bool {
	synctest.Wait()
	s.mu.Lock()
	if len(s.wanted) == 0 {
		s.mu.Unlock()
		return false
	}
	slices.SortFunc(s.wanted, func(a, b *wantedStep) int { return strings.Compare(a.name+a.path, b.name+b.path) })
	if s.killIn == 0 && !s.killed {
		s.kill()
		s.mu.Unlock()
		return true
	}
	s.killIn--
	i := s.dice.IntN(len(s.wanted))
	w := s.wanted[i]
	s.wanted = slices.Delete(s.wanted, i, i+1)
	s.mu.Unlock()
	var err error
	switch {
	case s.full && (w.name == "Create" || w.name == "Write" || w.name == "MakeFolder"):
		err = syscall.ENOSPC
	case w.name == s.refuse || s.bad && s.dice.IntN(8) == 0:
		err = syscall.EIO
	}
	s.note("  %s %s: %v", w.name, w.path, err)
	w.answer <- err
	synctest.Wait()
	if s.after != nil {
		s.after()
	}
	return true
}

// kill kills the program: what it was writing may be half there. The caller holds mu.
func (s *simulation) kill() {
	s.note("killed")
	s.killed = true
	s.p.Kill()
	for _, w := range s.wanted {
		w.answer <- simdisk.ErrKilled
	}
	s.wanted = nil
}

// call calls a method, which must return when the disk has done all that it wanted and timers have
// run.
func (s *simulation) call(name string, f func()) {
	s.note("%s", name)
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	for idle := 0; idle < 100; {
		synctest.Wait()
		select {
		case <-done:
			return
		default:
		}
		if !s.step() {
			idle++
			time.Sleep(10 * time.Millisecond)
		}
	}
	s.hangs = true
	panic(name + " does not return; " + s.tell())
}

// tell returns the last of what was done.
func (s *simulation) tell() string {
	return "what was done:\n" + strings.Join(s.past[max(0, len(s.past)-150):], "\n")
}

func (s *simulation) require(ok bool, format string, values ...any) {
	if !ok {
		panic(fmt.Sprintf(format, values...)) // which bubble reports, after it has ended the program
	}
}

func (s *simulation) register(w *ecs.World) {
	s.w, s.value = w, ecs.Register[int64](w)
	s.text = ecs.RegisterManaged[string](w, ecs.CopyWith(func(t *string) string { return *t }), ecs.Codec(
		func(b []byte, t *string) ([]byte, error) { return append(b, *t...), nil },
		func(b []byte, t *string) error { *t = string(b); return nil }))
	s.values = ecs.NewQuery(w, ecs.Write(s.value))
	ecs.NewArchetype(w, s.value) // the order of archetypes is always this one
	ecs.NewArchetype(w, s.value, s.text)
}

// open begins a program, and checks what it finds. It returns false if the program was killed.
func (s *simulation) open(options ...Option) bool {
	var err error
	s.u, err = alloc.NewUniverse(alloc.Size(8 << 20))
	require.NoError(s.t, err)
	s.p, s.killed, s.j, s.writes = s.disk.Process(), false, nil, 0
	s.p.Before = s.before
	options = append(options, Base(image.Into(s.u)))
	s.call("Open", func() { s.j, err = open(s.p, s.folder, s.register, settingsOf("Open", s.register, options)) })
	if err != nil {
		s.require(s.killed || s.full || s.bad, "Open: %v", err)
		require.NoError(s.t, s.u.Close())
		return false
	}
	o := s.j.Opened()
	s.note("opened %+v", o)
	s.require(o.Commit >= s.sure, "the state is that of commit %d, and %d was acknowledged", o.Commit, s.sure)
	if o.Commit == 0 {
		s.hashes[0] = s.w.Hash()
	}
	hash, known := s.hashes[o.Commit]
	s.require(known && s.w.Hash() == hash, "the state is not that of commit %d", o.Commit)
	require.NoError(s.t, s.w.Verify())
	s.see()
	return true
}

// see notes what is acknowledged.
func (s *simulation) see() { s.sure = max(s.sure, s.j.Acknowledged()) }

// end ends the program after the journal was closed, or it was killed.
func (s *simulation) end() {
	s.see()
	require.NoError(s.t, s.w.Close())
	require.NoError(s.t, s.u.Close())
	s.j = nil
}

// close closes the journal, which must have returned an error if the last state is not on the disk.
func (s *simulation) close() error {
	last := s.j.Status().Committed
	var err error
	s.call("Close", func() { err = s.j.Close() })
	s.note("Close: %v", err)
	if err == nil {
		s.require(s.j.Acknowledged() == last, "Close returned nil, and commit %d of %d is on the disk",
			s.j.Acknowledged(), last)
	}
	s.end()
	return err
}

// commit commits.
func (s *simulation) commit() error {
	s.hashes[s.j.Status().Committed+1] = s.w.Hash()
	var err error
	s.call("Commit", func() { err = s.j.Commit() })
	s.note("Commit: %v", err)
	return err
}

// rebase commits by Rebase.
func (s *simulation) rebase() error {
	s.hashes[s.j.Status().Committed+1] = s.w.Hash()
	var err error
	s.call("Rebase", func() { err = s.j.Rebase() })
	s.note("Rebase: %v", err)
	s.require(err != nil || s.j.Acknowledged() == s.j.Status().Committed, "Rebase returned nil in vain")
	return err
}

// compact makes a new base.
func (s *simulation) compact() error {
	s.note("Compact")
	s.j.Compact()
	for s.step() {
	}
	return s.j.Status().Compaction
}

// sync syncs.
func (s *simulation) sync() error {
	var err error
	s.call("Sync", func() { err = s.j.Sync() })
	s.note("Sync: %v", err)
	s.require(err != nil || s.j.Acknowledged() == s.j.Status().Committed, "Sync returned nil in vain")
	return err
}

// change changes the world.
func (s *simulation) change() {
	for rows := range s.values.Rows() {
		for i := range s.value.Slice(rows) {
			s.value.Slice(rows)[i] += int64(s.dice.IntN(10))
		}
	}
	ecs.NewArchetype(s.w, s.value).Create()
}

// starve changes the world while there is no memory to keep what snapshots have.
func (s *simulation) starve() {
	var hog []alloc.ChunkIndex
	for c, err := s.u.AllocExact(1); err == nil; c, err = s.u.AllocExact(1) {
		hog = append(hog, c)
	}
	for rows := range s.values.Rows() {
		for i := range s.value.Slice(rows) {
			s.value.Slice(rows)[i]++
		}
	}
	for _, c := range hog {
		s.u.Free(c, 1)
	}
}

// mayFail reports whether an error is a possible one: the log needs a new base, or memory
// was refused.
func mayFail(err error) bool {
	return err == nil || errors.Is(err, ErrRebase) || errors.Is(err, alloc.ErrFull)
}
