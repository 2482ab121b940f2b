package main

import "math/rand/v2"

// A task is what both sides do with n records.
type task struct {
	name, what string
	plain      func(n int) side
	quarry     func(n int) (side, error)
}

// side is a store that does its task again and again.
type side interface {
	do()            // one time; this is what is timed
	answer() uint64 // of all times
	close() error
}

// times is how often a round does a task with n records: some milliseconds.
func times(n int) int { return max(1, 1<<18/(n+256)) }

// order is n numbers below n in the order in which both sides take records.
func order(n, of int) []uint32 {
	r := rand.New(rand.NewPCG(3, 4))
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(r.IntN(of))
	}
	return list
}

// shuffled is the numbers below n in shuffled order.
func shuffled(n int) []uint32 {
	list := make([]uint32, n)
	for i, v := range rand.New(rand.NewPCG(5, 6)).Perm(n) {
		list[i] = uint32(v)
	}
	return list
}

// neighbours are the records that a state's task changes where they lie side by side.
func neighbours(n int) []uint32 {
	list := make([]uint32, some(n, 64))
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

func scattered(n int) []uint32 { return order(some(n, 64), n) }

var tasks = []task{
	{"make", "a store of n records from nothing", newPlainMake, newQuarryMake},
	{"loop", "position += velocity, records of 32 B", newPlainLoop, newQuarryLoop},
	{"loop 2/8", "the same, records of 128 B", newPlainWide, newQuarryWide},
	{"get", "n look-ups by handle, shuffled", newPlainGet, newQuarryGet},
	{"replace", "n/16 removed and made, one by one", newPlainReplace, newQuarryReplace},
	{"flag", "n/16 flagged, a loop over the others, flags taken away", newPlainFlag, newQuarryFlag},
	{"state", "a state kept, n/64 neighbours changed, the state summed up",
		newPlainState(neighbours), newQuarryState(neighbours)},
	{"scattered", "the same, n/64 changed at random", newPlainState(scattered), newQuarryState(scattered)},
}

// some is how many records a task takes of n.
func some(n, part int) int { return max(1, n/part) }
