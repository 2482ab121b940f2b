package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"quarry/bench/trace"
)

// The calls of a trace in a file, little-endian, so that each is parsed once and the program of C
// makes the same calls as the Go side:
//
//	offset  bytes
//	0       8      "QUARRY01"
//	8       8      number of calls
//	16      8      number of slots
//	24      8      index of the call after which most bytes are live
//	32      8      how many are
//	40      16     a call: size (4), slot (4), alignment (4), effect (1), is it a calloc (1), 0 (2)
//	...

// callsMagic begins a file of calls.
const callsMagic = "QUARRY01"

// maxBlock is the size of the largest block that a replay can keep books of.
const maxBlock = 1<<31 - 1

// readTrace reads a trace from a file, or generates it, and checks that a replay can keep books of
// it.
func readTrace(path string) (*trace.Trace, error) {
	t := trace.Demo()
	if path != builtIn {
		var err error
		if t, err = trace.Read(path); err != nil {
			return nil, err
		}
	}
	if s := t.Stats(); s.MaxRequest > maxBlock || s.MaxAlign > 1<<(alignClasses-1) {
		return nil, fmt.Errorf("%s: blocks of %d bytes aligned to %d, expected at most %d and %d",
			path, s.MaxRequest, s.MaxAlign, maxBlock, 1<<(alignClasses-1))
	}
	if !slices.ContainsFunc(t.Ops, func(op trace.Op) bool { return op.Effect() != trace.Nothing }) {
		return nil, fmt.Errorf("%s: expected a call that does something", path)
	}
	return t, nil
}

// writeCalls writes a file of calls for each recording into dir.
func writeCalls(list []recording, dir string) error {
	for i := range list {
		t, err := readTrace(list[i].path)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.calls", i))
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		err = newReplay(t, nil).writeTo(f)
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		list[i].calls = path
	}
	return nil
}

// Sizes of the file's parts, in bytes.
const (
	callsHeader = 40
	callSize    = 16
)

// writeTo writes the calls of a replay.
func (r *replay) writeTo(to io.Writer) error {
	w := bufio.NewWriter(to)
	b := []byte(callsMagic)
	for _, n := range []int64{int64(len(r.calls)), int64(len(r.blocks)), int64(r.peakAt), r.peak} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	_, _ = w.Write(b) // Flush returns the first error
	for i := range r.calls {
		c := &r.calls[i]
		zeroed := byte(0)
		if c.zeroed {
			zeroed = 1
		}
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(c.size))
		b = binary.LittleEndian.AppendUint32(b, c.slot)
		b = binary.LittleEndian.AppendUint32(b, uint32(c.align))
		_, _ = w.Write(append(b, byte(c.effect), zeroed, 0, 0))
	}
	return w.Flush()
}

// readReplay reads a file that writeCalls wrote.
func readReplay(path string, m memory) (*replay, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(b) < callsHeader || string(b[:len(callsMagic)]) != callsMagic {
		return nil, fmt.Errorf("%s: not a file of calls", path)
	}
	number := func(at int) int { return int(binary.LittleEndian.Uint64(b[at:])) }
	n := (len(b) - callsHeader) / callSize
	if number(8) != n || len(b) != callsHeader+n*callSize {
		return nil, fmt.Errorf("%s: %d bytes, expected %d and %d calls of %d",
			path, len(b), callsHeader, number(8), callSize)
	}
	r := &replay{
		calls: make([]call, n), blocks: make([]live, number(16)), peakAt: number(24), peak: int64(number(32)), m: m,
	}
	for i := range r.calls {
		c := b[callsHeader+i*callSize:]
		r.calls[i] = call{
			size: int32(binary.LittleEndian.Uint32(c)), slot: binary.LittleEndian.Uint32(c[4:]),
			align: int32(binary.LittleEndian.Uint32(c[8:])), effect: trace.Effect(c[12]), zeroed: c[13] == 1,
		}
	}
	return r, nil
}
