package table

import (
	"math"
	"reflect"
	"unsafe"

	"quarry/layout"
)

// Numbers as keys. Bounds and ranges keep numbers of any type as words that compare as the numbers
// do, so that what uses them knows no Go type:
//
//	unsigned   the number
//	signed     the number with its sign bit turned
//	float      its bits as float64: all turned if it is negative, else the sign bit
//
// Float32 and all integers fit exactly. A NaN has no key and lies in no range. The keys of -0 and 0
// differ, though they are equal; LowKey and HighKey take the outer one.

// Number is the constraint on fields that have bounds.
type Number interface{ layout.Number | ~int | ~uint }

// KeyOf returns the key of a number that is not NaN.
func KeyOf[F Number](v F) uint64 {
	var zero F
	one := zero + 1
	switch {
	case one/2 != 0:
		b := math.Float64bits(float64(v))
		return b ^ (uint64(int64(b)>>63) | 1<<63)
	case zero-1 > 0:
		return uint64(v)
	}
	return uint64(int64(v)) ^ 1<<63
}

// LowKey returns the key of the lower end of a range.
func LowKey[F Number](v F) uint64 {
	if v == 0 && IsFloat[F]() {
		return 1<<63 - 1 // of -0
	}
	return KeyOf(v)
}

// HighKey returns the key of the upper end of a range.
func HighKey[F Number](v F) uint64 {
	if v == 0 && IsFloat[F]() {
		return 1 << 63 // of 0
	}
	return KeyOf(v)
}

// IsFloat reports whether F is a floating-point type.
func IsFloat[F Number]() bool {
	var zero F
	one := zero + 1
	return one/2 != 0
}

// Of returns the number with a key.
func Of[F Number](key uint64) F {
	var zero F
	one := zero + 1
	switch {
	case one/2 != 0:
		return F(math.Float64frombits(key ^ (^uint64(int64(key)>>63) | 1<<63)))
	case zero-1 > 0:
		return F(key)
	}
	return F(int64(key ^ 1<<63))
}

// Field is a number in the values of a type.
type Field struct {
	Offset uintptr      // bytes from the start of the value
	Kind   reflect.Kind // of the number: Int8 to Float64
}

// Extent is the least and the greatest of some numbers, as keys. Without numbers Least is greater
// than Greatest.
type Extent struct {
	Least, Greatest uint64
	NaNs            bool // there are others, which are NaN
}

// measure returns the extent of a field in n values from p on, stride bytes apart.
func (f Field) measure(p unsafe.Pointer, stride uintptr, n int) Extent {
	switch f.Kind {
	case reflect.Int8:
		return measure[int8](p, stride, n)
	case reflect.Int16:
		return measure[int16](p, stride, n)
	case reflect.Int32:
		return measure[int32](p, stride, n)
	case reflect.Int64, reflect.Int:
		return measure[int64](p, stride, n)
	case reflect.Uint8:
		return measure[uint8](p, stride, n)
	case reflect.Uint16:
		return measure[uint16](p, stride, n)
	case reflect.Uint32:
		return measure[uint32](p, stride, n)
	case reflect.Uint64, reflect.Uint:
		return measure[uint64](p, stride, n)
	case reflect.Float32:
		return measure[float32](p, stride, n)
	}
	return measure[float64](p, stride, n)
}

func measure[F Number](p unsafe.Pointer, stride uintptr, n int) Extent {
	var least, greatest F
	some, nans := false, false
	for i := range n {
		v := *(*F)(unsafe.Add(p, uintptr(i)*stride)) // Safe because n values lie there.
		switch {
		case v != v:
			nans = true
		case !some:
			least, greatest, some = v, v, true
		default:
			least, greatest = min(least, v), max(greatest, v)
		}
	}
	if !some {
		return Extent{Least: ^uint64(0), NaNs: nans}
	}
	return Extent{KeyOf(least), KeyOf(greatest), nans}
}

// Narrow clears the bits of rows whose field is not from low to high, which are keys. The column
// has n values from p on, stride bytes apart, and the mask a bit for each.
func (f Field) Narrow(p unsafe.Pointer, stride uintptr, n int, low, high uint64, mask []uint64) {
	switch f.Kind {
	case reflect.Int8:
		narrow[int8](p, stride, n, low, high, mask)
	case reflect.Int16:
		narrow[int16](p, stride, n, low, high, mask)
	case reflect.Int32:
		narrow[int32](p, stride, n, low, high, mask)
	case reflect.Int64, reflect.Int:
		narrow[int64](p, stride, n, low, high, mask)
	case reflect.Uint8:
		narrow[uint8](p, stride, n, low, high, mask)
	case reflect.Uint16:
		narrow[uint16](p, stride, n, low, high, mask)
	case reflect.Uint32:
		narrow[uint32](p, stride, n, low, high, mask)
	case reflect.Uint64, reflect.Uint:
		narrow[uint64](p, stride, n, low, high, mask)
	case reflect.Float32:
		narrow[float32](p, stride, n, low, high, mask)
	default:
		narrow[float64](p, stride, n, low, high, mask)
	}
}

func narrow[F Number](p unsafe.Pointer, stride uintptr, n int, low, high uint64, mask []uint64) {
	lo, hi := Of[F](low), Of[F](high)
	for i, word := range mask {
		if word == 0 {
			continue
		}
		in := uint64(0)
		for bit := range min(64, n-64*i) {
			v := *(*F)(unsafe.Add(p, uintptr(64*i+bit)*stride)) // Safe because n values lie there.
			if v >= lo && v <= hi {
				in |= 1 << bit
			}
		}
		mask[i] = word & in
	}
}
