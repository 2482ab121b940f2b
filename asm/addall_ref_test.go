package asm

// AddAllRef is the twin of AddAll: by definition, one element at a time.
func AddAllRef[F Float](pairs ...Pair[F]) {
	for _, p := range pairs {
		for i := range p.Dst {
			p.Dst[i] = p.Dst[i] + p.X[i]
		}
	}
}
