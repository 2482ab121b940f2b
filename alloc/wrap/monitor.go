package wrap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"

	"quarry/alloc"
)

// The monitor.
//
// A fault that is caught by nobody, on a goroutine that Guard.Run did not start, ends the process
// in the runtime, and no code of the program runs any more. So another process reports it, which is
// the same program, started with monitorFile in its environment:
//
//	program                                      monitor
//	Guard ---- a record per block ----> file ------------+
//	runtime -- the text of the crash --> pipe --> waits --+--> standard error
//
// The monitor waits until the pipe ends. Without a text the program has ended well. Otherwise the
// text has the address that faulted, and the file the block that it lies in. The stacks are numbers
// of the program; the monitor has the same code at the same distances.

// monitorFile names the environment variable that makes the program a monitor of the file in it.
const monitorFile = "QUARRY_GUARD_MONITOR"

// The file: records of recordBytes, of little-endian words. The first one is the header, whose only
// word is the address of a place in the program.
const (
	recordBytes = 256
	recordHead  = 6 // words before the stacks: base, total, address, size, alignment, freed
)

func init() {
	if path := os.Getenv(monitorFile); path != "" {
		signal.Ignore(os.Interrupt) // which ends the program, and the monitor must report that
		text, _ := io.ReadAll(os.Stdin)
		file, err := os.ReadFile(path)
		_ = os.Remove(path)
		if len(text) > 0 && err == nil {
			for _, e := range explainCrash(text, file) {
				fmt.Fprintln(os.Stderr, e)
			}
		}
		os.Exit(0)
	}
}

// Monitor reports faults in zones and freed blocks of Guards that end the program, because they
// happen outside of Run: on standard error, after the runtime's own text, in the words of a
// GuardError, with the stacks that allocated and freed the block.
//
//	monitor, err := wrap.StartMonitor()
//	...
//	g := wrap.NewGuard(heap, wrap.Watched(monitor))
//
// It is a second process, which runs this program's executable, waits for the end of the first one
// and does nothing else: it ends in the initialization of this package. Any goroutine may use a
// Monitor.
//
// Cost: a system call, a write of 256 bytes to a temporary file, when a block is allocated, freed,
// and leaves the quarantine: some us for a block.
type Monitor struct {
	input io.Closer // the pipe to the process
	child *exec.Cmd
	path  string // of the file

	mu    sync.Mutex
	file  *os.File // nil after Close
	free  []int64  // numbers of records that can be used again
	slots int64    // records in the file, the header included
	err   error    // the first of writing the file
}

// monitors holds a token while a Monitor is open, since the runtime has one output for crashes.
var monitors = make(chan struct{}, 1)

// StartMonitor starts the process. It sets the crash output of the runtime
// ([runtime/debug.SetCrashOutput]), of which a program has one. An error is the system's, or wraps
// alloc.ErrInUse when another Monitor is open. Initialization of packages runs in the second
// process too, as far as it comes before that of this package.
func StartMonitor() (*Monitor, error) {
	select {
	case monitors <- struct{}{}:
	default:
		return nil, fmt.Errorf("wrap: StartMonitor: another Monitor is open: %w", alloc.ErrInUse)
	}
	m, err := startMonitor()
	if err != nil {
		<-monitors
		return nil, fmt.Errorf("wrap: StartMonitor: %w", err)
	}
	return m, nil
}

func startMonitor() (started *Monitor, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "quarry-guard-*")
	if err != nil {
		return nil, err
	}
	m := &Monitor{file: file, path: file.Name(), slots: 1}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.discard())
		}
	}()
	var header [recordBytes]byte
	binary.LittleEndian.PutUint64(header[:], uint64(reference()))
	if _, err = file.WriteAt(header[:], 0); err != nil {
		return nil, err
	}
	m.child = exec.Command(program)
	m.child.Env = append(os.Environ(), monitorFile+"="+m.path)
	m.child.Stderr = os.Stderr
	input, output, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer input.Close() // the child has its own
	m.child.Stdin, m.input = input, output
	if err = m.child.Start(); err != nil {
		return nil, errors.Join(err, output.Close())
	}
	if err = debug.SetCrashOutput(output, debug.CrashOptions{}); err != nil {
		return nil, errors.Join(err, output.Close(), m.child.Wait())
	}
	return m, nil
}

// discard closes and removes the file.
func (m *Monitor) discard() error {
	err := m.file.Close()
	m.file = nil
	if gone := os.Remove(m.path); !errors.Is(gone, os.ErrNotExist) { // the other process removes it too
		err = errors.Join(err, gone)
	}
	return err
}

