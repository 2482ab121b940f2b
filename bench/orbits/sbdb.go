package orbits

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// sbdbRow is the size of a row of ReadSBDB's format, bytes.
const sbdbRow = 32

// ReadSBDB reads orbits in a packed binary form of the JPL Small-Body Database: rows of eight
// little-endian 32-bit floats, a (au), e, i, node, argument of perihelion, mean anomaly at the
// epoch (rad), mean motion (rad/day) and absolute magnitude H, which is not kept. There is no
// header; epoch is the Julian date of all rows. An error names the row, from 0, and what was wrong;
// there may be 20 million rows. Memory is 64 bytes per row, and up to twice that while the list
// grows.
func ReadSBDB(name string, r io.Reader, epoch float64) ([]Elements, error) {
	return readSBDB(name, r, epoch, maxBodies)
}

func readSBDB(name string, r io.Reader, epoch float64, most int) ([]Elements, error) {
	in := bufio.NewReader(r)
	var bodies []Elements
	for row := 0; ; row++ {
		var b [sbdbRow]byte
		n, err := io.ReadFull(in, b[:])
		if errors.Is(err, io.EOF) {
			return bodies, nil
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("%s: row %d: expected %d bytes, got %d", name, row, sbdbRow, n)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", name, row, err)
		}
		if row == most {
			return nil, fmt.Errorf("%s: row %d: expected at most %d rows: cut the file before this one",
				name, row, most)
		}
		field := func(k int) float64 {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:])))
		}
		el := Elements{
			A: field(0), E: field(1), I: field(2), Node: field(3), Peri: field(4),
			M: field(5), N: field(6), Epoch: epoch,
		}
		if err := el.Check(); err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", name, row, err)
		}
		bodies = append(bodies, el)
	}
}
