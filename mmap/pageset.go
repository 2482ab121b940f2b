package mmap

// pageSet is a set of pages of a region: page p is [p*PageSize, (p+1)*PageSize). It is sparse,
// because a region of 16 GiB has 4 Mi pages of 4 KiB and guards lie in few of its granules. The
// zero value is empty.
type pageSet struct {
	bits map[int]granules // by granule: its members, counted from its first page; no entry is empty
	runs int              // maximal runs of members within each granule, summed; a run across a border counts twice
}

// pageRange is the pages [lo, hi).
type pageRange struct{ lo, hi int }

func (s pageRange) offset() int { return s.lo * PageSize() }
func (s pageRange) size() int   { return (s.hi - s.lo) * PageSize() }

func pagesPerGranule() int { return Granule / PageSize() }

func (s *pageSet) add(lo, hi int) {
	per := pagesPerGranule()
	for g := lo / per; g*per < hi; g++ {
		set := s.take(g)
		if set == nil {
			set = newGranules(per)
		}
		set.set(max(lo-g*per, 0), min(hi-g*per, per))
		s.put(g, set)
	}
}

func (s *pageSet) remove(lo, hi int) {
	per := pagesPerGranule()
	for g := lo / per; g*per < hi; g++ {
		if set := s.take(g); set != nil {
			set.clear(max(lo-g*per, 0), min(hi-g*per, per))
			s.put(g, set)
		}
	}
}

// take removes the members in granule g from the set and returns them, nil if there are none.
func (s *pageSet) take(g int) granules {
	set := s.bits[g]
	if set != nil {
		_, runs := set.count()
		s.runs -= runs
		delete(s.bits, g)
	}
	return set
}

// put gives granule g, which has no members, the members in set.
func (s *pageSet) put(g int, set granules) {
	members, runs := set.count()
	if members == 0 {
		return
	}
	if s.bits == nil {
		s.bits = make(map[int]granules)
	}
	s.bits[g] = set
	s.runs += runs
}

// next returns the first page in [lo, hi) whose membership is member, or hi.
func (s *pageSet) next(lo, hi int, member bool) int {
	per := pagesPerGranule()
	for lo < hi {
		g := lo / per
		end := min(hi, (g+1)*per)
		set := s.bits[g]
		switch {
		case set != nil:
			if p := g*per + set.next(lo-g*per, end-g*per, member); p < end {
				return p
			}
		case !member:
			return lo
		}
		lo = end
	}
	return hi
}

// runsIn returns the maximal runs of members in [lo, hi), in ascending order.
func (s *pageSet) runsIn(lo, hi int) []pageRange {
	var all []pageRange
	for {
		from := s.next(lo, hi, true)
		if from == hi {
			return all
		}
		lo = s.next(from, hi, false)
		all = append(all, pageRange{from, lo})
	}
}

// cut removes the members in the granules of from and returns them.
func (s *pageSet) cut(from granuleRange) pageSet {
	var out pageSet
	if len(s.bits) == 0 {
		return out
	}
	for g := from.lo; g < from.hi; g++ {
		if set := s.take(g); set != nil {
			out.put(g, set)
		}
	}
	return out
}

// paste adds back the members that cut took from the granules of into.
func (s *pageSet) paste(from pageSet, into granuleRange) {
	for g := into.lo; g < into.hi && len(from.bits) > 0; g++ {
		if set := from.bits[g]; set != nil {
			s.put(g, set)
		}
	}
}

// pages returns the pages of a range of granules.
func (s granuleRange) pages() pageRange {
	return pageRange{s.lo * pagesPerGranule(), s.hi * pagesPerGranule()}
}
