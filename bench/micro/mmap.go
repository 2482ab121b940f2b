package micro

import (
	"errors"
	"unsafe"

	"quarry/mmap"
)

var mmapTables = []table{touch}

// osPage is the step in which touch writes: no system has smaller pages.
const osPage = 4 << 10

var touch = table{
	name: "Touch", pkg: "mmap", what: "the first byte of each page of fresh memory written",
	x: "pages of 4 KiB", unit: "page", sizes: []int{1, 10, 100, 1000, 10_000},
	ways: []way{
		{name: "mmap", build: func(n int) (*run, error) { return touchRegion(n, 0) }},
		{name: "mmap small pages", build: func(n int) (*run, error) { return touchRegion(n, mmap.SmallPages) }},
		{name: "make", roof: true, build: touchMade},
	},
}

// writePages writes every page and returns how many of them read zero before.
func writePages(bytes []byte) (fresh int) {
	for i := 0; i < len(bytes); i += osPage {
		if bytes[i] == 0 {
			fresh++
		}
		bytes[i] = 1
	}
	return fresh
}

func touchRegion(n int, hints mmap.Hint) (*run, error) {
	size := (n*osPage + mmap.Granule - 1) / mmap.Granule * mmap.Granule
	region, err := mmap.Reserve(size)
	if err != nil {
		return nil, err
	}
	if hints != 0 {
		if err := region.Hint(hints, true); err != nil && !errors.Is(err, mmap.ErrUnsupported) {
			return nil, err
		}
	}
	if err := region.Commit(0, size); err != nil {
		return nil, err
	}
	// Safe because all of it is committed whenever pass runs.
	bytes, fresh := unsafe.Slice((*byte)(region.Base()), n*osPage), 0
	return &run{
		pass: func(int) { fresh += writePages(bytes) },
		undo: func() error {
			if err := region.Decommit(0, size); err != nil {
				return err
			}
			return region.Commit(0, size)
		},
		check: func(steps int) error { return want("fresh pages", fresh, steps*n) },
		close: region.Release,
	}, nil
}

// touchMade takes memory of the Go heap instead. Making the memory is timed too, because the
// runtime then clears memory that was used before.
func touchMade(n int) (*run, error) {
	fresh := 0
	return &run{
		pass: func(times int) {
			for range times {
				fresh += writePages(make([]byte, n*osPage))
			}
		},
		check: func(steps int) error { return want("fresh pages", fresh, steps*n) },
	}, nil
}
