package city

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/scene"
)

// Next leads to the next building of the block.
type Next struct{ To ecs.Entity }

// Road leads to another block of the tile.
type Road struct{ To ecs.Entity }

// Bridge leads to a block of another tile.
type Bridge struct{ To ecs.Entity }

// register registers the types of the game.
func register(w *ecs.World) {
	ecs.Register[Building](w)
	ecs.Register[Next](w)
	ecs.Register[Road](w)
	ecs.Register[Bridge](w)
}

// newBakery returns a bakery that knows blocks.
func newBakery() (*scene.Bakery, error) {
	b, err := scene.NewBakery(register)
	if err == nil {
		scene.AddBaker(b, "block", bakeBlock)
	}
	return b, err
}

func bakeBlock(c *scene.Context, b Block) error {
	var all [buildings]ecs.Entity
	all[0] = c.Entity()
	for i := 1; i < len(all); i++ {
		all[i] = c.Create()
	}
	for i, e := range all {
		scene.Put(c, e, b.building(i))
		scene.Put(c, e, Next{all[(i+1)%len(all)]})
	}
	if b.Road != "" {
		scene.Put(c, all[0], Road{c.EntityOf(b.Road)})
	}
	if b.Bridge != "" {
		scene.Put(c, all[1], Bridge{c.EntityOf(b.Bridge)})
	}
	return nil
}

// bakeAll bakes a plan into a folder.
func bakeAll(p plan, folder string) (bytes int64, err error) {
	b, err := newBakery()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if _, err = b.Bake(folder, p.objects()); err != nil {
		return 0, err
	}
	return size(filepath.Join(folder, tile{}.name()+".world"))
}

// world is the city of a host.
type world struct {
	w      *ecs.World
	host   *scene.Host
	folder string
	tiles  map[tile]*scene.Instance
	all    *ecs.Query
	height ecs.Component[Building]
}

// room is what all sections need at once, each in granules of its own; under the race detector a
// world has 64 MiB by itself.
const room = 1 << 30

func newWorld(folder string) (*world, error) {
	u, err := alloc.NewUniverse(alloc.Size(room))
	if err != nil {
		return nil, err
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	c := &world{
		w: w, host: scene.NewHost(w, register), folder: folder, tiles: map[tile]*scene.Instance{},
		height: ecs.Register[Building](w),
	}
	c.all = ecs.NewQuery(w, ecs.Read(c.height))
	return c, nil
}

func (c *world) load(t tile) {
	c.tiles[t] = c.host.Load(filepath.Join(c.folder, t.name()+".world"))
}

func (c *world) unload(t tile) {
	c.tiles[t].Unload()
	delete(c.tiles, t)
}

func (c *world) update(budget time.Duration) bool { return c.host.Update(budget) }

func (c *world) there(t tile) (bool, error) {
	i := c.tiles[t]
	return i != nil && i.State() == scene.Loaded, i.Err()
}

func (c *world) loaded() (n int) {
	for _, i := range c.host.Instances() {
		if i.State() == scene.Loaded {
			n++
		}
	}
	return n
}

func (c *world) work() (sum float64) {
	for rows := range c.all.Rows() {
		for i := range c.height.Slice(rows) {
			sum += float64(c.height.Slice(rows)[i].Height)
		}
	}
	return sum
}

// answer adds up what is there.
func (c *world) answer() (a answer, err error) {
	if err := errors.Join(c.w.Verify(), c.host.Verify()); err != nil {
		return a, err
	}
	identity, next := ecs.Register[scene.Identity](c.w), ecs.Register[Next](c.w)
	road, bridge := ecs.Register[Road](c.w), ecs.Register[Bridge](c.w)
	nameOf := func(e ecs.Entity) name {
		if !c.w.Owns(e) || !c.w.Alive(e) {
			return name{} // Null, or of a section that is gone
		}
		id := identity.Get(e)
		return name{id.Object, id.Sub}
	}
	for _, e := range c.all.Entities(nil) {
		var over, along name
		if b := bridge.Get(e); b != nil {
			over = nameOf(b.To)
		}
		if r := road.Get(e); r != nil {
			along = nameOf(r.To)
		}
		n := next.Get(e)
		if n == nil {
			return a, fmt.Errorf("city: %v leads to no next building", e)
		}
		a.add(nameOf(e), *c.height.Get(e), nameOf(n.To), along, over)
	}
	return a, nil
}

func (c *world) close() error {
	return errors.Join(c.host.Close(), c.w.Close(), c.w.Universe().Close())
}
