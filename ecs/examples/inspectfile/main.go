// Inspectfile prints what a world file holds: sections and their checksums, archetypes, types. It
// needs no type of the program that wrote the file. -check reads the whole file. -as NEWER prints
// what becomes of the types in a program that has those of another file. Without a file it makes a
// small world, saves it to a temporary file and prints that.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"quarry/ecs"
	"quarry/ecs/image"
)

// Types of the small world.
type (
	place  struct{ X, Y float64 }
	speed  struct{ X, Y float64 }
	crate  struct{ Goods, Tons uint32 }
	banner struct{ Country string }
	fire   struct{ Since float32 }
	route  struct{ Ports []string }
)

func main() {
	check := flag.Bool("check", false, "read and check each byte of the file")
	as := flag.String("as", "", "a file of the program that is to open this one")
	flag.Parse()
	if err := run(os.Stdout, flag.Arg(0), *check, *as); err != nil {
		log.Fatal(err)
	}
}

// save saves the small world.
func save(path string) (err error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	places, speeds := ecs.Register[place](w), ecs.Register[speed](w, ecs.Enableable)
	crates, banners := ecs.RegisterBuffer[crate](w, ecs.Inline(2)), ecs.RegisterShared[banner](w)
	fires := ecs.RegisterSparse[fire](w)
	routes := ecs.RegisterManaged[route](w, ecs.Codec(
		func(b []byte, r *route) ([]byte, error) {
			text, err := json.Marshal(r)
			return append(b, text...), err
		},
		func(b []byte, r *route) error { return json.Unmarshal(b, r) }))
	if _, err := ecs.NewArchetype(w, places).CreateN(1000); err != nil { // buoys
		return err
	}
	for _, of := range []banner{{"Norway"}, {"Chile"}} {
		ships, err := ecs.NewArchetype(w, places, speeds, crates, routes, banners.Of(of)).CreateN(20)
		if err != nil {
			return err
		}
		for i, e := range ships.Entities(nil) {
			crates.Append(e, make([]crate, i/4)...)
			if i == 0 {
				w.SetName(e, "flagship of "+of.Country)
				fires.Add(e, fire{1.5})
				routes.Set(e, route{[]string{"Bergen", "Valparaiso"}})
			}
		}
	}
	return image.SaveFile(w, path)
}

// run prints the file at a path, or that of the small world, as far as it can be read, and what a
// program does with it whose types another file has.
func run(out io.Writer, path string, check bool, as string) error {
	if path == "" {
		folder, err := os.MkdirTemp("", "inspectfile")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		path = filepath.Join(folder, "harbour.world")
		if err := save(path); err != nil {
			return err
		}
	}
	options := map[bool][]image.Option{true: {image.Checked()}}
	info, err := image.Describe(path, options[check]...)
	fmt.Fprintf(out, "%s: format %d, %d bytes, %d entities, %d ids, %d names, version %d\n",
		filepath.Base(path), info.Format, info.Bytes, info.Entities, info.IDs, info.Names, info.Version)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight) // but for the last cell of a line
	fmt.Fprintln(table, "\noffset\tbytes\tchecksum\t  section")
	for _, s := range info.Sections {
		fmt.Fprintf(table, "%d\t%d\t%v\t  %s\n", s.Offset, s.Bytes, s.State, s.Name)
	}
	fmt.Fprintln(table, "\nrows\tchunks\tbytes\t  archetype")
	for _, a := range info.Archetypes {
		fmt.Fprintf(table, "%d\t%d\t%d\t  %s\n", a.Rows, a.Chunks, a.Bytes, typesOf(&info, &a))
	}
	for _, s := range info.Sparse {
		fmt.Fprintf(table, "%d\t-\t%d\t  %s\n", s.Entries, s.Bytes, shortName(&info.Types[s.Type]))
	}
	for _, m := range info.Managed {
		fmt.Fprintf(table, "%d\t-\t%d\t  %s\n", m.Values, m.Bytes, shortName(&info.Types[m.Type]))
	}
	fmt.Fprintf(table, "%d\t-\t%d\t  blocks of buffers\n", info.Blocks, info.BlockBytes)
	fmt.Fprintln(table, "\nbytes\tkind\t  type")
	for _, t := range info.Types {
		fmt.Fprintf(table, "%d\t%v\t  %s%s {%s}\n", t.Size, t.Kind, t.Name, optionsOf(&t), fieldsOf(&t))
	}
	err = errors.Join(err, table.Flush())
	if err != nil || as == "" {
		return err
	}
	plans, err := image.PlanBetween(path, as)
	fmt.Fprintf(out, "\ntypes, opened by a program with those of %s\n", filepath.Base(as))
	for _, p := range plans {
		fmt.Fprintln(out, p)
	}
	return err
}

// typesOf returns the types of an archetype, shared ones with their values.
func typesOf(info *image.Info, a *image.Archetype) string {
	var names []string
	for _, of := range a.Types {
		name := shortName(&info.Types[of])
		for _, v := range a.Shared {
			if v.Type == of {
				name += "=" + v.Text
			}
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// optionsOf returns the options of a type.
func optionsOf(t *image.Type) (text string) {
	note := func(has bool, option ...any) {
		if has {
			text += ", " + fmt.Sprint(option...)
		}
	}
	note(t.Enableable, "enableable")
	note(t.Cleanup, "cleanup")
	note(t.TrackRows, "tracks rows")
	note(t.MaxRows > 0, "max rows ", t.MaxRows)
	note(t.Codec, "codec")
	note(t.Kind == ecs.KindBuffer, "inline ", t.Inline)
	return text
}

// fieldsOf returns the fields of a type.
func fieldsOf(t *image.Type) string {
	fields := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		fields[i] = strings.TrimSpace(f.Name + " " + f.Type) // no name: the type is no struct
	}
	return strings.Join(fields, ", ")
}

// shortName returns the name of a type without its package.
func shortName(t *image.Type) string {
	name, _, _ := strings.Cut(t.Name, "[") // parameters of a generic type have packages too
	return t.Name[strings.LastIndexAny(name, "./")+1:]
}
