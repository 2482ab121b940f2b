package mmap_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

func TestErrorText(t *testing.T) {
	errno := errors.New("cannot allocate memory")
	for want, err := range map[string]*mmap.Error{
		"mmap: Reserve: 1073741824 bytes of address space: cannot allocate memory": {
			Op: "Reserve", Size: 1 << 30, Err: mmap.ErrAddressSpace, Errno: errno},
		"mmap: Commit: 2097152 bytes at offset 4194304: cannot allocate memory": {
			Op: "Commit", Offset: 4194304, Size: 2097152, Err: mmap.ErrMemory, Errno: errno},
		"mmap: Release: 8 bytes at offset 0: cannot allocate memory, and access could not be restored": {
			Op: "Release", Size: 8, Err: mmap.ErrAccess, Errno: errno},
	} {
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, errno)
		require.ErrorIs(t, err, err.Err)
	}
}

func TestErrorUnwrap(t *testing.T) {
	err := error(&mmap.Error{Op: "Commit", Err: mmap.ErrMemory, Errno: syscall.ENOMEM})
	require.ErrorIs(t, err, mmap.ErrMemory)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.NotErrorIs(t, err, mmap.ErrAddressSpace)
	var errno syscall.Errno
	require.ErrorAs(t, err, &errno)
	require.Empty(t, (&mmap.Error{}).Unwrap())
}
