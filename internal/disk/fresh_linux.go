package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// forget drops the pages of a file from the page cache. It is advice: where it fails, they stay.
func forget(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
