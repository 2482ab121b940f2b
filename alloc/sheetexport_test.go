package alloc

import (
	"fmt"
	"slices"

	"quarry/mmap"
)

// Sheets is a set of sheets of a test's own.
type Sheets struct{ l sheets }

// NewSheets returns sheets that are cut from regions of reserve; nil: from package mmap.
func NewSheets(reserve func(size, least int) (*FailingPages, error)) *Sheets {
	s := &Sheets{}
	if reserve != nil {
		s.l.reserve = func(size, least int) (regionPages, error) {
			r, err := reserve(size, least)
			if err != nil {
				return nil, err
			}
			return r, nil
		}
	}
	return s
}

// Sheet is a sheet that a test has taken.
type Sheet struct{ s sheet }

func (s *Sheets) Take(size int) Sheet { return Sheet{s.l.take(size)} }
func (s *Sheets) Give(one Sheet)      { s.l.give(one.s) }
func (s Sheet) Bytes() []byte         { return s.s.memory() }
func (s Sheet) OfGo() bool            { return s.s.region == nil }

// WarmSheets is how many free sheets of a size keep their pages.
const WarmSheets = warmSheets

// Verify checks B1 and B2.
func (s *Sheets) Verify() error { return s.l.verify() }

// VerifyBooks checks B1 and B2 of the sheets of the process.
func VerifyBooks() error { return books.verify() }

func (l *sheets) verify() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var free []sheet
	for class := range l.warm {
		for _, s := range slices.Concat(l.warm[class], l.cold[class]) {
			if s.size != 1<<class || s.left != s.size || s.offset%s.size != 0 || s.offset+s.size > s.region.Committed() {
				return fmt.Errorf("alloc: B2: a free sheet of %d bytes at %d of %d, class %d", s.size, s.offset, s.region.Committed(), class)
			}
			for i, b := range s.memory() {
				if b != 0 {
					return fmt.Errorf("alloc: B1: byte %d of a free sheet of %d is %#x", i, s.size, b)
				}
			}
			free = append(free, s)
		}
	}
	at := map[uintptr]bool{}
	for _, s := range free {
		for page := range s.size >> 12 {
			p := uintptr(s.base) + uintptr(page)<<12
			if at[p] {
				return fmt.Errorf("alloc: B2: two free sheets have the page at %#x", p)
			}
			at[p] = true
		}
	}
	if l.ready%mmap.Granule != 0 || l.cut > l.ready {
		return fmt.Errorf("alloc: B2: %d bytes of the region are handed out, %d are ready", l.cut, l.ready)
	}
	return nil
}
