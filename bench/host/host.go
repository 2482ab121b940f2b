// Package host describes the machine and the moment of a measurement, for results that are kept.
package host

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"quarry/asm"
)

// A Host is where and when something was measured.
type Host struct {
	CPU   string  `json:"cpu"`
	Cores int     `json:"cores"`
	Go    string  `json:"go"`
	Date  string  `json:"date"` // as 2026-11-29
	Load  float64 `json:"load"` // of the last minute when it began, processes; 0: not known
}

// Here returns this machine and this moment.
func Here() Host {
	return Host{
		CPU: asm.CPUName(), Cores: runtime.NumCPU(), Go: runtime.Version(),
		Date: time.Now().UTC().Format(time.DateOnly), Load: load(),
	}
}

// load is how many processes ran or waited for a core in the last minute, on Linux.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := bytes.Cut(text, []byte(" "))
	v, _ := strconv.ParseFloat(string(first), 64)
	return v
}

// String returns, as one line, what the figures of a page depend on.
func (h Host) String() string {
	busy := "quiet"
	if h.Load > 1 {
		busy = "with other work on it"
	}
	return fmt.Sprintf("%s, %d cores, %s, %s, %s", h.CPU, h.Cores, h.Go, h.Date, busy)
}