// Close ends the process and sets the runtime's crash output to none. Guards that are watched go on
// unwatched. The error is the first of writing the file, without which a report may be wrong or
// missing, or one of ending the process. A second call does nothing.
func (m *Monitor) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil {
		return nil
	}
	err := errors.Join(m.err, debug.SetCrashOutput(nil, debug.CrashOptions{}), m.input.Close(),
		m.child.Wait(), m.discard())
	<-monitors
	if err != nil {
		return fmt.Errorf("wrap: Monitor.Close: %w", err)
	}
	return nil
}

// Watched makes a Monitor report faults of the Guard. It panics when m is nil.
func Watched(m *Monitor) GuardOption {
	if m == nil {
		panic("wrap: Watched: the monitor is nil")
	}
	return func(g *Guard) { g.monitor = m }
}

// record writes what a block is now. The goroutine that calls may touch the block. A nil m records
// nothing.
func (m *Monitor) record(b *guarded) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.record == 0 && len(m.free) > 0 {
		b.record, m.free = m.free[len(m.free)-1], m.free[:len(m.free)-1]
	} else if b.record == 0 {
		b.record = m.slots
		m.slots++
	}
	m.write(b.record, b)
}

// erase removes the record of a block.
func (m *Monitor) erase(b *guarded) {
	if m == nil || b.record == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.write(b.record, &guarded{})
	m.free = append(m.free, b.record)
	b.record = 0
}

// write writes a record. mu is held.
func (m *Monitor) write(slot int64, b *guarded) {
	if m.file == nil {
		return
	}
	var r [recordBytes]byte
	freed := uint64(0)
	if len(b.died) > 0 {
		freed = 1
	}
	for i, w := range [recordHead]uint64{uint64(uintptr(b.base)), uint64(b.total), uint64(uintptr(b.p)), uint64(b.size),
		uint64(b.alignment()), freed} {
		binary.LittleEndian.PutUint64(r[8*i:], w)
	}
	for i, stack := range []callers{b.born, b.died} {
		for j, pc := range stack[:min(len(stack), someFrames)] {
			binary.LittleEndian.PutUint64(r[8*(recordHead+i*someFrames+j):], uint64(pc))
		}
	}
	if _, err := m.file.WriteAt(r[:], slot*recordBytes); err != nil && m.err == nil {
		m.err = err
	}
}

// reference returns the address of a place in the program, which the system may have loaded
// elsewhere in the monitor.
//
//go:noinline
func reference() uintptr {
	var pc [1]uintptr
	runtime.Callers(1, pc[:])
	return pc[0]
}

// faulted finds the address in the runtime's text of a crash.
var faulted = regexp.MustCompile(`(?:\[signal [^\n]* addr=|unexpected fault address )0x([0-9a-f]+)`)

// explainCrash returns the blocks of a file of records in which the addresses of a crash lie.
func explainCrash(text, file []byte) (found []*GuardError) {
	if len(file) < recordBytes {
		return nil
	}
	moved := reference() - uintptr(binary.LittleEndian.Uint64(file))
	seen := map[uintptr]bool{}
	for _, match := range faulted.FindAllSubmatch(bytes.ToLower(text), -1) {
		addr, err := strconv.ParseUint(string(match[1]), 16, 64)
		if at := uintptr(addr); err == nil && !seen[at] {
			seen[at] = true
			for r := file[recordBytes:]; len(r) >= recordBytes; r = r[recordBytes:] {
				if e := decodeRecord(r[:recordBytes], at, moved); e != nil {
					found = append(found, e)
				}
			}
		}
	}
	return found
}

// decodeRecord returns the block of a record when an address lies in it or in its zones. moved is
// how far this program's code lies from the other's.
func decodeRecord(r []byte, at, moved uintptr) *GuardError {
	word := func(i int) uintptr { return uintptr(binary.LittleEndian.Uint64(r[8*i:])) }
	if at-word(0) >= word(1) {
		return nil
	}
	e := &GuardError{Addr: at, Block: word(2), Size: int(word(3)), Align: int(word(4)), Freed: word(5) != 0}
	for i, stack := range []*callers{&e.born, &e.died} {
		for j := range someFrames {
			if pc := word(recordHead + i*someFrames + j); pc != 0 {
				*stack = append(*stack, pc+moved)
			}
		}
	}
	return e
}
