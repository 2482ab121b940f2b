// Package scene makes files of worlds from authoring data, and brings them into a world that runs
// and takes them out again.
//
//	b, err := scene.NewBakery(register)                     // the types of the game
//	scene.AddBaker(b, "house", func(c *scene.Context, h House) error {
//		scene.Put(c, c.Entity(), Position{h.X, h.Y})        // entities of an authoring struct
//		return nil
//	})
//	report, err := b.Bake("build", objects)                 // build/east.world and others
//
//	host := scene.NewHost(w, register)                      // in the game
//	east := host.Load("build/east.world")                   // read by a goroutine
//	host.Update(time.Millisecond)                           // each frame: moves in what is read
//	inn := east.Entity("inn")
//	east.Unload()
//
// A bakery keeps the result of each object's bakers, and their inputs; a later bake calls those for
// which that has changed, and writes the files that differ. They are the same, byte for byte, as if
// all had been baked. A file is a world file (ecs/image), which programs may open alone too.
//
// A file holds a section of the scene, in parts of about 8,192 entities. Parts move into the host's
// world by their chunks; entities are hidden by ecs.DisabledEntity until all are there. Each has an
// Identity, which is the same in every program and after every bake, and a Tag with the number of
// the loading. Rows of entities with a position of 8 B:
//
//	16384 B chunk, 64 B lines, 512 rows of 32 B, 100.0 % used
//	offset   bytes     pad  column
//	     0    4096       0  Entity 512 x 8 B
//	  4096    8192       0  Identity 512 x 16 B
//	 12288    4096       0  Position 512 x 8 B
//	beside the chunk: 12 B of versions, 0 B of enable masks
//
// Entity values lead to entities of other parts and sections too, in all kinds of types but shared
// and chunk types. While a section is not loaded, those that lead to it are Null or dead. Update
// sets a link whenever both ends are there, unless it leads to something that lives.
//
// With Host.LiveLink, Instance.Reload applies the changes of a new bake to a section that is
// loaded, and keeps the game's own changes elsewhere.
//
// Ownership: entities of a section belong to the world, as any. Unload destroys those with the Tag.
// A bakery owns the worlds in which it assembles files. Close the host before its world.
// World.Verify looks at the universe, so it is for when no loader runs.
//
// Goroutines: bakers run in several, each with a Context of its own. A Bakery is for one at a time;
// a Host and its instances belong to the world's owner. Loaders are goroutines of the host, which
// call the function that registers types.
//
// Failure: errors of a bake name the object, its place in the input and the baker (Error), and no
// file has changed. A section that cannot be loaded is Failed, Err is the reason, and the world has
// nothing of it. Garbage collector: records of bakers are Go memory; a loaded section keeps 24 B an
// entity, without pointers.
//
// Cost, two cores of a virtual machine: .02 to .08 us an entity to move in, 20 us to unload 20,000;
// beside busy loaders more, see docs/performance.md. A file has 2 MiB for each started 2 MiB of
// rows, and 4 MiB besides.
package scene
