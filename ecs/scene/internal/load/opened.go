package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/scene/internal/section"
	"quarry/internal/disk"
)

// ErrSection is scene.ErrSection.
var ErrSection = errors.New("not a section of a scene")

// opened is a section's file, read by a loader, before its entities move.
type opened struct {
	name    string
	section uint64 // section.Hash of the name
	w       *ecs.World
	types   section.Types
	parts   []*ecs.Query       // of w
	count   int                // of entities
	hidden  bool               // entities have DisabledEntity until all are there and lead where they should
	stays   bool               // some have it from the file, so they keep it
	names   []string           // of types in links
	paths   [][]string         // where the entities of these types were when the file was made, see section.Paths
	own     []section.Link     // to other parts
	out     []section.Link     // to other sections, in order of section
	byID    []section.Identity // in order of object and sub
	arrived []ecs.Entity       // of the host's world, by local number; for the instance
	base    *base              // for live links; nil without
	next    *reloaded          // of a file that was read again; then all else is empty
}

// open reads a section's file into the universe, as an instance.
func (h *Host) open(path string, instance uint32) (*opened, error) {
	f, _, err := disk.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// Bytes are read to where rows will be, unless they are needed twice: a copy of each file would
	// be most of what the collector has to do while sections come and go.
	in, file := io.Reader(f), []byte(nil)
	if h.Live {
		if file, err = io.ReadAll(f); err != nil {
			return nil, err
		}
		in = bytes.NewReader(file)
	}
	o, err := openFrom(in, path, h.register, h.w.Universe(), h.options)
	if err == nil {
		if h.Check != nil {
			err = h.Check(o.w)
		}
		if err == nil {
			err = o.prepare(instance)
		}
		if err == nil && h.Live {
			o.base, err = newBase(file, path, h.register, h.options)
		}
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return o, nil
}

// readFile is os.ReadFile for what is a regular file: a pipe would be read until somebody closes
// it.
func readFile(path string) ([]byte, error) {
	f, _, err := disk.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it is only read
	return io.ReadAll(f)
}

// openFrom reads a section's file and takes its head.
func openFrom(in io.Reader, path string, register func(*ecs.World) section.Types, u *alloc.Universe,
	options []image.Option) (*opened, error) {
	o := new(opened)
	all := slices.Clone(options)
	if u != nil {
		all = append(all, image.Into(u))
	}
	w, err := image.Load(in, func(w *ecs.World) { o.types = register(w) }, all...)
	if err != nil {
		return nil, err
	}
	o.w = w
	err = o.takeHead()
	if err == nil {
		err = o.rename(path, register, options)
	}
	if err == nil {
		o.own, o.out = o.renumber(o.own), o.renumber(o.out)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return o, nil
}

// rename gives the types in links the names that they have in the program, if options rename them.
func (o *opened) rename(path string, register func(*ecs.World) section.Types, options []image.Option) error {
	known := map[string]bool{}
	for _, info := range o.w.Components() {
		known[section.TypeName(info)] = true
	}
	if !slices.ContainsFunc(o.names, func(name string) bool { return !known[name] }) {
		return nil
	}
	plans, err := image.Plan(path, func(w *ecs.World) { register(w) }, options...)
	for n, name := range o.names {
		for _, p := range plans {
			if !known[name] && p.To != "" && name == fmt.Sprintf("%v %s", p.Kind, p.Name) {
				o.names[n] = fmt.Sprintf("%v %s", p.Kind, p.To)
				break
			}
		}
	}
	return err
}

// renumber returns the links, by the places that entities have in the types of the program. Those
// in fields that are gone are left out.
func (o *opened) renumber(links []section.Link) []section.Link {
	places := make([][]int, len(o.names)) // by type: the place of each old one, -1 for none; nil if all stay
	counts := make([]int, len(o.names))   // of places in the program's type
	for _, info := range o.w.Components() {
		if n := slices.Index(o.names, section.TypeName(info)); n >= 0 {
			now := section.Paths(nil, info.Go, "")
			if counts[n] = len(now); !slices.Equal(now, o.paths[n]) {
				for _, path := range o.paths[n] {
					places[n] = append(places[n], slices.Index(now, path))
				}
			}
		}
	}
	kept := links[:0]
	for _, l := range links {
		if to := places[l.Type]; to != nil {
			place := to[int(l.Nth)%len(to)]
			if place < 0 {
				continue
			}
			l.Nth = uint32(int(l.Nth)/len(to)*counts[l.Type] + place)
		}
		kept = append(kept, l)
	}
	slices.SortStableFunc(kept, func(a, b section.Link) int { // those of a value are set in one pass
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Holder, b.Holder), cmp.Compare(a.Type, b.Type),
			cmp.Compare(a.Nth, b.Nth))
	})
	return kept
}

