package main

// The part that entrants on the workloads of single entities have in common: the entities and the
// expected results.

// minimalAt is entity i of n as these workloads make it.
func minimalAt(i, n int) actor {
	a := actorAt(i, n, false)
	a.has = movingParts
	return a
}

// halfAt is the same; every second entity has Data.
func halfAt(i, n int) actor {
	a := minimalAt(i, n)
	if i%2 == 0 {
		a.has |= hasData
	}
	return a
}

// crowdAt returns how entities are made for a workload that reads that many components.
func crowdAt(components int) func(i, n int) actor {
	if components == 3 {
		return halfAt
	}
	return minimalAt
}

// fresh is an entity as it is created: at zero, with the velocity that all have.
var fresh = actor{has: movingParts, velocity: Velocity32{1, 1}}

// unpacked sums up values read from entities: whole numbers, so that the sum is exact.
type unpacked struct {
	places  float64
	numbers uint64
}

// want compares u with the sums of that many passes over n entities that read that many components.
func (u unpacked) want(components, n, passes int) error {
	var once unpacked
	for i := range n {
		a := halfAt(i, n)
		once.places += float64(a.position.X)
		if components >= 2 {
			once.places += float64(a.velocity.Y)
		}
		if components == 3 && a.has&hasData != 0 {
			once.numbers += uint64(a.data.Numgy)
		}
	}
	want := unpacked{once.places * float64(passes), once.numbers * uint64(passes)}
	if u != want {
		return wrong("got sums %v and %d, want %v and %d", u.places, u.numbers, want.places, want.numbers)
	}
	return nil
}
