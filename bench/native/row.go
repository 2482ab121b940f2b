package main

import "slices"

// row is a workload of bench/peers with the sum that all entrants must come to.
type row struct {
	name     string
	sizes    []int
	entrants []string // of Go; the others are compared with the first
	variant  string   // a program that has one more way, and the way
	want     func(n, passes int) float64
}

// point is a component value of two numbers.
type point struct{ x, y float64 }

// sum weighs y so that two mistakes rarely cancel out.
func (p point) sum() float64 { return p.x + 16*p.y }

// The values of entities, as bench/peers and programs/bench.h have them.
func velocityOf(i int) point { return point{float64(i%7 + 1), float64(i%5 - 2)} }
func placeOf(i int) point    { return point{float64(i % 1000), 1} }
func secondOf(i int) point   { return velocityOf(i + 3) }

// total adds up f(i) for all i below n.
func total(n int, f func(i int) float64) (sum float64) {
	for i := range n {
		sum += f(i)
	}
	return sum
}

func placesX(n int) float64 { return total(n, func(i int) float64 { return placeOf(i).x }) }

func read(n, passes int) float64 { return placesX(n) * float64(passes) }

func read2(n, passes int) float64 {
	return total(n, func(i int) float64 { return placeOf(i).x + velocityOf(i).y }) * float64(passes)
}

func written(n, passes int) float64 { return placesX(n) + float64(n)*float64(passes) }

func made(n, _ int) float64 {
	return total(n, func(i int) float64 { return placeOf(i).sum() + velocityOf(i).sum() })
}

func stayed(n, _ int) float64 { return placesX(n) }

func ended(_, passes int) float64 { return float64(passes) }

func allOn(n, _ int) float64 { return float64(n) }

// copied is the sum for n copies of the values 1 to 8 in four components.
func copied(n, _ int) float64 { return float64(n) * (1 + 3 + 5 + 7 + 16*(2+4+6+8)) }

func moved(n, passes int) float64 {
	return total(n, func(i int) float64 { return velocityOf(i).sum() }) * float64(passes)
}

func moved5(n, passes int) float64 {
	return 2*moved(n, passes) + total(n, func(i int) float64 { return secondOf(i).sum() })*float64(passes)
}

// Sizes that rows run with.
const (
	one     = 1
	small   = 1000
	usual   = 16_000
	million = 1_000_000
)

var (
	threeSizes = []int{small, usual, million}
	twoSizes   = []int{usual, million}
	treeSizes  = []int{usual, 100_000, million}
)

// rows has all rows in the order in which they run.
var rows = []row{
	{"random", threeSizes, []string{"quarry", "quarry Direct", "quarry GetList", "ark"}, "entt direct", read},
	{"random-write", threeSizes, []string{"quarry", "quarry Direct", "quarry MutList", "ark"}, "entt direct", written},
	{"random2comp", threeSizes, []string{"quarry", "quarry Direct", "quarry GetList", "ark"}, "entt direct", read2},
	{"create2comp-set", twoSizes, []string{"quarry", "quarry bundle", "ark"}, "", made},
	{"create2comp-set-batch", twoSizes, []string{"quarry batch", "ark batch"}, "", made},
	{"add_remove_eight-shuffled", twoSizes,
		[]string{"quarry", "quarry list", "quarry sparse", "quarry sparse list", "ark"}, "", stayed},
	{"world2types", []int{one}, []string{"quarry", "ark"}, "", ended},
	{"disable_enable", twoSizes, []string{"quarry", "ark tag"}, "", allOn},
	{"prefab4comp", twoSizes, []string{"quarry", "ark"}, "", copied},
	{"prefab4comp-batch", twoSizes, []string{"quarry batch", "ark batch"}, "", copied},
	{"query2comp", []int{one, small, usual, million}, []string{"quarry", "quarry Cursor", "ark tables"},
		"entt direct", moved},
	{"query256spread", twoSizes, []string{"quarry", "quarry kernel", "quarry Cursor", "ark tables"}, "entt direct",
		moved},
	{"query5comp", threeSizes, []string{"quarry", "ark tables"}, "entt group", moved5},
	{"query5comp-kernel", threeSizes, []string{"quarry kernel"}, "", nil},
	{"depth", treeSizes, []string{"quarry", "slices", "ark list"}, "flecs cascade", added},
	{"matrices", treeSizes, []string{"quarry", "quarry jobs"}, "flecs cascade", multiplied},
	{"query2comp-threads", []int{small, usual, 100_000, million}, []string{"quarry jobs", "quarry"},
		"entt direct", moved},
}

func rowNamed(name string) *row {
	i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
	if i < 0 {
		return nil
	}
	return &rows[i]
}
