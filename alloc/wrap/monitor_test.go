//go:build !race && (linux || darwin || windows)

package wrap_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
	"quarry/mmap"
)

// crashCase names the environment variable that makes TestMonitorCrash end this program.
const crashCase = "QUARRY_TEST_CRASH"

// read reads a byte, on a goroutine that nobody of this package started.
func read(p unsafe.Pointer) {
	done := make(chan byte)
	go func() { done <- *(*byte)(p) }() // Safe because it faults.
	<-done
}

// crashes are ways to end a program.
var crashes = map[string]func(g *wrap.Guard, m *wrap.Monitor){
	"behind": func(g *wrap.Guard, _ *wrap.Monitor) { read(unsafe.Add(loadTexture(g, 80), 80)) },
	"before": func(g *wrap.Guard, _ *wrap.Monitor) { read(unsafe.Add(loadTexture(g, 4096), -1)) },
	"after free": func(g *wrap.Guard, _ *wrap.Monitor) {
		p := loadTexture(g, 80)
		dropTexture(g, p, 80)
		read(unsafe.Add(p, 3))
	},
	"after others": func(g *wrap.Guard, _ *wrap.Monitor) {
		for range 1000 { // far more than are in quarantine
			dropTexture(g, must(g.Alloc(100, 8)), 100)
		}
		read(unsafe.Add(loadTexture(g, 48), 48))
	},
	"their own handler": func(g *wrap.Guard, _ *wrap.Monitor) { // as a library may have, which then panics
		done := make(chan byte)
		p := unsafe.Add(loadTexture(g, 80), 80)
		go func() {
			debug.SetPanicOnFault(true)
			done <- *(*byte)(p) // Safe because it faults.
		}()
		<-done
	},
	"nil": func(g *wrap.Guard, _ *wrap.Monitor) {
		loadTexture(g, 80)
		read(nil)
	},
	"panic": func(*wrap.Guard, *wrap.Monitor) { panic("as it may be") },
	"run": func(g *wrap.Guard, _ *wrap.Monitor) {
		p := unsafe.Add(loadTexture(g, 80), 80)
		fmt.Println(g.Run(func() { fmt.Println(*(*byte)(p)) }) != nil) // Safe because it faults.
		os.Exit(3)
	},
	"closed": func(g *wrap.Guard, m *wrap.Monitor) {
		p := unsafe.Add(loadTexture(g, 80), 80)
		if err := errors.Join(m.Close(), m.Close()); err != nil {
			fmt.Println(err)
			os.Exit(4)
		}
		read(p)
	},
}

// TestMonitorCrash ends the program in one of the ways, in a child of TestMonitor.
func TestMonitorCrash(t *testing.T) {
	crash := crashes[os.Getenv(crashCase)]
	if crash == nil {
		t.Skip("TestMonitor runs it")
	}
	m, err := wrap.StartMonitor()
	require.NoError(t, err)
	_, err = wrap.StartMonitor()
	require.ErrorIs(t, err, alloc.ErrInUse)
	crash(wrap.NewGuard(newHeap(t), wrap.Watched(m), wrap.Quarantine(100<<10)), m)
}

