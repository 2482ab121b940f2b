package city

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"quarry/ecs/scene"
)

// A tile's file of the plain side: a checksum of what follows, and rows, little endian.
//
//	offset  0        8      12   16   20       24     28           32      40       48
//	        +--------+------+----+----+--------+------+------------+-------+--------+
//	        | object | sub  | X  | Y  | Height | Kind | next, a row| road  | bridge |
//	        +--------+------+----+----+--------+------+------------+-------+--------+
//	                                                               ids of objects; 0: none
const rowBytes = 48

// house is a building of the plain side.
type house struct {
	Building
	name
	next, road, bridge *house
}

// district is a tile of the plain side.
type district struct {
	houses  []house
	byID    map[uint64]*house // the first of each block
	bridges []span
}

// span is a bridge, whether it leads anywhere yet or not.
type span struct {
	from *house
	to   uint64
}

// writePlain writes the files of the plain side.
func writePlain(p plan, folder string) (bytes int64, err error) {
	for _, t := range tiles() {
		b := make([]byte, 4, 4+p.columns*p.rows*buildings*rowBytes)
		for i, block := range p.blocks(t) {
			for k := range buildings {
				v, le := block.building(k), binary.LittleEndian
				b = le.AppendUint64(b, scene.ObjectID(t.id(i)))
				b = le.AppendUint32(b, uint32(k))
				for _, f := range [...]float32{v.X, v.Y, v.Height} {
					b = le.AppendUint32(b, math.Float32bits(f))
				}
				b = le.AppendUint32(b, v.Kind)
				b = le.AppendUint32(b, uint32(i*buildings+(k+1)%buildings))
				var road, bridge uint64
				if k == 0 && block.Road != "" {
					road = scene.ObjectID(block.Road)
				}
				if k == 1 && block.Bridge != "" {
					bridge = scene.ObjectID(block.Bridge)
				}
				b = le.AppendUint64(le.AppendUint64(b, road), bridge)
			}
		}
		binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
		if err := os.WriteFile(filepath.Join(folder, t.name()+".plain"), b, 0o644); err != nil {
			return 0, err
		}
		bytes = int64(len(b))
	}
	return bytes, nil
}

// readPlain reads a tile's file.
func readPlain(path string) (*district, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	if len(b) < 4 || (len(b)-4)%rowBytes != 0 || le.Uint32(b) != crc32.ChecksumIEEE(b[4:]) {
		return nil, fmt.Errorf("city: %s: damaged", path)
	}
	b = b[4:]
	n := len(b) / rowBytes
	d := &district{houses: make([]house, n), byID: make(map[uint64]*house, n/buildings)}
	float := func(b []byte) float32 { return math.Float32frombits(le.Uint32(b)) }
	for i := range d.houses {
		r, h := b[i*rowBytes:][:rowBytes], &d.houses[i]
		h.name = name{le.Uint64(r), le.Uint32(r[8:])}
		h.Building = Building{float(r[12:]), float(r[16:]), float(r[20:]), le.Uint32(r[24:])}
		h.next = &d.houses[le.Uint32(r[28:])]
		if h.sub == 0 {
			d.byID[h.object] = h
		}
		if to := le.Uint64(r[40:]); to != 0 {
			d.bridges = append(d.bridges, span{h, to})
		}
	}
	for i := range d.houses {
		if to := le.Uint64(b[i*rowBytes+32:]); to != 0 {
			d.houses[i].road = d.byID[to]
		}
	}
	return d, nil
}

// plain is the city of the Go heap.
type plain struct {
	folder   string
	tiles    map[tile]*district // nil: it is read
	failed   map[tile]error
	mu       sync.Mutex
	arrived  []arrival
	slots    chan struct{} // as many loaders at a time as a host has
	loading  sync.WaitGroup
	attempts map[tile]int
}

// arrival is what a loader has read.
type arrival struct {
	tile    tile
	attempt int
	*district
	err error
}

func newPlain(folder string) *plain {
	return &plain{folder: folder, tiles: map[tile]*district{}, failed: map[tile]error{}, slots: make(chan struct{}, 2),
		attempts: map[tile]int{}}
}

func (c *plain) load(t tile) {
	c.tiles[t] = nil
	c.attempts[t]++
	attempt := c.attempts[t]
	c.loading.Go(func() {
		c.slots <- struct{}{}
		d, err := readPlain(filepath.Join(c.folder, t.name()+".plain"))
		<-c.slots
		c.mu.Lock()
		c.arrived = append(c.arrived, arrival{t, attempt, d, err})
		c.mu.Unlock()
	})
}

func (c *plain) unload(t tile) {
	gone := c.tiles[t]
	delete(c.tiles, t)
	if gone == nil {
		return
	}
	for _, n := range t.near() {
		if d := c.tiles[n]; d != nil {
			for _, b := range d.bridges {
				if _, was := gone.byID[b.to]; was {
					b.from.bridge = nil
				}
			}
		}
	}
}

func (c *plain) update(time.Duration) (more bool) {
	c.mu.Lock()
	list := c.arrived
	c.arrived = nil
	c.mu.Unlock()
	for _, a := range list {
		if old, wanted := c.tiles[a.tile]; !wanted || old != nil || a.attempt != c.attempts[a.tile] {
			continue // it was unloaded while it was read
		}
		if a.err != nil {
			c.failed[a.tile] = a.err
			continue
		}
		c.tiles[a.tile] = a.district
		for _, n := range a.tile.near() {
			if d := c.tiles[n]; d != nil && n != a.tile {
				d.connect(a.district)
				a.connect(d)
			}
		}
	}
	for _, d := range c.tiles {
		if d == nil {
			return true
		}
	}
	return false
}

// connect builds the bridges of a tile to another.
func (d *district) connect(to *district) {
	for _, b := range d.bridges {
		if h := to.byID[b.to]; h != nil {
			b.from.bridge = h
		}
	}
}

func (c *plain) there(t tile) (bool, error) { return c.tiles[t] != nil, c.failed[t] }

func (c *plain) loaded() (n int) {
	for _, d := range c.tiles {
		if d != nil {
			n++
		}
	}
	return n
}

func (c *plain) work() (sum float64) {
	for _, d := range c.tiles {
		if d != nil {
			for i := range d.houses {
				sum += float64(d.houses[i].Height)
			}
		}
	}
	return sum
}

func (c *plain) answer() (a answer, err error) {
	nameOf := func(h *house) name {
		if h == nil {
			return name{}
		}
		return h.name
	}
	for _, d := range c.tiles {
		if d == nil {
			return a, errors.New("city: a tile is not there yet")
		}
		for i := range d.houses {
			h := &d.houses[i]
			a.add(h.name, h.Building, nameOf(h.next), nameOf(h.road), nameOf(h.bridge))
		}
	}
	return a, nil
}

func (c *plain) close() error { c.loading.Wait(); return nil }

// size returns the size of a file.
func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
