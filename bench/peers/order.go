package main

import (
	"iter"
	"math/rand/v2"
)

// listOrder is the order in which a list of entities is processed.
type listOrder int

const (
	inOrder listOrder = iota
	shuffled
)

// shuffle brings a list into an order that is the same in every run.
func shuffle[T any](list []T) {
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// sample walks over n indexes and reports for each whether it is in the sample: one random index of
// each of k parts, the same in every run.
func sample(n, k int) iter.Seq[bool] {
	return func(yield func(bool) bool) {
		r := rand.New(rand.NewPCG(3, 4))
		for part := range k {
			lo, hi := part*n/k, (part+1)*n/k
			in := lo + r.IntN(hi-lo)
			for i := lo; i < hi; i++ {
				if !yield(i == in) {
					return
				}
			}
		}
	}
}

// wantSum compares the sum of all X that were read with the sum over the first places of n
// entities.
func wantSum(got float64, n, passes int) error {
	if want := placed(n).x * float64(passes); got != want {
		return wrong("got a sum of %v, want %v", got, want)
	}
	return nil
}
