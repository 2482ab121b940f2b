package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/curve"
)

var adds = []curve.Table{{
	Name: "Add", Package: "asm", What: "dst[i] += x[i]", XLabel: "numbers", YLabel: "ns per number",
	Series: []curve.Series{
		{Name: "asm", X: []float64{1, 1000}, Y: []float64{1.2345, 0.1}},
		{Name: "loop", Roof: true, X: []float64{1, 1000}, Y: []float64{2, 0.5}},
	},
}}

func TestBenchmarksInWords(t *testing.T) {
	var b bytes.Buffer
	printBenchmarks(&b, adds)
	require.Equal(t, `
asm, Add: dst[i] += x[i], ns per number
numbers  1     1000
asm      1.23  0.1
loop     2     0.5
`, b.String())
}

func TestBenchmarksInJSON(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, printJSON(&b, nil, adds))
	var got []map[string]any
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	require.Len(t, got, 4)
	require.Equal(t, map[string]any{"workload": "micro", "package": "asm", "benchmark": "Add", "way": "asm",
		"n": 1000.0, "of": "numbers", "value": 0.1, "unit": "ns per number"}, got[1])
}
