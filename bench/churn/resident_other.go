//go:build !linux

package churn

// Memory is read on Linux only; 0 means "not known".

func peakBytes() int64 { return 0 }

func residentBytes() int64 { return 0 }
