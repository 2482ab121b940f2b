package codec_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/codec"
)

// record has something of everything that a Coder codes.
type record struct {
	word   uint64
	number int
	half   uint32
	flag   bool
	text   string
	bytes  []byte
	words  []uint64
	halves []uint32
	list   []item
}

type item struct {
	number int
	text   string
}

func (r *record) code(c *codec.Coder) {
	c.Word(&r.word)
	c.Number(&r.number)
	c.Half(&r.half)
	c.Flag(&r.flag)
	c.Text(&r.text)
	c.Bytes(&r.bytes)
	c.Words(&r.words)
	c.Halves(&r.halves)
	codec.List(c, &r.list, func(i *item) {
		c.Number(&i.number)
		c.Text(&i.text)
	})
}

func full() record {
	return record{math.MaxUint64, 1<<48 - 1, math.MaxUint32, true, "a text", []byte{1, 0, 255}, []uint64{1, 1 << 63},
		[]uint32{7, 1 << 31, 0},
		[]item{{3, "x"}, {0, ""}}}
}

// TestBothWays: the values that are read are those that were written, and no byte is left.
func TestBothWays(t *testing.T) {
	for _, r := range []record{full(), {bytes: []byte{}, words: []uint64{}, halves: []uint32{}}} {
		var c codec.Coder
		want := r
		r.code(&c)
		require.Equal(t, want, r, "writing changes nothing")
		var got record
		in := codec.Coder{In: c.Out, Reading: true}
		got.code(&in)
		require.True(t, in.Ended())
		require.Equal(t, want, got)
	}
}

// TestInputIsNotTrusted: what is cut, goes on, or claims lengths beyond the input is bad, and takes
// no memory for them.
func TestInputIsNotTrusted(t *testing.T) {
	r := full()
	var c codec.Coder
	r.code(&c)
	for n := range c.Out {
		in, got := codec.Coder{In: c.Out[:n], Reading: true}, record{}
		got.code(&in)
		require.True(t, in.Bad, "cut after %d bytes", n)
		require.False(t, in.Ended())
	}
	in, got := codec.Coder{In: append(c.Out, 0), Reading: true}, record{}
	got.code(&in)
	require.False(t, in.Bad)
	require.False(t, in.Ended())
	long := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x3f} // 2^41 - 1
	for name, code := range map[string]func(c *codec.Coder){
		"bytes":  func(c *codec.Coder) { var b []byte; c.Bytes(&b) },
		"text":   func(c *codec.Coder) { var b string; c.Text(&b) },
		"words":  func(c *codec.Coder) { var b []uint64; c.Words(&b) },
		"halves": func(c *codec.Coder) { var b []uint32; c.Halves(&b) },
		"list":   func(c *codec.Coder) { var b []int; codec.List(c, &b, c.Number) },
		"half":   func(c *codec.Coder) { var b uint32; c.Half(&b) },
		"flag":   func(c *codec.Coder) { var b bool; c.Flag(&b) },
	} {
		c := codec.Coder{In: append(long, 1, 2, 3), Reading: true}
		allocated := testing.AllocsPerRun(1, func() {
			c = codec.Coder{In: append(long, 1, 2, 3), Reading: true}
			code(&c)
		})
		require.True(t, c.Bad, name)
		require.Less(t, allocated, 10.0, name)
	}
	c = codec.Coder{In: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, Reading: true}
	n := 5
	c.Number(&n)
	require.True(t, c.Bad)
	require.Zero(t, n)
}
