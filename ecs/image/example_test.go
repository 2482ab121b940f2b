package image_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/image"
)

// Types of a shop as an older program had them, and as the program has them now.
type (
	Stall  struct{ Row, Place int16 }
	Booth  struct{ Row, Place int32 }
	Stamp  struct{ Year int16 }
	Ticket struct{ Number uint64 }
	Hall   struct{ Name string }
)

// saveFair saves the world of an older program, and returns the path of its file.
func saveFair(folder string) string {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	stall, stamp := ecs.Register[Stall](w), ecs.Register[Stamp](w)
	ticket, hall := ecs.Register[Ticket](w), ecs.RegisterShared[Hall](w)
	stalls, err := ecs.NewArchetype(w, stall, stamp, ticket, hall.Of(Hall{"north"})).CreateN(100)
	if err != nil {
		panic(err)
	}
	w.Destroy(stalls.Entities(nil)[7])
	path := filepath.Join(folder, "fair.world")
	if err := image.SaveFile(w, path); err != nil {
		panic(err)
	}
	return path
}

// What would become of each type of an old file, before a program opens it.
func ExampleTypePlan() {
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := saveFair(folder)
	plans, err := image.Plan(path, func(w *ecs.World) {
		ecs.Register[Booth](w)
		ecs.RegisterShared[Hall](w)
	}, image.Renamed("Stall", "Booth"), image.Drop("Stamp"))
	if err != nil {
		panic(err)
	}
	for _, p := range plans {
		switch p.Fate {
		case image.Converted:
			fmt.Println(p.Kind, filepath.Base(p.Name), "becomes", filepath.Base(p.To))
			for _, note := range p.Notes {
				fmt.Println("\t" + note)
			}
		case image.Dropped:
			fmt.Println(p.Kind, filepath.Base(p.Name), "is lost")
		case image.Refused:
			fmt.Println(p.Kind, filepath.Base(p.Name), "is refused:", errors.Is(p.Err, image.ErrTypes))
		}
	}
	// Output:
	// component image_test.Stall becomes image_test.Booth
	// 	Row int16 becomes Row int32
	// 	Place int16 becomes Place int32
	// component image_test.Stamp is lost
	// component image_test.Ticket is refused: true
}

// Two worlds of one file lie in one universe; each keeps the types that this program does not know.
func ExampleInto() {
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := saveFair(folder)
	u, err := alloc.NewUniverse(alloc.Size(64 << 20))
	if err != nil {
		panic(err)
	}
	register := func(w *ecs.World) { ecs.Register[Stall](w) }
	growth := ecs.ChunkGrowth(alloc.Fixed(1))
	today, err := image.Open(path, register, image.Into(u), image.KeepUnknown())
	if err != nil {
		panic(err)
	}
	tomorrow, err := image.Open(path, register, image.Into(u), image.KeepUnknown(), image.World(growth))
	if err != nil {
		panic(err)
	}
	tomorrow.DestroyQuery(ecs.NewQuery(tomorrow, ecs.With(ecs.Register[Stall](tomorrow))))
	fmt.Println(today.Stats().Alive, tomorrow.Stats().Alive)
	fmt.Println(errors.Join(today.Close(), tomorrow.Close(), u.Close()))
	// Output:
	// 99 0
	// <nil>
}

// What is in a file, for a program that knows none of its types, and where it is damaged.
func ExampleDescribe() {
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := saveFair(folder)
	info, err := image.Describe(path)
	if err != nil {
		panic(err)
	}
	fmt.Println(info.Entities, "entities,", info.Free > 0, "that ids are free")
	for _, t := range info.Types {
		if t.Name == "quarry/ecs/image_test.Stall" {
			for _, f := range t.Fields {
				fmt.Println(f.Name, f.Kind, "at", f.Offset, "of", f.Size, "bytes")
			}
		}
	}
	for _, a := range info.Archetypes {
		for _, v := range a.Shared {
			fmt.Println(a.Rows, "rows of", info.Types[v.Type].Name, v.Text, len(v.Bytes) > 0)
		}
	}

	last := info.Sections[len(info.Sections)-1]
	file, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	file[last.Offset] ^= 1
	if err := os.WriteFile(path, file, 0o600); err != nil {
		panic(err)
	}
	info, err = image.Describe(path, image.Checked())
	fmt.Println(errors.Is(err, image.ErrFile))
	for _, s := range info.Sections {
		if s.Err != nil {
			fmt.Println(s.Name == last.Name, s.State)
		}
	}
	// Output:
	// 99 entities, true that ids are free
	// Row int16 at 0 of 2 bytes
	// Place int16 at 2 of 2 bytes
	// 99 rows of quarry/ecs/image_test.Hall {Name:"north"} true
	// true
	// true damaged
}

// A file that a program writes and opens itself: its records are believed, or nothing is mapped.
func ExampleTrusted() {
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := saveFair(folder)
	for _, option := range []image.Option{image.Trusted(), image.InMemory()} {
		var ticket ecs.Component[Ticket]
		w, err := image.Open(path, func(w *ecs.World) {
			ecs.Register[Stall](w)
			ecs.Register[Stamp](w)
			ticket = ecs.Register[Ticket](w)
			ecs.RegisterShared[Hall](w)
		}, option)
		if err != nil {
			panic(err)
		}
		fmt.Println(ecs.NewQuery(w, ecs.Write(ticket)).Count(), "tickets")
		if err := w.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// 99 tickets
	// 99 tickets
}
