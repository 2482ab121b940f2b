// Package simdisk is a disk in memory for tests, which knows what a power loss may leave of it. It
// records each step that changes the disk:
//
//	create  write  truncate  rename  remove  make folder     there for each process at once
//	sync of a file                                           its bytes are on the disk
//	sync of a folder                                         the names in it are
//
// [Disk.Loss] makes the disk after any number of these steps and a power loss: of what was not
// synced each part is there, or not, or half, whatever came before and after it. So a later write
// may be there and an earlier one not, a name whose file is empty, or a file without its name.
//
// A [Process] uses the disk, until it is killed. Its Before is called before each step, which it
// may delay or refuse, so that a test decides what happens in which order.
package simdisk

import (
	"errors"
	"math/rand/v2"
	"sync"
)

// Disk is a disk. Any goroutine may use it.
type Disk struct {
	mu    sync.Mutex
	start *state // before the first step
	steps []step
	now   *state
	locks map[node]*lock
}

// New returns an empty disk.
func New() *Disk { return at(newState()) }

// at returns a disk with a state.
func at(s *state) *Disk { return &Disk{start: s.clone(), now: s, locks: map[node]*lock{}} }

// Steps returns how many steps have changed the disk.
func (d *Disk) Steps() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.steps)
}

// Loss returns what a power loss after the first n steps leaves, as another disk.
func (d *Disk) Loss(n int, dice *rand.Rand) *Disk {
	d.mu.Lock()
	s := d.start.clone()
	steps := d.steps[:n:n]
	d.mu.Unlock()
	for _, step := range steps {
		s.do(step)
	}
	return at(s.lose(dice))
}

// do does a step and records it. The caller holds mu.
func (d *Disk) do(s step) {
	d.steps = append(d.steps, s)
	d.now.do(s)
}

// ErrKilled is the error of each call of a process that was killed.
var ErrKilled = errors.New("the process was killed")
