package main

// scaleSizes are powers of four, in round numbers, from a size that fits the first-level cache to
// one that a small server has room for.
var scaleSizes = []int{
	small, 4 * small, usual, 4 * usual, large, million, 4 * million, 16 * million, 64 * million,
}

// scaleLookups is the most entities that are looked up: with more, the list itself would take most
// of the time at the larger sizes.
const scaleLookups = million

// scaleWorkloads measure the cost per entity as a curve over n.
var scaleWorkloads = []workload{
	{name: "scale-create", what: "n made at once in a fresh world, growth included", sizes: scaleSizes, alone: true},
	{name: "scale-iterate", what: "position += velocity for n entities", sizes: scaleSizes, alone: true},
	{name: "scale-get", what: "Position of up to a million of n entities, in shuffled order",
		sizes: scaleSizes, alone: true},
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
