package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Entries: the key and the value of a number.
//
//	number 7 --> "page:/articles/00000000007/comments?p=1" --> | mark, 8 B | a part of noise | 100 B to 2 KiB
//
//	N1 key and value follow from the number alone, so that each hit can be checked
//	N2 keys have 16 to 39 bytes, values 100 to 2,048: log-normal, half of them below 400
//	N3 the numbers that 8 divides are sessions, which have a lifetime; all others live on

const (
	valueLeast  = 100  // bytes
	valueMiddle = 400  // half of the values are smaller
	valueMost   = 2048 // bytes
	valueSpread = 0.7  // the standard deviation of the size's logarithm
	markBytes   = 8
	noiseBytes  = 64 << 10
)

// sessionTime is long beside a run: within one, nothing expires but entries of expiry.go.
const sessionTime = 10 * time.Minute

const sessionPrefix = "session:"

// entries makes keys and values, and checks them. Goroutines share it.
type entries struct {
	sizes [4096]uint16 // quantiles of the sizes of values
	noise []byte
}

func newEntries() *entries {
	e := &entries{noise: make([]byte, noiseBytes)}
	for i := range e.sizes {
		p := (float64(i) + 0.5) / float64(len(e.sizes))
		size := valueMiddle * math.Exp(valueSpread*math.Sqrt2*math.Erfinv(2*p-1))
		e.sizes[i] = uint16(min(max(size, valueLeast), valueMost))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(e.noise); i += 8 {
		binary.LittleEndian.PutUint64(e.noise[i:], r.Uint64())
	}
	return e
}

// mix spreads a number over 64 bits, as SplitMix64 does.
func mix(n uint32) uint64 {
	z := uint64(n) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// key appends the key of a number.
func (e *entries) key(n uint32, into []byte) []byte {
	switch n % 8 {
	case 0:
		return padded(append(into, sessionPrefix...), n)
	case 1, 2, 3:
		return padded(append(into, "user:"...), n)
	case 4, 5, 6:
		return append(padded(append(into, "item:"...), n), ":price:EUR"...)
	}
	return append(padded(append(into, "page:/articles/"...), n), "/comments?p=1"...)
}

// padded appends 11 digits.
func padded(into []byte, n uint32) []byte {
	const most = 100_000_000_000 // with a digit more, which becomes the first one
	at := len(into)
	into = strconv.AppendUint(into, most+uint64(n), 10)
	return append(into[:at], into[at+1:]...)
}

// size is the size of a number's value.
func (e *entries) size(n uint32) int { return int(e.sizes[mix(n)>>52]) }

// value appends the value of a number.
func (e *entries) value(n uint32, into []byte) []byte {
	m := mix(n)
	into = binary.LittleEndian.AppendUint64(into, m)
	return append(into, e.rest(n, m)...)
}

// rest is what follows the mark in a value.
func (e *entries) rest(n uint32, mark uint64) []byte {
	at := int(mark % (noiseBytes - valueMost))
	return e.noise[at : at+e.size(n)-markBytes]
}

// check compares the length of a value, its mark, and 16 bytes in the middle and at the end.
func (e *entries) check(n uint32, value []byte) error {
	m := mix(n)
	if len(value) != e.size(n) {
		return fmt.Errorf("the value of %s has %d bytes, want %d", e.key(n, nil), len(value), e.size(n))
	}
	rest, want := value[markBytes:], e.rest(n, m)
	half, end := len(rest)/2, len(rest)-16
	if binary.LittleEndian.Uint64(value) != m || !bytes.Equal(rest[half:half+16], want[half:half+16]) ||
		!bytes.Equal(rest[end:], want[end:]) {
		return fmt.Errorf("the value of %s is not the one that was set", e.key(n, nil))
	}
	return nil
}

// lifetime is how long the entry of a key lives; 0: as long as the cache.
func lifetime(key string) time.Duration {
	if strings.HasPrefix(key, sessionPrefix) {
		return sessionTime
	}
	return 0
}

// mean is the mean number of bytes of key and value together.
func (e *entries) mean() float64 {
	const n = 1 << 16
	sum := 0
	var key []byte
	for i := range uint32(n) {
		key = e.key(i, key[:0])
		sum += len(key) + e.size(i)
	}
	return float64(sum) / n
}
