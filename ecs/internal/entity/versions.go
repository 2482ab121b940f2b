package entity

// Versions returns, by index, the version of the ID that is alive or reserved, and 0 where there is
// none. No goroutine may reserve ids meanwhile. Cost: 4 bytes for each index, and a look at it.
func (s *Store) Versions() []uint32 {
	all := make([]uint32, int(s.total.Load())*blockSize)
	for i, r := range s.all() {
		if r.version&1 != 0 {
			all[i] = r.version
		}
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	s.reservations.Load().all(func(b *indexBlock) {
		of := all[b.number*blockSize:][:blockSize]
		for i, v := range b.versions {
			if set := b.used[i/64]>>(i%64)&1 != 0; set && v&1 == 0 && !isExcluded(uint32(b.number*blockSize+i)) {
				of[i] = v + 1
			}
		}
	})
	return all
}
