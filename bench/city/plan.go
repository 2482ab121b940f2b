package city

import (
	"fmt"
	"math"

	"quarry/ecs/scene"
)

const (
	side      = 8  // tiles along a side of the city
	buildings = 20 // of a block
	tileSize  = 512
	around    = 9 // tiles that are there at once
)

// tile is where a tile is.
type tile struct{ x, y int }

func (t tile) name() string { return fmt.Sprintf("tile-%d-%d", t.x, t.y) }

// inside reports whether the city has the tile.
func (t tile) inside() bool { return t.x >= 0 && t.y >= 0 && t.x < side && t.y < side }

// plan is a city that is to be built.
type plan struct {
	columns, rows int // of blocks of a tile
}

// Block is authoring data. Ids are those of other blocks, or "".
type Block struct {
	X, Y   float32 // of its corner
	Seed   uint32
	Road   string // to another block of the tile
	Bridge string // to a block of another tile
}

// Building is what a block has 20 of.
type Building struct {
	X, Y, Height float32
	Kind         uint32
}

// building returns a building of a block.
func (b *Block) building(i int) Building {
	s := scramble(uint64(b.Seed)<<32 | uint64(i))
	return Building{
		X: b.X + float32(i%5), Y: b.Y + float32(i/5),
		Height: float32(3 + s%200), Kind: uint32(s >> 32),
	}
}

// id is the id of a block: a number among those of its tile.
func (t tile) id(block int) string { return fmt.Sprintf("%d.%d.%d", t.x, t.y, block) }

// blocks returns the blocks of a tile.
func (p plan) blocks(t tile) []Block {
	list := make([]Block, p.columns*p.rows)
	for i := range list {
		x, y := i%p.columns, i/p.columns
		seed := scramble(uint64(t.x)<<40 | uint64(t.y)<<32 | uint64(i))
		list[i] = Block{
			X:    float32(t.x*tileSize) + float32(x*tileSize)/float32(p.columns),
			Y:    float32(t.y*tileSize) + float32(y*tileSize)/float32(p.rows),
			Seed: uint32(seed),
			Road: t.id(int(seed>>32) % len(list)),
		}
		if to, block := p.bridge(t, x, y); to.inside() {
			list[i].Bridge = to.id(block)
		}
	}
	return list
}

// bridge returns where the block at a place of the tile leads to: the block beside it in the tile
// beside. A tile that is not inside means none.
func (p plan) bridge(t tile, x, y int) (to tile, block int) {
	switch {
	case x == 0:
		return tile{t.x - 1, t.y}, y*p.columns + p.columns - 1
	case x == p.columns-1:
		return tile{t.x + 1, t.y}, y * p.columns
	case y == 0:
		return tile{t.x, t.y - 1}, (p.rows-1)*p.columns + x
	case y == p.rows-1:
		return tile{t.x, t.y + 1}, x
	}
	return tile{-1, -1}, 0
}

// objects returns all blocks as authoring data.
func (p plan) objects() []scene.Object {
	all := make([]scene.Object, 0, side*side*p.columns*p.rows)
	for _, t := range tiles() {
		for i, b := range p.blocks(t) {
			all = append(all, scene.Object{ID: t.id(i), Section: t.name(), Place: t.id(i), Value: b})
		}
	}
	return all
}

// tiles returns all tiles.
func tiles() []tile {
	list := make([]tile, 0, side*side)
	for y := range side {
		for x := range side {
			list = append(list, tile{x, y})
		}
	}
	return list
}

// camera returns the tile under the camera in a frame.
func camera(frame, frames int) tile {
	at := float64(frame) / float64(frames)
	x := 4 + 3.4*math.Sin(3*math.Pi*at+.5)
	y := 4 + 3.4*math.Sin(2*math.Pi*at+1)
	return tile{int(x), int(y)}
}

// near returns the tiles around one, itself included, that the city has.
func (t tile) near() []tile {
	list := make([]tile, 0, around)
	for y := t.y - 1; y <= t.y+1; y++ {
		for x := t.x - 1; x <= t.x+1; x++ {
			if n := (tile{x, y}); n.inside() {
				list = append(list, n)
			}
		}
	}
	return list
}

// scramble is the finalizer of splitmix64 (Steele et al., OOPSLA 2014).
func scramble(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
