package main

import (
	"bytes"
	"os"
	"strconv"
)

// peakBytes is the peak resident memory of this process, and residentBytes the current one. Both
// are read from procfs, because getrusage of a child starts with the peak of its parent.
func peakBytes() int64 { return field("/proc/self/status", "VmHWM:") }

func residentBytes() int64 { return field("/proc/self/status", "VmRSS:") }

// freeBytes is the memory that the system, or the control group of this process, can still give; 0
// means "not known".
func freeBytes() int64 {
	free := field("/proc/meminfo", "MemAvailable:")
	const group = "/sys/fs/cgroup/memory."
	limit, used := number(group+"max"), number(group+"current")
	if limit > 0 && limit-used < free {
		return max(1, limit-used)
	}
	return free
}

// number reads a file that has one number; 0 if it has none.
func number(path string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return n
}

// field finds a line "NAME   123 kB" in a file and returns bytes, 0 if there is none.
func field(path, name string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		words := bytes.Fields(line)
		if len(words) < 2 || string(words[0]) != name {
			continue
		}
		if n, err := strconv.ParseInt(string(words[1]), 10, 64); err == nil {
			return n << 10
		}
	}
	return 0
}
