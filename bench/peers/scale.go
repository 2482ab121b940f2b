package main

// scaleSizes are powers of four, in round numbers, from what fits the first-level
// cache to what a small server has room for.
var scaleSizes = []int{
	small, 4 * small, usual, 4 * usual, large, million, 4 * million, 16 * million, 64 * million,
}

// scaleLookups is how many entities are looked up at most: with more of them the
// list itself would take most of the time of the larger sizes.
const scaleLookups = million

// scaleWorkloads give the cost of an entity as a curve over n.
var scaleWorkloads = []workload{
	{name: "scale-create", what: "n made at once in a fresh world, growth included", sizes: scaleSizes, alone: true},
	{name: "scale-iterate", what: "position += velocity for n entities", sizes: scaleSizes, alone: true},
	{name: "scale-get", what: "Position of up to a million of n entities, in shuffled order", sizes: scaleSizes, alone: true},
}

var scaleWays = []way{
	{"scale-create", quarryBatch, buildQuarryAllocN},
	{"scale-create", quarryWarm, buildQuarryAllocShared},
	{"scale-create", arkBatch, buildArkAlloc(true)},
	{"scale-iterate", goSlices, func(n int) (trial, error) { return newColumns(n), nil }},
	{"scale-iterate", quarry, buildQuarryQuery((*quarryWorld).fill)},
	{"scale-iterate", arkTables, buildArkTables(arkMovers, false)},
	{"scale-get", quarry, buildQuarrySample},
	{"scale-get", quarryMany, buildQuarrySampleMany},
	{"scale-get", ark, func(n int) (trial, error) { return newArkSample(n, min(n, scaleLookups)), nil }},
}

func buildQuarrySample(n int) (trial, error) { return newQuarrySample(n, min(n, scaleLookups)) }

func buildQuarrySampleMany(n int) (trial, error) {
	s, err := newQuarrySample(n, min(n, scaleLookups))
	return newQuarryGetMany(s), err
}
