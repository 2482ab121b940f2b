package guide_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"quarry/ecs"
	"quarry/ecs/image"
)

// port is a program's types, registered in every world that it makes or opens.
type port struct {
	position ecs.Component[Position]
	cargo    ecs.Buffer[Crate]
}

// Crate is an element of a ship's cargo.
type Crate struct{ Weight int32 }

func (p *port) register(w *ecs.World) {
	p.position = ecs.Register[Position](w)
	p.cargo = ecs.RegisterBuffer[Crate](w)
}

// Page 18: world files.
func Example_file() {
	folder, _ := os.MkdirTemp("", "guide")
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "port.world")

	var here port
	w, _ := ecs.NewWorld()
	here.register(w)
	ships, _ := ecs.NewArchetype(w, here.position, here.cargo).CreateN(1000)
	fill(ships, here.position, 0)
	flagship := ships.Entities(nil)[7]
	w.SetName(flagship, "flagship")
	fmt.Println(image.SaveFile(w, path))
	w.Close()

	var there port
	w, err := image.Open(path, there.register)
	if err != nil {
		fmt.Println(err)
		return
	}
	named, _ := w.Named("flagship")
	fmt.Println(named == flagship, there.position.Get(flagship).X, w.Stats().Alive)

	there.position.Mut(flagship).X = -1 // the world's own copy of the page
	fmt.Println(image.Check(path))

	evening := w.Snapshot()
	done := make(chan error)
	go func() { done <- image.SaveFile(evening, path) }()
	there.position.Mut(flagship).X = -2 // frames go on
	fmt.Println(<-done)
	evening.Close()
	w.Close()

	file, _ := os.Open(path)
	w, _ = image.Load(file, there.register)
	fmt.Println(there.position.Get(flagship).X)
	w.Close()
	file.Close()

	_, err = image.Open(path, func(w *ecs.World) { ecs.Register[Position](w) })
	fmt.Println(errors.Is(err, image.ErrTypes))
	// Output:
	// <nil>
	// true 7 1000
	// <nil>
	// <nil>
	// -1
	// true
}
