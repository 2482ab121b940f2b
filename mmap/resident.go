package mmap

// residentStep is how many bytes the system is asked about at a time.
const residentStep = 64 << 20

// Resident returns the bytes of ready memory that the system has backed with
// pages by now: what was touched, counting a huge page whole. It asks granule run
// by granule run, about 2 us for each 2 MiB. An error is an *Error that wraps
// ErrUnsupported where the system does not tell (Linux alone does), else
// ErrMemory.
func (r *Region) Resident() (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory.base == nil {
		panicReleased("Resident")
	}
	sum := 0
	for _, s := range r.ready.spans(0, r.memory.size/Granule) {
		for off, end := s.offset(), s.offset()+s.size(); off < end; off += residentStep {
			n := min(residentStep, end-off)
			bytes, errno := r.space.sys.resident(&r.memory, off, n)
			if errno != nil {
				return 0, r.refuse("Resident", off, n, ErrMemory, errno)
			}
			sum += bytes
		}
	}
	return sum, r.done()
}
