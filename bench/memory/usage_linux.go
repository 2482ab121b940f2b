package main

import (
	"bytes"
	"os"
	"syscall"
)

// faults returns the page faults of this process so far.
func faults() (minor, major int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return -1, -1
	}
	return u.Minflt, u.Majflt
}

// hugePages is the mode of transparent huge pages.
func hugePages() string {
	b, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil {
		return "unknown"
	}
	return string(bytes.TrimSpace(b))
}
