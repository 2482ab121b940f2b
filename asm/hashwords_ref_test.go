package asm

import "math/big"

// HashWordsRef is the twin of HashWords: by its definition, with numbers of any length, a byte at a
// time.
func HashWordsRef(b []byte, place int, mask uint64) uint64 {
	number := func(s string) *big.Int {
		n, _ := new(big.Int).SetString(s, 16)
		return n
	}
	wrap := new(big.Int).Lsh(big.NewInt(1), 64)
	sum := new(big.Int)
	for i := 0; i < len(b); i += 8 {
		x := new(big.Int)
		for k := 7; k >= 0; k-- {
			x.Add(x.Lsh(x, 8), big.NewInt(int64(b[i+k])))
		}
		x.And(x, new(big.Int).SetUint64(mask))
		key := new(big.Int).Mul(big.NewInt(int64(place+i/8)), number("9e3779b97f4a7c15"))
		x.Xor(x, key.Mod(key.Add(key, number("6a09e667f3bcc909")), wrap))
		for _, step := range []struct {
			shift  uint
			factor string
		}{{30, "bf58476d1ce4e5b9"}, {27, "94d049bb133111eb"}, {31, "1"}} {
			x.Xor(x, new(big.Int).Rsh(x, step.shift))
			x.Mod(x.Mul(x, number(step.factor)), wrap)
		}
		sum.Add(sum, x)
	}
	return sum.Mod(sum, wrap).Uint64()
}
