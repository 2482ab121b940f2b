//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package guard

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Real is true: an access one byte too far faults.
const Real = true

// Bytes of canary before a head and after a tail: none, since the pages without access are there.
const before, after = 0, 0

// pages maps enough whole pages for n bytes, at least one, between two pages
// without access, and returns what lies between them.
func pages(n int) (room []byte, release func(), err error) {
	page := os.Getpagesize()
	body := max(page, (n+page-1)/page*page)
	whole, err := unix.Mmap(-1, 0, page+body+page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, fmt.Errorf("mmap of %d bytes: %w", page+body+page, err)
	}
	room = whole[page : page+body : page+body]
	if err := unix.Mprotect(room, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		unix.Munmap(whole)
		return nil, nil, fmt.Errorf("mprotect of %d bytes: %w", body, err)
	}
	return room, func() { unix.Munmap(whole) }, nil
}
