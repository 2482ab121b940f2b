package main

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// When a process starts a program, the kernel passes the process's peak resident size on to the
// program's getrusage. So peaks are read from procfs, which has the program's own.

// faults returns the page faults of this process so far.
func faults() (minor, major int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return -1, -1
	}
	return u.Minflt, u.Majflt
}

// peakRSS is the peak resident memory of this process in bytes.
func peakRSS() int64 { return field("/proc/self/status", "VmHWM:") }

// residentBytes is the current resident memory, counted page by page.
func residentBytes() int64 {
	if n := field("/proc/self/smaps_rollup", "Rss:"); n >= 0 {
		return n
	}
	return field("/proc/self/status", "VmRSS:")
}

// hugePages is the mode of transparent huge pages.
func hugePages() string {
	b, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil {
		return "unknown"
	}
	return string(bytes.TrimSpace(b))
}

// field finds a line "NAME   123 kB" in a file of procfs and returns bytes, -1 if there is none.
func field(path, name string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return -1
	}
	for line := range bytes.Lines(b) {
		words := bytes.Fields(line)
		if len(words) < 2 || string(words[0]) != name {
			continue
		}
		n, err := strconv.ParseInt(string(words[1]), 10, 64)
		if err != nil {
			return -1
		}
		return n << 10
	}
	return -1
}
