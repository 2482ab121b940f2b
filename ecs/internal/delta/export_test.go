package delta

import "bytes"

// Repeat makes the first large column of a delta come twice, the second time with other new bytes.
func Repeat(d *Delta) bool {
	for i := range d.Tables {
		t := &d.Tables[i]
		if len(t.columns) == 0 || len(t.columns[0].runs) <= columnsAlone {
			continue
		}
		c := t.columns[0]
		c.runs = bytes.Clone(c.runs)
		c.deltaRuns.each(1<<40, func(_ int, newer []byte) {
			for k := range newer {
				newer[k] ^= 0x55
			}
		})
		t.columns = append(t.columns[:1:1], c)
		return true
	}
	return false
}