// takeHead reads the head and destroys its entity.
func (o *opened) takeHead() error {
	q := ecs.NewQuery(o.w, ecs.With(o.types.Head))
	e, err := q.Single()
	if q.Close(); err != nil {
		return fmt.Errorf("%w: it has no head", ErrSection)
	}
	h := o.types.Head.Get(e)
	if h.Format != section.Format {
		return fmt.Errorf("%w: its head has format %d, this program knows %d", ErrSection, h.Format, section.Format)
	}
	o.name, o.names, o.paths = o.types.Names(e)
	o.section = section.Hash(o.name)
	o.count = int(h.Entities)
	parts := h.Parts
	links := o.types.Links.Slice(e)
	inside := 0
	for i := range links {
		if links[i].Section == 0 {
			inside++
		}
	}
	// As long as needed at once: each list that is outgrown is work for the collector, while frames
	// go on.
	o.own, o.out = make([]section.Link, 0, inside), make([]section.Link, 0, len(links)-inside)
	for _, l := range links {
		if int(l.Holder) >= o.count || int(l.Type) >= len(o.names) || l.Section == 0 && int(l.Sub) >= o.count {
			return fmt.Errorf("%w: a link of entity %d to %d, of %d entities and %d types",
				ErrSection, l.Holder, l.Sub, o.count, len(o.names))
		}
		if l.Section == 0 {
			o.own = append(o.own, l)
		} else {
			o.out = append(o.out, l)
		}
	}
	o.w.Destroy(e)
	return o.index(parts)
}

// index notes which entities there are.
func (o *opened) index(parts uint32) error {
	q := ecs.NewQuery(o.w, ecs.Read(o.types.Identity), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer q.Close()
	if n := q.Count(); n != o.count {
		return fmt.Errorf("%w: it has %d entities, its head says %d", ErrSection, n, o.count)
	}
	if int64(parts) > int64(o.count)+1 { // a section without entities has a part
		return fmt.Errorf("%w: it has %d parts, and %d entities", ErrSection, parts, o.count)
	}
	seen := make([]bool, o.count)
	o.byID = make([]section.Identity, 0, o.count)
	for rows := range q.Rows() {
		if _, part, ok := o.types.Tag.At(rows); !ok || part >= parts {
			return fmt.Errorf("%w: entities are in part %d of %d", ErrSection, part, parts)
		}
		for _, id := range o.types.Identity.Slice(rows) {
			if int(id.Local) >= o.count || seen[id.Local] {
				return fmt.Errorf("%w: entity number %d, of %d, is there twice or too much",
					ErrSection, id.Local, o.count)
			}
			seen[id.Local] = true
			o.byID = append(o.byID, id)
		}
	}
	slices.SortFunc(o.byID, compareIdentity)
	for range parts {
		o.parts = append(o.parts, nil)
	}
	return nil
}

func compareIdentity(a, b section.Identity) int {
	return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Sub, b.Sub))
}

// local returns the number of the entity with an Identity, or -1.
func (o *opened) local(object uint64, sub uint32) int {
	i, ok := slices.BinarySearchFunc(o.byID, section.Identity{Object: object, Sub: sub}, compareIdentity)
	if !ok {
		return -1
	}
	return int(o.byID[i].Local)
}

// prepare gives the entities the tag of the instance, hides them if they do not come at once, and
// makes the queries of the parts. What an instance needs in Go memory is made and touched here,
// too: a large object may make who asks for it work for the collector, or begin a cycle.
func (o *opened) prepare(instance uint32) error {
	o.arrived = make([]ecs.Entity, o.count)
	clear(o.arrived) // memory that is new from the system is zero, and not there until it is written
	o.hidden = len(o.parts) > 1 || len(o.out) > 0
	if o.hidden {
		q := ecs.NewQuery(o.w, ecs.With(ecs.Register[ecs.DisabledEntity](o.w)), ecs.IncludeDisabled(),
			ecs.IncludePrefabs())
		given, err := ecs.NewChange(o.w, ecs.Add(o.types.Stays)).ApplyQuery(q)
		if q.Close(); err != nil {
			return err
		}
		o.stays = given.Len() > 0
	}
	for part := range o.parts {
		from := o.types.Tag.Of(0, uint32(part))
		q := ecs.NewQuery(o.w, ecs.Where(from), ecs.IncludeDisabled(), ecs.IncludePrefabs())
		give := []ecs.Part{ecs.Put(o.types.Tag.Of(instance, uint32(part)))}
		if o.hidden {
			give = append(give, ecs.Add(ecs.Register[ecs.DisabledEntity](o.w)))
		}
		_, err := ecs.NewChange(o.w, give...).ApplyQuery(q)
		if q.Close(); err != nil {
			return err
		}
		o.parts[part] = ecs.NewQuery(o.w, ecs.Where(o.types.Tag.Of(instance, uint32(part))), ecs.IncludeDisabled(),
			ecs.IncludePrefabs())
	}
	return nil
}

// outTo returns the links to a section.
func (o *opened) outTo(id uint64) []section.Link {
	lo, _ := slices.BinarySearchFunc(o.out, id, func(l section.Link, s uint64) int { return cmp.Compare(l.Section, s) })
	hi := lo
	for hi < len(o.out) && o.out[hi].Section == id {
		hi++
	}
	return o.out[lo:hi]
}

// close gives back what has not moved.
func (o *opened) close() (err error) {
	if o.next != nil {
		return o.next.close()
	}
	err = o.closeWorld()
	if o.base != nil {
		err = errors.Join(err, o.base.close())
		o.base = nil
	}
	return err
}

// closeWorld closes the loader's world, if it is there. All have moved, or nobody takes the rest.
func (o *opened) closeWorld() (err error) {
	if o.w != nil {
		err = o.w.Close()
		o.w = nil
	}
	return err
}
