package main

import (
	"runtime/debug"

	"quarry/bench/process"
)

// footprint is the memory of a process, in bytes.
type footprint struct {
	Peak int64 `json:"peak"` // greatest resident memory, less the memory before building
	Rest int64 `json:"rest"` // resident after a collection, less the same
}

// weighProcess builds the trial. The collector runs with its default setting: garbage that it has
// not freed yet is part of the peak.
func weighProcess(w *way, n int) (t trial, f *footprint, err error) {
	debug.FreeOSMemory()
	before := process.Resident()
	if t, err = w.build(n); err != nil {
		return nil, nil, err
	}
	f = &footprint{Peak: process.Peak() - before}
	debug.FreeOSMemory()
	f.Rest = process.Resident() - before
	return t, f, nil
}
