package asm

// addAllGo is the portable code of AddAll.
func addAllGo[F Float](pairs []Pair[F]) {
	for i := range pairs {
		addGo(pairs[i].Dst, pairs[i].X)
	}
}
