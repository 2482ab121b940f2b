package simdisk

import (
	"bytes"
	"slices"
)

// blockBytes is what the bytes of a file are cut into.
const blockBytes = 16 << 10

// content is the bytes of a file. Blocks are never written to, so that copies share them; nil is a
// block of zeros, of which world files have many. Behind the end a block has zeros.
type content struct {
	blocks []*[blockBytes]byte
	size   int64
}

var zeroBlock [blockBytes]byte

func (c *content) clone() content { return content{slices.Clone(c.blocks), c.size} }

// cut makes the content shorter, or longer by zeros.
func (c *content) cut(size int64) {
	n := int((size + blockBytes - 1) / blockBytes)
	if size < c.size {
		c.blocks = c.blocks[:n]
		if rest := size % blockBytes; rest > 0 && c.blocks[n-1] != nil {
			b := new([blockBytes]byte)
			copy(b[:rest], c.blocks[n-1][:])
			c.blocks[n-1] = b
		}
	}
	for len(c.blocks) < n {
		c.blocks = append(c.blocks, nil)
	}
	c.size = size
}

// write writes bytes.
func (c *content) write(from []byte, at int64) {
	if end := at + int64(len(from)); end > c.size {
		c.cut(end)
	}
	for len(from) > 0 {
		block, first := int(at/blockBytes), int(at%blockBytes)
		n := min(len(from), blockBytes-first)
		if piece := from[:n]; c.blocks[block] != nil || !bytes.Equal(piece, zeroBlock[:n]) {
			b := new([blockBytes]byte)
			if c.blocks[block] != nil && n < blockBytes {
				*b = *c.blocks[block]
			}
			copy(b[first:], piece)
			c.blocks[block] = b
		}
		from, at = from[n:], at+int64(n)
	}
}

// read reads bytes, and returns how many there were.
func (c *content) read(to []byte, at int64) (n int) {
	to = to[:max(0, min(int64(len(to)), c.size-at))]
	for len(to) > 0 {
		block, first := int(at/blockBytes), int(at%blockBytes)
		from := &zeroBlock
		if c.blocks[block] != nil {
			from = c.blocks[block]
		}
		k := copy(to, from[first:])
		to, at, n = to[k:], at+int64(k), n+k
	}
	return n
}
