package command

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// drawn are numbers that a fuzzer chose, and random ones behind them.
type drawn struct {
	data []byte
	rest *rand.PCG
}

func (d *drawn) Uint64() uint64 {
	if len(d.data) < 2 {
		return d.rest.Uint64()
	}
	v := binary.LittleEndian.Uint16(d.data)
	d.data = d.data[2:]
	return uint64(v)<<48 | uint64(v)<<16 // IntN takes the upper bits of either half
}

// FuzzCommands is the twin with orders that the fuzzer chooses.
func FuzzCommands(f *testing.F) {
	f.Add([]byte("\x80\x00Create, Instantiate, Destroy and so on, two bytes a choice"), true, true)
	f.Add([]byte{}, false, false)
	f.Fuzz(func(t *testing.T, data []byte, queries, groups bool) {
		upTo := doDestroyQuery
		if queries {
			upTo = orders
		}
		runOrders(t, rand.New(&drawn{data, rand.NewPCG(1, 1)}), upTo, groups)
	})
}
