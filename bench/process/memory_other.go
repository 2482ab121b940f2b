//go:build !linux

package process

import "time"

// Peak is the peak resident memory of this process in bytes: not known here.
func Peak() int64 { return 0 }

// Resident is the resident memory of this process in bytes: not known here.
func Resident() int64 { return 0 }

func cpu() time.Duration { return 0 }
