package bitmask_test

import "quarry/bitmask"

// row is the slow twin of Bits: one bool a bit, every answer found by looking at
// one bit after another.
type row []bool

func rowOf(b bitmask.Bits) row {
	r := make(row, len(b)*64)
	for i := range r {
		r[i] = b[i/64]>>uint(i%64)&1 != 0
	}
	return r
}

func (r row) bits() bitmask.Bits {
	b := make(bitmask.Bits, len(r)/64)
	for i, used := range r {
		if used {
			b[i/64] |= 1 << uint(i%64)
		}
	}
	return b
}

// freeFrom returns how many bits are clear from i on, up to the limit.
func (r row) freeFrom(i, limit int) int {
	n := 0
	for i+n < limit && !r[i+n] {
		n++
	}
	return n
}

func (r row) FindRun(n int) (int, bool) {
	for i := range r {
		if r.freeFrom(i, len(r)) >= n {
			return i, true
		}
	}
	return len(r), false
}

func (r row) LongestRun() (offset, n int) {
	for i := range r {
		if run := r.freeFrom(i, len(r)); run > n {
			offset, n = i, run
		}
	}
	return offset, n
}

func (r row) FindBestRun(n int) (int, bool) {
	best, shortest := len(r), len(r)+1
	for i := range r {
		if i > 0 && !r[i-1] {
			continue // not the first bit of a run
		}
		if run := r.freeFrom(i, len(r)); run >= n && run < shortest {
			best, shortest = i, run
		}
	}
	return best, shortest <= len(r)
}

func (r row) SetRange(offset, n int) {
	for i := offset; i < offset+n; i++ {
		r[i] = true
	}
}

func (r row) ClearRange(offset, n int) {
	for i := offset; i < offset+n; i++ {
		r[i] = false
	}
}

func (r row) CountRange(offset, n int) int {
	count := 0
	for i := offset; i < offset+n; i++ {
		if r[i] {
			count++
		}
	}
	return count
}

// runs returns the offsets and lengths of the runs of bits that are as given.
func (r row) runs(used bool) (found [][2]int) {
	for i := range r {
		if r[i] != used {
			continue
		}
		if last := len(found) - 1; last >= 0 && found[last][0]+found[last][1] == i {
			found[last][1]++
		} else {
			found = append(found, [2]int{i, 1})
		}
	}
	return found
}
