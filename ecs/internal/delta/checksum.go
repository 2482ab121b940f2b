package delta

import (
	"hash/crc32"

	"quarry/ecs/internal/world"
)

// checksum is the checksum of bytes that come in pieces. Small pieces are put together first: the
// sum of 16 bytes takes as long as that of 500.
type checksum struct {
	sum  uint32 // of what came before part
	n    int    // bytes in part
	part [1024]byte
}

// add adds bytes.
func (c *checksum) add(b []byte) {
	if len(b) > len(c.part)-c.n {
		c.end()
		if len(b) > len(c.part)/2 {
			c.sum = crc32.Update(c.sum, world.Castagnoli, b)
			return
		}
	}
	c.n += copy(c.part[c.n:], b)
}

// end returns the sum of all bytes; more may come.
func (c *checksum) end() uint32 {
	if c.n > 0 {
		c.sum = crc32.Update(c.sum, world.Castagnoli, c.part[:c.n])
		c.n = 0
	}
	return c.sum
}
