package main

import "quarry/bench/process"

// peakRSS is the peak resident memory of this process in bytes, -1 if that is not known.
func peakRSS() int64 { return known(process.Peak()) }

// residentBytes is the resident memory, likewise.
func residentBytes() int64 { return known(process.Resident()) }

func known(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}
