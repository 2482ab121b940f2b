package guard_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quarry/internal/guard"
)

// sizes are lengths around nothing, a vector and a page.
func sizes() []int {
	page := os.Getpagesize()
	return []int{0, 1, 7, 64, 100, page - 1, page, page + 1, 3*page + 5}
}

func TestBytesAreUsable(t *testing.T) {
	for _, n := range sizes() {
		for name, b := range map[string][]byte{"Tail": guard.Tail(t, n), "Head": guard.Head(t, n)} {
			require.Len(t, b, n, name)
			require.Equal(t, n, cap(b), name)
			for i := range b {
				require.Zero(t, b[i], "%s byte %d of %d", name, i, n)
				b[i] = byte(i)
			}
			for i := range b {
				require.Equal(t, byte(i), b[i], "%s byte %d of %d", name, i, n)
			}
		}
	}
}

// touch reads (or writes) the byte at distance off from the start of b and
// returns the address of the fault, or 0 when there was none.
func touch(b []byte, off int, write bool) (fault uintptr) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			fault = r.(interface{ Addr() uintptr }).Addr()
		}
	}()
	// Safe because the address lies in the page without access next to b, which
	// is mapped, so no other memory can be there; the fault becomes a panic.
	p := (*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), off))
	if write {
		*p = 1
	} else {
		runtime.KeepAlive(*p)
	}
	return 0
}

func TestOneByteTooFarFaults(t *testing.T) {
	if !guard.Real {
		t.Skip("no page protection on this system")
	}
	page := os.Getpagesize()
	for _, n := range sizes() {
		if n == 0 {
			continue // an empty Go slice keeps no position
		}
		for _, write := range []bool{false, true} {
			tail, head := guard.Tail(t, n), guard.Head(t, n)
			at := func(b []byte, off int) uintptr {
				// Safe because the sum is compared as a number and never dereferenced.
				return guard.Fault(uintptr(unsafe.Pointer(unsafe.SliceData(b))) + uintptr(off))
			}
			assert.Equal(t, at(tail, n), touch(tail, n, write), "n=%d write=%v", n, write)
			assert.Equal(t, at(tail, n+page-1), touch(tail, n+page-1, write), "n=%d write=%v", n, write)
			assert.Equal(t, at(head, -1), touch(head, -1, write), "n=%d write=%v", n, write)
			assert.Equal(t, at(head, -page), touch(head, -page, write), "n=%d write=%v", n, write)
			assert.Zero(t, touch(tail, n-1, write), "the last byte belongs to the buffer")
			assert.Zero(t, touch(head, 0, write), "the first byte belongs to the buffer")
		}
	}
}

// recorder stands in for a test that goes wrong.
type recorder struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// end runs the clean-ups the way package testing does.
func (r *recorder) end() {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
}

func TestCanariesAreCompared(t *testing.T) {
	r := &recorder{}
	tail := guard.Tail(r, 100)
	// Safe because a tail of 100 bytes has slack of its own before it.
	*(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(tail)), -1)) = 0
	head := guard.Head(r, 100)
	// Safe because a head of 100 bytes has slack of its own behind it.
	*(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(head)), 100)) = 0
	r.end()
	assert.Equal(t, []string{
		"guard: Head: byte 100 of a buffer of 100 was overwritten: got 0x0 want 0xfd",
		"guard: Tail: byte -1 of a buffer of 100 was overwritten: got 0x0 want 0xfd",
	}, r.errors)

	r = &recorder{}
	guard.Tail(r, 100)[0], guard.Head(r, 100)[99] = 1, 1
	r.end()
	assert.Empty(t, r.errors)
}

func TestNegativeLengthFailsTheTest(t *testing.T) {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		guard.Tail(r, -1)
	}()
	<-done
	assert.Equal(t, []string{"guard: Tail: n=-1 is negative"}, r.errors)
}