// TestMonitor: a fault that ends the program has the block's stacks, on a goroutine of others too;
// another end has none; and no process and no file is left.
func TestMonitor(t *testing.T) {
	if mmap.Guards() == mmap.GuardNone {
		t.Skip("nothing faults here")
	}
	const allocated, freed = allocatedAt, "freed at\n\tquarry/alloc/wrap_test.dropTexture\n"
	const text, block = "wrap: Guard: touch at 0x", "the block of 80 bytes aligned to 8 at 0x"
	for name, want := range map[string][]string{
		"behind":            {text, "0 bytes behind the end of " + block, allocated},
		"before":            {text, "1 bytes before the block of 4096 bytes aligned to 8 at 0x", allocated},
		"after free":        {text, "3 bytes into what was " + block, allocated, freed},
		"after others":      {text, "0 bytes behind the end of the block of 48 bytes", allocated},
		"their own handler": {text, "0 bytes behind the end of " + block, allocated},
		"nil":               nil,
		"panic":             nil,
		"run":               nil,
		"closed":            nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(os.Args[0], "-test.run=^TestMonitorCrash$")
			dir := t.TempDir()
			c.Env = append(os.Environ(), crashCase+"="+name, "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir)
			c.WaitDelay = time.Minute
			out, err := c.CombinedOutput() // which ends when the monitor has closed standard error
			skipEmulated(t, err)
			require.Error(t, err, "%s", out)
			for _, s := range want {
				require.Contains(t, string(out), s)
			}
			require.Equal(t, len(want) > 0, strings.Contains(string(out), text), "%s", out)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// skipEmulated skips a test whose error means that the program cannot start itself.
func skipEmulated(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "exec format error") {
		t.Skip("this program runs on an emulator and cannot start itself")
	}
}

// startMonitor starts a Monitor. Where that fails, nothing is left of it and the next can start.
func startMonitor(t *testing.T) *wrap.Monitor {
	t.Helper()
	m, err := wrap.StartMonitor()
	skipEmulated(t, err)
	require.NoError(t, err)
	return m
}

// TestMonitorOfALostFile: a Guard goes on when the records cannot be written, and Close returns the
// error.
func TestMonitorOfALostFile(t *testing.T) {
	m := startMonitor(t)
	g := wrap.NewGuard(newHeap(t), wrap.Watched(m))
	p := loadTexture(g, 80)
	m.CloseFile()
	dropTexture(g, p, 80)
	require.NoError(t, g.Close())
	require.ErrorContains(t, m.Close(), "wrap: Monitor.Close: ")
	require.NoError(t, m.Close())
	m, err := wrap.StartMonitor()
	require.NoError(t, err, "the first one is closed")
	require.NoError(t, m.Close())
	t.Setenv("TMPDIR", "/nowhere/at/all")
	t.Setenv("TMP", "/nowhere/at/all")
	_, err = wrap.StartMonitor()
	require.ErrorContains(t, err, "wrap: StartMonitor: ")
}

// TestMonitorRecords: records of blocks that are gone are used again, and the addresses of one that
// is left are found with those of the runtime's texts, in which others are not.
func TestMonitorRecords(t *testing.T) {
	m := startMonitor(t)
	g := wrap.NewGuard(newHeap(t), wrap.Watched(m), wrap.Quarantine(0), wrap.Canaries())
	for range 100 {
		dropTexture(g, loadTexture(g, 80), 80)
	}
	p := loadTexture(g, 80)
	require.EqualValues(t, 2, m.Records(), "the header, and one that was used again")
	s, err := alloc.NewStack(newHeap(t), 1<<16)
	require.NoError(t, err)
	ordered := wrap.NewGuard(s, wrap.Watched(m), wrap.Canaries())
	q, r := loadTexture(ordered, 16), loadTexture(ordered, 32)
	require.Panics(t, func() { dropTexture(ordered, q, 16) }, "not in order, and live after it")
	file := m.Contents()
	addr := uintptr(p) + 85
	for text, want := range map[string]int{
		fmt.Sprintf("unexpected fault address %#x\nfatal error: fault\n[signal SIGSEGV: segmentation violation code=0x2 addr=%#[1]x pc=0x1]\n", addr): 1,
		fmt.Sprintf("[signal 0xc0000005 code=0x1 addr=%#X pc=0x1]", addr):                                                                             1,
		fmt.Sprintf("[signal SIGBUS: bus error code=0x2 addr=%#x pc=%#x]", addr, uintptr(r)):                                                          1,
		fmt.Sprintf("[signal x addr=%#x pc=0x1]\n[signal x addr=%#x pc=0x1]", uintptr(q), uintptr(r)):                                                 2,
		fmt.Sprintf("[signal x addr=0x0 pc=0x1]\ngoroutine 1\nmain(%#x)", addr):                                                                       0,
		"": 0,
	} {
		found := wrap.ExplainCrash([]byte(text), file)
		require.Len(t, found, want, text)
		for _, e := range found {
			require.False(t, e.Freed)
			require.ErrorContains(t, e, allocatedAt)
		}
	}
	require.Empty(t, wrap.ExplainCrash([]byte("[signal x addr=0x10 pc=0x1]"), file[:100]))
	dropTexture(ordered, r, 32)
	dropTexture(ordered, q, 16)
	g.FreeSized(p, 80, 8)
	require.NoError(t, errors.Join(g.Close(), ordered.Close(), s.Close()))
	require.Empty(t, wrap.ExplainCrash(fmt.Appendf(nil, "[signal x addr=%#x pc=0x1]", addr), m.Contents()))
	require.NoError(t, m.Close())
}

const allocatedAt = "allocated at\n\tquarry/alloc/wrap_test.loadTexture\n"
