//go:build !linux

package main

// Resident memory and faults are read on Linux only; -1 means "not known".

func faults() (minor, major int64) { return -1, -1 }

func peakRSS() int64 { return -1 }

func residentBytes() int64 { return -1 }

func hugePages() string { return "unknown" }
