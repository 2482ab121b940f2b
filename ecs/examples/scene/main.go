// Scene is an island of sections, baked from the letters of a map. A traveler goes from west to
// east; his section and those beside it are loaded. Each house knows the next, in whichever section
// it is. Then the map is edited, and what has changed comes to the world that runs.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quarry/ecs"
	"quarry/ecs/scene"
)

const wide = 16 // columns of a section
const island = `
        ..^^^.....                    .....^....
     ...^^^^^^..T.........        .....T.^^^^......
   ..H...^^^..TTTT..H.......   .....TTT..^^^^^..H....
  .......T^^..TT........T............TT...^^......T...
   ....T....H.........H..TT..H...T........H...T.......
     ......TT...............    ......T..........
`

// Letter is authoring data: what the map has at a place.
type Letter struct {
	X, Y   int
	Letter string
	Next   string // id of the next house, to the east
}

// Mark is what stands at a place.
type Mark struct{ X, Y, Letter uint8 }

// Road is where a house leads to.
type Road struct{ Next ecs.Entity }

func register(w *ecs.World) {
	ecs.Register[Mark](w)
	ecs.Register[Road](w)
}

func bakeLetter(c *scene.Context, l Letter) error {
	scene.Put(c, c.Entity(), Mark{uint8(l.X), uint8(l.Y), l.Letter[0]})
	if l.Next != "" {
		scene.Put(c, c.Entity(), Road{c.EntityOf(l.Next)})
	}
	return nil
}

// objects reads a map: from the east, for houses know the next.
func objects(text string) (list []scene.Object) {
	next := ""
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for x := 4*wide - 1; x >= 0; x-- {
		for y, line := range lines {
			if x >= len(line) || line[x] == ' ' {
				continue
			}
			id, l := fmt.Sprintf("%d-%d", x, y), Letter{X: x, Y: y, Letter: line[x : x+1]}
			if line[x] == 'H' {
				l.Next, next = next, id
			}
			list = append(list, scene.Object{
				ID: id, Place: fmt.Sprintf("island:%d:%d", y+1, x+1), Section: fmt.Sprint("part-", x/wide), Value: l,
			})
		}
	}
	return list
}

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run bakes the island, travels over it, and draws what is there.
func run(out io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "island")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	bakery, bakeryErr := scene.NewBakery(register)
	w, err := ecs.NewWorld()
	if err = errors.Join(bakeryErr, err); err != nil {
		return err
	}
	scene.AddBaker(bakery, "letter", bakeLetter)
	host := scene.NewHost(w, register)
	defer func() { err = errors.Join(err, host.Close(), w.Close(), bakery.Close()) }()
	host.LiveLink()
	parts := map[int]*scene.Instance{}
	bake := func(text string) error {
		report, err := bakery.Bake(folder, objects(text))
		fmt.Fprintln(out, report.Baked, "of", report.Objects, "letters are baked")
		return err
	}
	if err = bake(island); err != nil {
		return err
	}
	for _, x := range []int{4, 30, 50} {
		for n := range 4 {
			near := n >= x/wide-1 && n <= x/wide+1
			switch {
			case near && parts[n] == nil:
				parts[n] = host.Load(filepath.Join(folder, fmt.Sprint("part-", n, ".world")))
			case !near && parts[n] != nil:
				parts[n].Unload()
				delete(parts, n)
			}
		}
		draw(out, w, host, x)
	}
	if err = bake(strings.Replace(island, "^^......T", "^^......H", 1)); err != nil {
		return err
	}
	for _, part := range parts {
		part.Reload()
	}
	draw(out, w, host, 50)
	return nil
}

// draw waits for what loads, draws the island and counts the roads that lead somewhere.
func draw(out io.Writer, w *ecs.World, host *scene.Host, traveler int) {
	for host.Update(time.Millisecond) {
		time.Sleep(time.Millisecond) // a frame
	}
	picture := bytes.Repeat(append(bytes.Repeat([]byte{' '}, 4*wide), '\n'), 6)
	mark, road := ecs.Register[Mark](w), ecs.Register[Road](w)
	roads, entities := 0, ecs.NewQuery(w, ecs.Read(mark)).Entities(nil)
	for _, e := range entities {
		m := mark.Get(e)
		picture[int(m.Y)*(4*wide+1)+int(m.X)] = m.Letter
		if r := road.Get(e); r != nil && w.Alive(r.Next) {
			roads++
		}
	}
	fmt.Fprintf(out, "%d entities, %d roads; the traveler is at column %d\n", len(entities), roads, traveler)
	for line := range bytes.Lines(picture) {
		fmt.Fprintf(out, "%s\n", bytes.TrimRight(line, " \n"))
	}
}
