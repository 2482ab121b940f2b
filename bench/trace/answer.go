package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"quarry/bench/input"
)

// Row is one row of a STATS.csv, the file with the right answers for a collection of traces.
type Row struct {
	Stats
	FreeUnknown int    // frees of a name that is not live; such a trace is not read
	DupID       int    // names given twice; such a trace is not read
	Header      string // of a zip archive "member:length"
}

// ReadStats reads a STATS.csv: a header line, then one row per trace, keyed by the name in the
// first column. Columns may be in any order; a missing or unknown column, or a field that is not a
// number, is an error that matches ErrFormat.
func ReadStats(path string) (map[string]Row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	records, err := input.Records(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFormat, path, err)
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: %s:1: expected a header line, got the end of the file", ErrFormat, path)
	}
	rows := map[string]Row{}
	for i, record := range records[1:] {
		var row Row
		name, err := row.read(records[0], record)
		if err != nil {
			return nil, fmt.Errorf("%w: %s:%d: %w", ErrFormat, path, i+2, err)
		}
		rows[name] = row
	}
	return rows, nil
}

// read fills the row from one record and returns the name of the trace.
func (r *Row) read(header, record []string) (string, error) {
	name := ""
	counts := map[string]*int{
		"ops": &r.Ops, "malloc": &r.Malloc, "calloc": &r.Calloc, "realloc": &r.Realloc,
		"memalign": &r.Memalign, "free": &r.Free, "free_null": &r.FreeNull,
		"free_unknown": &r.FreeUnknown, "dup_id": &r.DupID, "failed": &r.Failed,
		"zero_size": &r.ZeroSize, "peak_live_blocks": &r.PeakLiveBlocks,
		"end_live_blocks": &r.EndLiveBlocks, "distinct_sizes": &r.DistinctSizes, "threads": &r.Threads,
	}
	sizes := map[string]*int64{
		"peak_live_bytes": &r.PeakLiveBytes, "end_live_bytes": &r.EndLiveBytes,
		"total_bytes": &r.TotalBytes, "max_request": &r.MaxRequest, "max_align": &r.MaxAlign,
		"p50": &r.P50, "p90": &r.P90, "p99": &r.P99,
	}
	missing := len(counts) + len(sizes)
	for i, column := range header {
		count, size := counts[column], sizes[column]
		switch {
		case column == "trace":
			name = record[i]
			continue
		case column == "header":
			r.Header = record[i]
			continue
		case count == nil && size == nil:
			return "", fmt.Errorf("expected the columns of STATS.csv, got %q", column)
		}
		n, err := strconv.ParseInt(record[i], 10, 64)
		if err != nil {
			return "", fmt.Errorf("column %s: expected a number, got %q", column, record[i])
		}
		if count != nil {
			*count = int(n)
		} else {
			*size = n
		}
		missing--
	}
	if name == "" || missing != 0 {
		return "", fmt.Errorf("expected the columns of STATS.csv, got %s", strings.Join(header, ","))
	}
	return name, nil
}

// knownRow looks up the answer for a file: a STATS.csv in the folder above the file's folder, with
// a row named folder/file. The answer is unknown if there is no such file or row, or if the
// STATS.csv has other columns.
func knownRow(path string) (Row, bool) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Row{}, false
	}
	folder := filepath.Dir(abs)
	rows, err := ReadStats(filepath.Join(filepath.Dir(folder), "STATS.csv"))
	if err != nil {
		return Row{}, false
	}
	row, ok := rows[filepath.Base(folder)+"/"+filepath.Base(abs)]
	return row, ok
}

// differences describes where got differs from want.
func (got Answer) differences(want Answer) []string {
	var list []string
	add := func(what string, got, want int64) {
		if got != want {
			list = append(list, fmt.Sprintf("%s %d want %d", what, got, want))
		}
	}
	add("peak live bytes", got.PeakLiveBytes, want.PeakLiveBytes)
	add("peak live blocks", int64(got.PeakLiveBlocks), int64(want.PeakLiveBlocks))
	add("live bytes at the end", got.EndLiveBytes, want.EndLiveBytes)
	add("live blocks at the end", int64(got.EndLiveBlocks), int64(want.EndLiveBlocks))
	return list
}
