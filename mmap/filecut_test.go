//go:build unix

package mmap_test

import (
	"bytes"
	"os"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"quarry/mmap"
)

// TestMapFileCut: a page that the file lost faults by name.
func TestMapFileCut(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer f.Close()
	_, err = f.Write(bytes.Repeat([]byte{7}, g))
	require.NoError(t, err)
	r, err := mmap.Reserve(g)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Release()) }()
	if err := r.MapFile(0, g, f, 0); err != nil {
		require.ErrorIs(t, err, mmap.ErrUnsupported)
		t.Skip("files cannot be mapped")
	}
	skipWithoutAddress(t)
	require.NoError(t, f.Truncate(int64(page)))
	sum := 0
	err = mmap.Guarded(func() {
		for i := 0; i < g; i += page {
			sum += int(r.Bytes()[i])
		}
	})
	var fault *mmap.FaultError
	require.ErrorAs(t, err, &fault)
	require.Equal(t, mmap.FaultFile, fault.State)
	require.Equal(t, page, fault.Offset)
	require.ErrorContains(t, err, "a page of a file that was cut")
	require.Equal(t, 7, sum)
}

// skipWithoutAddress skips a test where the system does not report the address of a fault in a cut
// file, as emulators of other processors do not. No code of the package is involved.
func skipWithoutAddress(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Truncate(int64(page)))
	b, err := unix.Mmap(int(f.Fd()), 0, page, unix.PROT_READ, unix.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(b)) }()
	require.NoError(t, f.Truncate(0))
	told := func() (addr uintptr) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if fault, ok := recover().(interface{ Addr() uintptr }); ok {
				addr = fault.Addr()
			}
		}()
		unread += int(b[0])
		return 0
	}()
	if told != uintptr(unsafe.Pointer(unsafe.SliceData(b))) { // unsafe: compared as a number only
		t.Skip("the system does not tell the address of a fault in a cut file")
	}
}

var unread int // keeps a read alive
