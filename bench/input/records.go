package input

import (
	"encoding/csv"
	"io"
)

// maxTable bounds the text of a table, in bytes.
const maxTable = 256 << 10

// Records reads a table in CSV: all records have as many fields as the first.
func Records(r io.Reader) ([][]string, error) {
	return csv.NewReader(limit(r, maxTable)).ReadAll()
}
