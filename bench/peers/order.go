package main

import "math/rand/v2"

// listOrder is how a list of entities is worked off.
type listOrder int

const (
	inOrder listOrder = iota
	shuffled
)

// shuffle brings a list into an order that is the same in every run.
func shuffle[T any](list []T) {
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// wantSum compares the sum of all X that were read with that of n first places.
func wantSum(got float64, n, passes int) error {
	if want := placed(n).x * float64(passes); got != want {
		return wrong("got a sum of %v, want %v", got, want)
	}
	return nil
}
