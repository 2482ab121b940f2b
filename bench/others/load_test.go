package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSamples(t *testing.T) {
	var all []sample
	for i, b := range builds {
		for _, seconds := range []float64{1, 3, 8} {
			all = append(all, sample{
				b.name, 256, figures{Phase: "get", Seconds: seconds * float64(i+1), CPUSeconds: 2, GCSeconds: 0.5, Peak: float64(1+i) * (100 << 20)},
			})
		}
	}
	m, n := medians(all, func(s sample) bool { return s.build == builds[1].name })
	require.Equal(t, 3, n)
	require.Equal(t, 6.0, m.Seconds)
	_, n = medians(all, func(sample) bool { return false })
	require.Zero(t, n)
	var out bytes.Buffer
	printSamples(&out, all)
	require.Regexp(t, `256 MiB +get +own, cgo +3 +3.00 s +1.00 +2.00 s +100 MiB +1.00 `, out.String())
	require.Regexp(t, `256 MiB +get +ours, no cgo +3 +9.00 s +3.00 +2.00 s +300 MiB +3.00 +0 MiB +0 +25.0 %`,
		out.String())
	require.Equal(t, "-", ratio(1, 0))
}
