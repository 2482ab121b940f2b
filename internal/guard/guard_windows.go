package guard

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Real is true: an access one byte too far faults.
const Real = true

// Bytes of canary before a head and after a tail: none, since the pages without access are there.
const before, after = 0, 0

// pages reserves enough whole pages for n bytes, at least one, between two pages
// without access, commits what lies between them, and returns that.
func pages(n int) (room []byte, release func(), err error) {
	page := os.Getpagesize()
	body := max(page, (n+page-1)/page*page)
	start, err := windows.VirtualAlloc(0, uintptr(page+body+page), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return nil, nil, fmt.Errorf("VirtualAlloc of %d bytes: %w", page+body+page, err)
	}
	release = func() { windows.VirtualFree(start, 0, windows.MEM_RELEASE) }
	first, err := windows.VirtualAlloc(start+uintptr(page), uintptr(body), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		release()
		return nil, nil, fmt.Errorf("VirtualAlloc of %d bytes inside: %w", body, err)
	}
	// Safe because first is the address of body bytes outside the Go heap, which are
	// readable and writable until release.
	return unsafe.Slice((*byte)(unsafe.Add(nil, first)), body), release, nil
}
