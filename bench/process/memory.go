package process

import (
	"bytes"
	"os"
	"strconv"
)

// Peak is the peak resident memory of this process in bytes. It is read from procfs, because
// getrusage of a child starts with the peak of its parent.
func Peak() int64 { return Field("/proc/self/status", "VmHWM:") }

// Resident is the resident memory of this process in bytes, counted page by page where the system
// does that.
func Resident() int64 {
	if n := Field("/proc/self/smaps_rollup", "Rss:"); n > 0 {
		return n
	}
	return Field("/proc/self/status", "VmRSS:")
}

// Free is the memory in bytes that the system, or the control group of this process, can still
// give.
func Free() int64 {
	free := Field("/proc/meminfo", "MemAvailable:")
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

// Field finds a line "NAME   123 kB" in a file of procfs and returns bytes, 0 if there is none.
func Field(path, name string) int64 {
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
