package churn

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// table has a row for each way.
func table(list []sample, records, requests int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d records, %d requests, %d B of garbage each; p99.9 and slowest are of batches of %d requests\n",
		records, requests, garbageBytes, batchSize)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tns/request\tGC, % of CPU\tcycles\tp50 us\tp99.9 us\tslowest us\tpeak MB\tsteady MB")
	for i := range list {
		m := &list[i]
		fmt.Fprintf(w, "%s\t%.0f\t%.1f\t%d\t%.1f\t%.1f\t%.0f\t%.0f\t%.0f\n", ways[i].name,
			float64(m.Wall)/float64(requests), m.share(), m.Cycles, float64(m.P50)/1e3, float64(m.P999)/1e3,
			float64(m.Slowest)/1e3, float64(m.Peak)/1e6, float64(m.Steady)/1e6)
	}
	w.Flush()
	return strings.TrimRight(b.String(), "\n")
}
