package blob_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/blob"
)

// Track is what the drawing in the package comment shows.
type Track struct {
	Name  blob.String
	Keys  blob.Array[Key]
	First blob.Ref[Key]
}

// Key is a point of a Track.
type Key struct{ Time, Value float32 }

// The block of the drawing in the package comment.
func Example_drawing() {
	b := blob.NewBuilder[Track]()
	t := b.Root()
	blob.SetString(b, &t.Name, "door")
	keys := blob.Allocate(b, &t.Keys, 3)
	keys[1] = Key{.5, 90}
	blob.Point(b, &t.First, &keys[1])
	fmt.Print(b)
	// Output:
	// offset   bytes
	//      0      16  type, length
	//     16      24  Track
	//     40       4  Track.Name  4 x uint8 1 B
	//     44      24  Track.Keys  3 x Key 8 B
	//     68     130  layout as text
}

// Two doors share one curve, and the world keeps it until nothing holds it.
func Example() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	tracks, err := blob.NewStore(w, blob.Type[Track]())
	if err != nil {
		panic(err)
	}
	type Door struct{ Opens blob.Blob[Track] }
	door := ecs.Register[Door](w)

	b := blob.NewBuilder[Track]()
	blob.SetString(b, &b.Root().Name, "opens")
	copy(blob.Allocate(b, &b.Root().Keys, 2), []Key{{0, 0}, {.5, 90}})
	for range 2 {
		opens, err := blob.Add(tracks, b) // the second time, the same blob
		if err != nil {
			panic(err)
		}
		door.Set(ecs.NewArchetype(w, door).Create(), Door{opens})
	}
	q := ecs.NewQuery(w, ecs.Read(door))
	for rows := range q.Rows() {
		for _, d := range door.Slice(rows) {
			t := d.Opens.Get(tracks)
			fmt.Println(&t.Name, t.Keys.Slice(), d.Opens.Count(tracks))
		}
	}
	fmt.Println(tracks.Sweep(), w.DestroyQuery(q), tracks.Sweep())
	// Output:
	// opens [{0 0} {0.5 90}] 2
	// opens [{0 0} {0.5 90}] 2
	// 0 2 1
}
