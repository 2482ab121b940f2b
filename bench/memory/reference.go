package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"quarry/bench/input"
)

// errReference is wrapped by errors about a malformed REFERENCE.csv.
var errReference = errors.New("not a REFERENCE.csv")

// mostFigure bounds the figures, so that a number of calls fits an int.
const mostFigure = 1e18

// figure is what one C allocator did with one trace.
type figure struct {
	ops                  int
	peak                 float64 // live bytes
	nsPerOp, utilisation float64
}

// reference holds the figures of a REFERENCE.csv.
type reference struct {
	traces     []string // in the order of the file
	allocators []string // also in the order of the file
	rows       map[[2]string]figure
}

// readReference reads the file: a header line, then one row per trace and allocator. Columns may be
// in any order; unknown columns are skipped. A missing column or figure is an error with file and
// line.
func readReference(path string) (*reference, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := input.Records(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errReference, path, err)
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: %s:1: expected a header line, got the end of the file", errReference, path)
	}
	var column [6]int
	for i, name := range []string{"trace", "allocator", "ops", "peak_live_bytes", "ns_per_op_best", "utilisation"} {
		if column[i] = slices.Index(records[0], name); column[i] < 0 {
			return nil, fmt.Errorf("%w: %s:1: expected a column %s, got %q", errReference, path, name, records[0])
		}
	}
	ref := &reference{rows: map[[2]string]figure{}}
	for i, record := range records[1:] {
		var numbers [4]float64
		for k := range numbers {
			text := record[column[2+k]]
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !(v > 0 && v <= mostFigure) {
				return nil, fmt.Errorf("%w: %s:%d: column %s: expected a number above 0 and up to %g, got %q",
					errReference, path, i+2, records[0][column[2+k]], mostFigure, text)
			}
			numbers[k] = v
		}
		key := [2]string{record[column[0]], record[column[1]]}
		if _, ok := ref.rows[key]; ok {
			return nil, fmt.Errorf("%w: %s:%d: a second row of %s, %s", errReference, path, i+2, key[0], key[1])
		}
		ref.rows[key] = figure{int(numbers[0]), numbers[1], numbers[2], numbers[3]}
		if !slices.Contains(ref.traces, key[0]) {
			ref.traces = append(ref.traces, key[0])
		}
		if !slices.Contains(ref.allocators, key[1]) {
			ref.allocators = append(ref.allocators, key[1])
		}
	}
	return ref, nil
}

// has reports whether the file has rows of a trace.
func (r *reference) has(name string) bool { return slices.Contains(r.traces, name) }

// mean is the geometric mean of an allocator's column over all traces of the file or, with large,
// over the traces with a large peak. It is 0 if a figure is missing.
func (r *reference) mean(allocator string, column func(figure) float64, large bool) float64 {
	var list []float64
	for _, t := range r.traces {
		if f := r.rows[[2]string{t, allocator}]; !large || f.peak > largePeak {
			list = append(list, column(f))
		}
	}
	return geomean(list)
}

// geomean is the geometric mean; 0 for an empty list, or if a figure is not above 0.
func geomean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		if v <= 0 {
			return 0
		}
		sum += math.Log(v)
	}
	if len(list) == 0 {
		return 0
	}
	return math.Exp(sum / float64(len(list)))
}

// builtIn is the name of the trace that bench/trace generates.
const builtIn = "built-in"

// dataFolder finds the folder with recorded traces: alloc in the folder that QUARRY_DATA names, or
// else in shared/data of the nearest folder above that has one; "" if there is none.
func dataFolder() (string, error) {
	if data := os.Getenv("QUARRY_DATA"); data != "" {
		folder := filepath.Join(data, "alloc")
		if existing(folder) == "" {
			return "", fmt.Errorf("QUARRY_DATA is %q, expected a folder that has one named alloc", data)
		}
		return folder, nil
	}
	dir, err := os.Getwd()
	for err == nil {
		if found := existing(filepath.Join(dir, "shared", "data", "alloc")); found != "" {
			return found, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return "", nil
}

func existing(path string) string {
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
