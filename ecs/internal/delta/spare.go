package delta

// Spare is memory for deltas that are encoded one after the other. The zero value has none;
// the methods of nil give and take nothing.
type Spare struct {
	Written []uint64
	runs    [][]byte
}

// Take returns an empty slice with room.
func (s *Spare) Take() (b []byte) {
	if s == nil || len(s.runs) == 0 {
		return nil
	}
	last := len(s.runs) - 1
	b, s.runs = s.runs[last], s.runs[:last]
	return b[:0]
}

// Put gives a slice back that is no longer used.
func (s *Spare) Put(b []byte) {
	if s != nil && cap(b) > 0 {
		s.runs = append(s.runs, b)
	}
}
