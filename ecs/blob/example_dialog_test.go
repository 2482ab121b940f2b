package blob_test

import (
	"bytes"
	"fmt"
	"os"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/image"
	"quarry/ecs/job"
)

// Line is a line of a dialog, and what is said next.
type Line struct {
	Text blob.String
	Next blob.Ref[Line]
}

// dialog returns a builder of two lines.
func dialog() *blob.Builder[Line] {
	b := blob.NewBuilder[Line]()
	blob.SetString(b, &b.Root().Text, "halt!")
	next := blob.New(b, &b.Root().Next)
	blob.SetString(b, &next.Text, "who goes there?")
	return b
}

// Lines of a dialog lead to each other inside one block. They are written without a copy.
func ExampleNew() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	dialogs, err := blob.NewStore(w, blob.Type[Line]())
	if err != nil {
		panic(err)
	}
	talk, err := blob.Add(dialogs, dialog())
	if err != nil {
		panic(err)
	}
	for line := talk.Get(dialogs); line != nil; line = line.Next.Get() {
		os.Stdout.Write(line.Text.Bytes())
		fmt.Println("", line.Text.Len(), "bytes")
	}
	talk.Retain(dialogs) // for a second guard
	talk.Release(dialogs)
	fmt.Println(talk.Count(dialogs), talk.IsNull(), blob.Blob[Line]{}.IsNull())
	// Output:
	// halt! 5 bytes
	// who goes there? 15 bytes
	// 1 false true
}

// A job reads blobs by a Lookup, and declares that it does.
func ExampleNewLookup() {
	type Guard struct {
		Talk  blob.Blob[Line]
		Bytes int
	}
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	dialogs, err := blob.NewStore(w, blob.Type[Line]())
	if err != nil {
		panic(err)
	}
	talk, err := blob.Add(dialogs, dialog())
	if err != nil {
		panic(err)
	}
	guard := ecs.Register[Guard](w)
	e := ecs.NewArchetype(w, guard).Create()
	guard.Set(e, Guard{Talk: talk})
	s := job.NewScheduler(w)
	defer s.Close()
	count := s.For(ecs.NewQuery(w, ecs.Write(guard))).Uses(ecs.Read(dialogs.Type()))
	err = count.Run(func(c *job.Ctx, rows ecs.Rows) {
		lines := blob.NewLookup[Line](dialogs, c.Accessor())
		g := guard.Slice(rows)
		for i := range g {
			for line := lines.Get(g[i].Talk); line != nil; line = line.Next.Get() {
				g[i].Bytes += line.Text.Len()
			}
		}
	})
	fmt.Println(guard.Get(e).Bytes, err)
	// Output: 20 <nil>
}

// Content is known by its hash in every world: a client that has the dialog of a server's file need
// not be sent it.
func ExampleHashOf() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	dialogs, err := blob.NewStore(w, blob.Type[Line]())
	if err != nil {
		panic(err)
	}
	talk, err := blob.Add(dialogs, dialog())
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	if err := image.Save(w, &file); err != nil {
		panic(err)
	}
	loaded, err := image.Load(&file, func(w *ecs.World) { blob.Register(w) })
	if err != nil {
		panic(err)
	}
	defer loaded.Close()
	here, _ := blob.HashOf(w, talk.Entity())
	there, ok := blob.HashOf(loaded, talk.Entity())
	fmt.Println(here == there, ok)
	// Output: true true
}
