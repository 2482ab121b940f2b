package main

// Workloads of one entity at a time, and of five components. Every pass is a method that is not
// inlined, with plain loops: if a function with a closure is inlined, the calls in the closure are
// not, which cost 1.1 to 2.5 ns per entity.
var singleWorkloads = []workload{
	{name: "random-write", what: "Position of an entity changed, in shuffled order, if it is alive", sizes: []int{
		small, usual, million,
	}},
	{name: "random2comp", what: "Position and Velocity of an entity read, in shuffled order", sizes: []int{
		small, usual, million,
	}},
	{name: "create2comp-set", what: "an entity made with two values in a warm world, its id kept", sizes: []int{
		usual, million,
	}},
	{name: "create2comp-set-batch", what: "n made at once in a warm world, each with two values", sizes: []int{
		usual, million,
	}},
	{name: "add_remove_eight-shuffled", what: "add_remove with eight more components, in shuffled order", sizes: []int{
		usual, million,
	}},
	{name: "world2types", what: "a world of two types made and ended, ours on a universe that others share",
		sizes: []int{one}},
	{name: "disable_enable",
		what:  "a component switched off, and later on, in shuffled order; of ark a tag taken off and put on",
		sizes: []int{usual, million}},
	{name: "prefab4comp", what: "a copy of an entity of four components made in a warm world, its id kept",
		sizes: []int{usual, million}},
	{name: "prefab4comp-batch", what: "n copies made at once", sizes: []int{usual, million}},
	{name: "query256spread", what: "position += velocity, entities spread over 256 archetypes", sizes: []int{
		usual, million,
	}},
	{name: "query5comp", what: "position += velocity, C1 += C2, C3 += velocity", sizes: []int{small, usual, million}},
	{name: "query5comp-kernel", what: "the same with a vector kernel on flat columns", sizes: []int{
		small, usual, million,
	}},
	{name: "query2comp-threads", what: "position += velocity by two goroutines", sizes: []int{small, usual, million}},
}

// Entrants of the single workloads only.
const (
	quarryMutMany = "quarry MutList"
	quarryDirect  = "quarry Direct"
	quarryCursor  = "quarry Cursor"
	quarryBundle  = "quarry bundle"
	quarrySparse  = "quarry sparse"

	quarrySparseList = "quarry sparse list"

	quarryJobs = "quarry jobs"
	arkTag     = "ark tag"
	slicesTwo  = "slices, two goroutines"
)

// secondOf is the C2 of entity i, which differs from its Velocity.
func secondOf(i int) C2 { return C2(velocityOf(i + 3)) }

// fiveMoved has the tallies of Position, C1 and C3 after that many passes of query5comp.
func fiveMoved(n, passes int) [3]tally {
	p := moved(n, passes)
	c1 := tally{count: n}
	for i := range n {
		c := secondOf(i)
		c1.x += c.X * float64(passes)
		c1.y += c.Y * float64(passes)
	}
	return [3]tally{p, c1, p}
}

// wantFive compares the tallies of query5comp with the expected ones.
func wantFive(got [3]tally, n, passes int) error {
	for i, want := range fiveMoved(n, passes) {
		if err := got[i].want(want); err != nil {
			return err
		}
	}
	return nil
}

// pairSum is the sum of one pass of random2comp.
func pairSum(n int) float64 {
	sum := placed(n).x
	for i := range n {
		sum += velocityOf(i).Y
	}
	return sum
}

// wantPairSum compares the sum over passes of random2comp with the expected one.
func wantPairSum(got float64, n, passes int) error {
	if want := pairSum(n) * float64(passes); got != want {
		return wrong("got a sum of %v, want %v", got, want)
	}
	return nil
}

// written is the tally of n entities at their first places after each pass added 1 to every X.
func written(n, passes int) tally {
	t := placed(n)
	t.x += float64(n) * float64(passes)
	return t
}

// pattern is the entity that prefab4comp copies.
type pattern struct {
	Position
	Velocity
	C1
	C2
}

var patternValues = pattern{Position{1, 2}, Velocity{3, 4}, C1{5, 6}, C2{7, 8}}

// valuesSum sums up entities of two or four components.
type valuesSum struct {
	count int
	sum   [4]float64 // of X + 16*Y, by component
}

func (s *valuesSum) add(p *Position, v *Velocity) {
	s.count++
	s.sum[0] += p.X + 16*p.Y
	s.sum[1] += v.X + 16*v.Y
}

func (s *valuesSum) addExtra(a *C1, b *C2) {
	s.sum[2] += a.X + 16*a.Y
	s.sum[3] += b.X + 16*b.Y
}

func (s valuesSum) want(w valuesSum) error {
	if s != w {
		return wrong("got %d entities with sums %v, want %d with %v", s.count, s.sum, w.count, w.sum)
	}
	return nil
}

// valued is the sum over n entities with placeOf and velocityOf.
func valued(n int) (s valuesSum) {
	for i := range n {
		p, v := placeOf(i), velocityOf(i)
		s.add(&p, &v)
	}
	return s
}

// copied is the sum over n copies of the pattern.
func copied(n int) (s valuesSum) {
	c := patternValues
	for range n {
		s.add(&c.Position, &c.Velocity)
		s.addExtra(&c.C1, &c.C2)
	}
	return s
}
