//go:build !linux

package main

// Page faults are counted on Linux only; -1 means "not known".
func faults() (minor, major int64) { return -1, -1 }

func hugePages() string { return "unknown" }
