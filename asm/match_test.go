package asm_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"quarry/asm"
	"quarry/internal/guard"
)

// randomTable makes n signatures of width words and a question that about half
// of them answer: each signature is the wanted bits and some others, and in half
// of them one bit is spoilt.
func randomTable(rnd *rand.Rand, table []uint64, width int) (has, lacks []uint64) {
	has, lacks = make([]uint64, width), make([]uint64, width)
	for range rnd.IntN(6) {
		has[rnd.IntN(width)] |= 1 << rnd.IntN(64)
	}
	for range rnd.IntN(6) {
		i, bit := rnd.IntN(width), uint64(1)<<rnd.IntN(64)
		if has[i]&bit == 0 || rnd.IntN(50) == 0 {
			lacks[i] |= bit
		}
	}
	for i := range len(table) / width {
		signature := table[i*width : (i+1)*width]
		for j := range signature {
			signature[j] = rnd.Uint64()&rnd.Uint64()&^lacks[j] | has[j]
		}
		if rnd.IntN(2) == 0 {
			j := rnd.IntN(width)
			signature[j] ^= (has[j] | lacks[j]) & -(has[j] | lacks[j]) // its lowest bit
		}
	}
	return has, lacks
}

// checkMatch compares impl with want on a dst of which the words behind the
// result must keep what they hold.
func checkMatch(t *testing.T, impl asm.MatchFunc, table, has, lacks []uint64, width int, want []uint64, what string) {
	t.Helper()
	got := make([]uint64, len(want)+1)
	for i := range got {
		got[i] = 0x5555555555555555
	}
	count := impl(got, table, has, lacks, width)
	if !slices.Equal(got[:len(want)], want) || got[len(want)] != 0x5555555555555555 {
		t.Fatalf("%s: width=%d, %d signatures: got %#x want %#x", what, width, len(table)/width, got, want)
	}
	ones := 0
	for _, w := range want {
		ones += bits.OnesCount64(w)
	}
	if count != ones {
		t.Fatalf("%s: width=%d: count: got %d want %d", what, width, count, ones)
	}
}

// TestMatchTables: every width up to 20 and some above, every number of
// signatures up to 200, the table and the question flush against pages without
// access.
func TestMatchTables(t *testing.T) {
	for _, width := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 32, 64, 100} {
		most := 200
		if width > 20 || testing.Short() {
			most = 70
		}
		rnd := rand.New(rand.NewPCG(uint64(width), 1))
		tail, head := words(guard.Tail(t, most*width*8)), words(guard.Head(t, most*width*8))
		hasAt, lacksAt := words(guard.Tail(t, width*8)), words(guard.Tail(t, width*8))
		for n := 0; n <= most; n += 1 + n/70*3 {
			for _, table := range [][]uint64{tail[(most-n)*width:], head[:n*width]} {
				has, lacks := randomTable(rnd, table, width)
				copy(hasAt, has)
				copy(lacksAt, lacks)
				want := make([]uint64, (n+63)/64)
				asm.MatchRef(want, table, has, lacks, width)
				for _, impl := range asm.MatchImpls(width) {
					checkMatch(t, impl.Func, table, hasAt, lacksAt, width, want, impl.Name)
				}
			}
		}
	}
}

// TestMatchBits: one wrong bit in every place of a signature is seen, as a bit
// that is missing and as one that must not be there; with none every one matches.
func TestMatchBits(t *testing.T) {
	for _, width := range []int{1, 4, 7, 8, 9, 12, 16} {
		for _, impl := range asm.MatchImpls(width) {
			t.Run(fmt.Sprintf("width=%d/impl=%s", width, impl.Name), func(t *testing.T) {
				const n = 66
				full, none := make([]uint64, width), make([]uint64, width)
				for i := range full {
					full[i] = ^uint64(0)
				}
				table, inverse := slices.Repeat(full, n), make([]uint64, n*width)
				dst := make([]uint64, 2)
				assert.Equal(t, n, impl.Func(dst, table, full, none, width))
				assert.Equal(t, n, impl.Func(dst, inverse, none, full, width))
				assert.Equal(t, n, impl.Func(dst, inverse, none, none, width))
				assert.Equal(t, 0, impl.Func(dst, table, full, full, width), "has and lacks contradict each other")
				for bit := range 64 * width {
					s := bit % n
					table[s*width+bit/64] ^= 1 << (bit % 64)
					inverse[s*width+bit/64] ^= 1 << (bit % 64)
					for _, c := range []int{
						impl.Func(dst, table, full, none, width), impl.Func(dst, inverse, none, full, width),
					} {
						if c != n-1 || dst[s/64]>>(s%64)&1 != 0 {
							t.Fatalf("bit %d of signature %d: got %d matches, %#x", bit, s, c, dst)
						}
					}
					table[s*width+bit/64] ^= 1 << (bit % 64)
					inverse[s*width+bit/64] ^= 1 << (bit % 64)
				}
			})
		}
	}
}

// TestMatchLong covers several assembly calls.
func TestMatchLong(t *testing.T) {
	for _, width := range []int{3, 16} {
		n := 2*asm.CallBytes/8/width + 77
		table := make([]uint64, n*width)
		has, lacks := randomTable(rand.New(rand.NewPCG(5, 6)), table, width)
		want := make([]uint64, (n+63)/64)
		asm.MatchRef(want, table, has, lacks, width)
		checkMatch(t, asm.Match, table, has, lacks, width, want, "long")
	}
}

func TestMatchContract(t *testing.T) {
	one, two := make([]uint64, 1), make([]uint64, 2)
	assert.PanicsWithValue(t, "asm: Match: width=0 is less than 1", func() { asm.Match(one, two, nil, nil, 0) })
	assert.PanicsWithValue(t, "asm: Match: len(table)=3 is no multiple of width=2", func() {
		asm.Match(one, make([]uint64, 3), two, two, 2)
	})
	assert.PanicsWithValue(t, "asm: Match: len(has)=1 is not width=2", func() { asm.Match(one, two, one, two, 2) })
	assert.PanicsWithValue(t, "asm: Match: len(lacks)=1 is not width=2", func() { asm.Match(one, two, two, one, 2) })
	assert.PanicsWithValue(t, "asm: Match: len(dst)=1 is less than 2 words for 65 signatures", func() {
		asm.Match(one, make([]uint64, 65), one, one, 1)
	})
	assert.Zero(t, asm.Match(nil, nil, one, one, 1))
}

// FuzzMatch: the first bytes are the question, the rest the signatures.
func FuzzMatch(f *testing.F) {
	f.Add(byte(1), []byte("a question of 16 and then signatures of eight bytes"))
	f.Add(byte(16), make([]byte, 8*16*5))
	f.Fuzz(func(t *testing.T, w byte, data []byte) {
		width := int(w%20) + 1
		_, _, all := wordPairs(data)
		if len(all) < 2*width {
			return
		}
		has, lacks, table := all[:width], all[width:2*width], all[2*width:]
		table = table[:len(table)/width*width]
		want := make([]uint64, (len(table)/width+63)/64)
		asm.MatchRef(want, table, has, lacks, width)
		for _, impl := range asm.MatchImpls(width) {
			checkMatch(t, impl.Func, table, has, lacks, width, want, impl.Name)
		}
	})
}
