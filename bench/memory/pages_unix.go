//go:build unix

package main

import "syscall"

// mapTouched maps a block, writes its first byte and unmaps it.
func mapTouched(size int) error {
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return err
	}
	b[0] = 1
	return syscall.Munmap(b)
}
