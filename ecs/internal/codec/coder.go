package codec

import (
	"encoding/binary"
	"math"
)

// Coder codes one part of a state after the other, in either direction. The zero Coder appends to
// Out; one with Reading set takes from In. So a function that codes a part with it is both its
// writer and its reader, and the two cannot differ.
type Coder struct {
	Out, In []byte
	Reading bool
	Bad     bool // In was not what was expected; all further values are zero
}

// Fail marks the input as malformed.
func (c *Coder) Fail() { c.Bad, c.In = true, nil }

// Ended reports whether all of the input was read, and was what was expected.
func (c *Coder) Ended() bool { return !c.Bad && len(c.In) == 0 }

// Word codes a number.
func (c *Coder) Word(p *uint64) {
	if !c.Reading {
		c.Out = binary.AppendUvarint(c.Out, *p)
		return
	}
	if len(c.In) > 0 && c.In[0] < 1<<7 { // as most are
		*p, c.In = uint64(c.In[0]), c.In[1:]
		return
	}
	v, n := binary.Uvarint(c.In)
	if n <= 0 {
		v, n = 0, 0
		c.Fail()
	}
	*p, c.In = v, c.In[n:]
}

// Number codes a number that is not negative; those that are read are below 2^48.
func (c *Coder) Number(p *int) {
	v := uint64(*p)
	c.Word(&v)
	if v >= 1<<48 {
		v = 0
		c.Fail()
	}
	*p = int(v)
}

// Half codes a number of 32 bits.
func (c *Coder) Half(p *uint32) {
	v := uint64(*p)
	c.Word(&v)
	if v > math.MaxUint32 {
		v = 0
		c.Fail()
	}
	*p = uint32(v)
}

// Bytes codes bytes. Those that are read are part of the input.
func (c *Coder) Bytes(p *[]byte) {
	n := len(*p)
	c.Number(&n)
	switch {
	case !c.Reading:
		c.Out = append(c.Out, *p...)
	case n > len(c.In):
		*p = nil
		c.Fail()
	default:
		*p, c.In = c.In[:n:n], c.In[n:]
	}
}

// Text codes a text.
func (c *Coder) Text(p *string) {
	b := []byte(*p)
	c.Bytes(&b)
	*p = string(b)
}

// List codes a list. A list that is read grows as items come, so that its length costs nothing.
func List[T any](c *Coder, list *[]T, item func(*T)) {
	n := len(*list)
	c.Number(&n)
	for i := 0; i < n && !c.Bad; i++ {
		if c.Reading {
			*list = append(*list, *new(T))
		}
		item(&(*list)[i])
	}
}

// Flag codes a truth value.
func (c *Coder) Flag(p *bool) {
	v := uint64(0)
	if *p {
		v = 1
	}
	if c.Word(&v); v > 1 {
		v = 0
		c.Fail()
	}
	*p = v == 1
}

// Words codes a list of words, 8 bytes each.
func (c *Coder) Words(list *[]uint64) { array(c, list, 8) }

// Halves codes a list of words of 32 bits, 4 bytes each.
func (c *Coder) Halves(list *[]uint32) { array(c, list, 4) }

// array codes a list of numbers of size bytes each.
func array[T uint32 | uint64](c *Coder, list *[]T, size int) {
	n := len(*list)
	if c.Number(&n); !c.Reading {
		c.Out, _ = binary.Append(c.Out, binary.LittleEndian, *list) // which has a fixed size
		return
	}
	if n > len(c.In)/size {
		n = 0
		c.Fail()
	}
	*list = make([]T, n)
	_, _ = binary.Decode(c.In, binary.LittleEndian, *list) // for which there are bytes
	c.In = c.In[size*n:]
}
