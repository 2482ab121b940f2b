package mmap

import (
	"fmt"
	"math"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The limit on the addresses of a process (RLIMIT_AS, "ulimit -v") is checked before the kernel
// would refuse. Mapping a range as a trial would leave other threads, including the Go runtime's,
// without addresses for a moment.

// addresses describes the addresses of the process, in bytes.
type addresses struct {
	limit int // math.MaxInt: none
	used  int // 0 without a limit, and where the kernel does not report it
	room  int // left to Go
}

// free returns how many bytes may be taken.
func (a *addresses) free() int { return a.limit - a.used - a.room }

// refuse returns an *overLimit unless n bytes are free.
func (a *addresses) refuse(n int) error {
	if n <= a.free() {
		return nil
	}
	return &overLimit{*a}
}

// lookAge is how long a reading of the addresses may be used to share them out.
const lookAge = 100 * time.Microsecond

// lately is the last reading.
var lately struct {
	sync.Mutex
	addresses
	at time.Time
}

// addressesLately returns a reading that is at most lookAge old, so that a call that tries several
// sizes reads once.
func addressesLately() addresses {
	lately.Lock()
	defer lately.Unlock()
	if now := time.Now(); now.Sub(lately.at) > lookAge {
		lately.addresses, lately.at = addressesNow(), now
	}
	return lately.addresses
}

// addressesTaken discards the last reading.
func addressesTaken() {
	lately.Lock()
	defer lately.Unlock()
	lately.at = time.Time{}
}

func addressesNow() addresses {
	var as unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &as) != nil || as.Cur > math.MaxInt {
		return addresses{limit: math.MaxInt, room: mostRoom}
	}
	limit := int(as.Cur)
	return addresses{limit: limit, used: addressesUsed(), room: min(max(limit/10, leastRoom), mostRoom)}
}

// addressesUsed returns how many bytes the limit counts, or 0 where the kernel does not report it.
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

// goFree returns how many bytes of its addresses the Go heap has mapped and does not use. What it
// has not yet mapped of its last 64 MiB is left out: no metric has it, and it does not follow from
// the sizes, because the heap begins at a random address in its first 64 MiB.
func goFree() int {
	sizes := [...]metrics.Sample{
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(sizes[:])
	return int(sizes[0].Value.Uint64() + sizes[1].Value.Uint64())
}

// overLimit is an ENOMEM returned before the kernel would return it.
type overLimit struct{ addresses }

func (e *overLimit) Error() string {
	return fmt.Sprintf("%v: the limit is %d, of which %d are in use, and %d are left to Go",
		unix.ENOMEM, e.limit, e.used, e.room)
}

func (e *overLimit) Unwrap() error { return unix.ENOMEM }
