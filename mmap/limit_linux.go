package mmap

import (
	"fmt"
	"math"
	"runtime/metrics"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The limit on the addresses of a process (RLIMIT_AS, "ulimit -v") is asked before
// the kernel would refuse: to map a range and see fails a moment when other threads
// get none, and the Go runtime is one of them.

// addresses are how many bytes of them there are for the process.
type addresses struct {
	limit int // math.MaxInt: none
	used  int // 0: not known, or not asked
	room  int // left to Go
}

// free is what may be taken.
func (a *addresses) free() int { return a.limit - a.used - a.room }

// addressesFor asks for n bytes. The error, if they are not free, is an *overLimit.
func addressesFor(n int) (a addresses, err error) {
	var as unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &as) != nil || as.Cur > math.MaxInt {
		return addresses{limit: math.MaxInt, room: mostRoom}, nil
	}
	a.limit = int(as.Cur)
	a.room = min(max(a.limit/10, leastRoom), mostRoom)
	if n <= a.free() {
		a.used = addressesUsed()
	}
	if n > a.free() {
		err = &overLimit{a}
	}
	return a, err
}

// addressesUsed is how many bytes the limit counts, or 0 where the kernel does not tell.
func addressesUsed() int {
	file, err := unix.Open("/proc/self/statm", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(file)
	var text [128]byte
	n, err := unix.Read(file, text[:])
	if err != nil {
		return 0
	}
	pages, _, _ := strings.Cut(string(text[:n]), " ")
	used, err := strconv.Atoi(pages)
	if err != nil {
		return 0
	}
	return used * PageSize()
}

// goFree is how many bytes of its addresses the Go heap does not use: what is free, and
// what it has not yet made memory of its last 64 MiB.
func goFree() int {
	names := [...]string{"free", "released", "objects", "unused", "stacks"}
	var sizes [len(names)]metrics.Sample
	for i, name := range names {
		sizes[i].Name = "/memory/classes/heap/" + name + ":bytes"
	}
	metrics.Read(sizes[:])
	sum := 0
	for _, size := range sizes {
		sum += int(size.Value.Uint64())
	}
	const arena = 64 << 20
	return int(sizes[0].Value.Uint64()+sizes[1].Value.Uint64()) + -sum&(arena-1)
}

// overLimit is ENOMEM that comes before the kernel's.
type overLimit struct{ addresses }

func (e *overLimit) Error() string {
	used := ""
	if e.used > 0 {
		used = fmt.Sprintf(", of which %d are in use", e.used)
	}
	return fmt.Sprintf("%v: the limit is %d%s, and %d are left to Go", unix.ENOMEM, e.limit, used, e.room)
}

func (e *overLimit) Unwrap() error { return unix.ENOMEM }
