package scene

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/internal/door"
)

// Baking. What a baker says of an object is noted as a record: values as bytes, entities as
// placeholders. Records are kept with what they depend on, and the worlds of sections are assembled
// from them, so a bake that makes few records anew has the result of one that makes all:
//
//	objects          records                         sections
//	tree-1  --baker->  Position, Height    --+
//	tree-2  --baker->  Position, Height    --+-->  main.world
//	house   --baker->  Position, 12 doors  ----->  east.world
//
// Invariants:
//
//	S1 A record follows from the object's authoring data, from its place, section and parent if the
//	   baker asked for it by Object, from the data of the objects it asked for by Of, and from the
//	   files it asked for. When one of these differs, or an object it leads to is gone, it is made
//	   anew.
//	S2 A section's file follows from the records of its objects in their order, their parents, the
//	   sections of the objects they lead to, and the baking systems.
//	S3 In a section's file, Local numbers the entities from 0 in the order of rows, and each entity
//	   has an Identity that no other has.
//	S4 Entity values in a file lead to entities of the file. Those that lead to another part or
//	   section are links of the head too, or alone.

// Bakery makes files of scenes from authoring data, and remembers what it made of which object. One
// goroutine at a time may use it.
type Bakery struct {
	register func(*ecs.World)
	proto    *ecs.World // has the types, and no entities
	kinds    []kind     // types of proto, in order of registration
	byType   map[reflect.Type]int
	buffers  map[reflect.Type]int
	bakers   map[reflect.Type]*baker
	named    map[string]reflect.Type // what the bakers take, by their names
	systems  []bakingSystem
	files    fs.FS
	workers  int
	records  map[string]*record // by object
	sections map[string]*bakedSection
	numbers  uint64 // of records
	partRows int
	hasBlobs bool // their types are registered
}

// kind is what a bakery knows of a type.
type kind struct {
	ecs.ComponentInfo
	size  int
	links bool
	gaps  []gap
	own   bool // of this package
}

// baker makes records of objects with one type of authoring data.
type baker struct {
	name string
	bake func(c *Context, v any) error
}

type bakingSystem struct {
	name string
	run  func(*ecs.World) error
}

// Option is an option of NewBakery.
type Option func(*Bakery)

// Files are what Context.File reads.
func Files(from fs.FS) Option { return func(b *Bakery) { b.files = from } }

// Workers is how many goroutines bake objects, by default as many as the program may run. The files
// do not depend on it. Below 1 it is 1.
func Workers(n int) Option { return func(b *Bakery) { b.workers = max(n, 1) } }

// NewBakery returns a bakery for worlds with the types that a function registers, as that of
// image.Open does. An error is from ecs.NewWorld. It panics if the function is nil.
func NewBakery(register func(*ecs.World), options ...Option) (*Bakery, error) {
	if register == nil {
		// errors.md: `scene: NewBakery: the function that registers types is nil` | There is none.
		// | The one that the game passes to `NewHost`.
		panic("scene: NewBakery: the function that registers types is nil")
	}
	b := &Bakery{register: register, byType: map[reflect.Type]int{}, buffers: map[reflect.Type]int{}, bakers: map[reflect.Type]*baker{}, named: map[string]reflect.Type{}, workers: runtime.GOMAXPROCS(0), partRows: partRows}
	for _, o := range options {
		o(b)
	}
	w, own, err := b.world()
	if err != nil {
		return nil, err
	}
	b.proto = w
	b.forget()
	known := len(w.Components())
	blob.Register(w) // of the world that has no entities alone
	b.hasBlobs = len(w.Components()) == known
	for i, info := range w.Components()[:known] {
		facts := door.FactsOf(info.Type)
		b.kinds = append(b.kinds, kind{info, int(info.Go.Size()), len(facts.Links) > 0, gapsOf(nil, info.Go, 0), false})
		switch info.Kind {
		case ecs.KindBuffer:
			b.buffers[info.Go] = i
		case ecs.KindChunk:
		default:
			if _, twice := b.byType[info.Go]; twice {
				i = -1 // Put cannot know which is meant
			}
			b.byType[info.Go] = i
		}
	}
	for _, t := range own.own() {
		b.kinds[door.TypeIndex(w, t)].own = true
	}
	return b, nil
}

// world makes a world with the types, whose entities are the same in every program.
func (b *Bakery) world() (*ecs.World, types, error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return nil, types{}, fmt.Errorf("scene: %w", err)
	}
	door.SetTag(w, 0)
	b.register(w)
	return w, register(w), nil
}

// forget makes the next bake a full one.
func (b *Bakery) forget() {
	b.records, b.sections = map[string]*record{}, map[string]*bakedSection{}
}

// Close ends the bakery; files stay.
func (b *Bakery) Close() error { return b.proto.Close() }

// AddBaker registers the baker of authoring data of type A. The name is for messages and for
// ReadJSON. Content is compared by values, through pointers and interfaces. The baker is
// called once for each object whose Value is an A, or for which what it asked the context for has
// changed, by any goroutine, several at once. What it makes must follow from these alone: equal
// input, equal entities in equal order. An error or a panic ends the bake, with an *Error.
//
// It panics if A has a baker already, if the bakery or the function is nil, and if A has what JSON
// does not show, such as an unexported field: a change of it would go unnoticed. A type with
// methods of json.Marshaler decides itself.
func AddBaker[A any](b *Bakery, name string, bake func(c *Context, v A) error) {
	if b == nil || bake == nil {
		// errors.md: `scene: AddBaker: the bakery or the function is nil` | One of them is missing.
		// | `NewBakery` makes the one.
		panic("scene: AddBaker: the bakery or the function is nil")
	}
	t := reflect.TypeFor[A]()
	if b.bakers[t] != nil {
		// errors.md: `scene: AddBaker: ... has a baker already, ...` | Two bakers of a type. | One
		// function that does both.
		panic(fmt.Sprintf("scene: AddBaker: %v has a baker already, %s", t, b.bakers[t].name))
	}
	if other := b.named[name]; other != nil {
		// errors.md: `scene: AddBaker: ... is the name of the baker of ... too` | Two bakers of a
		// name. | Another name; `ReadJSON` finds bakers by theirs.
		panic(fmt.Sprintf("scene: AddBaker: %s is the name of the baker of %v too", name, other))
	}
	if path := hidden(t, t.String(), map[reflect.Type]bool{}); path != "" {
		// errors.md: `scene: AddBaker: JSON does not show ...` | Content is known by its JSON, and
		// a field is not in it. | Export the field, or give the type a method `MarshalJSON`.
		panic("scene: AddBaker: JSON does not show " + path + ", so changes of it would not be noticed")
	}
	b.named[name] = t
	b.bakers[t] = &baker{name, func(c *Context, v any) error { return bake(c, v.(A)) }}
	b.forget()
}

// AddSystem adds a baking system: a function that is called with the world of each section that is
// made anew, when all its objects are baked, after the systems that were added before. It may
// change everything but what this package registered. Entities that it creates get an Identity with
// Object 0. Entity values that lead to another section are placeholders then. The world's owner is
// the bakery, which closes it. Equal worlds must become equal worlds.
//
// It panics if the bakery or the function is nil.
func (b *Bakery) AddSystem(name string, run func(*ecs.World) error) {
	if run == nil {
		// errors.md: `scene: Bakery.AddSystem: the function is nil` | There is none. | Pass one.
		panic("scene: Bakery.AddSystem: the function is nil")
	}
	b.systems = append(b.systems, bakingSystem{name, run})
	b.forget()
}

// bakeAll makes the records that the objects need, and returns all in the order of the objects, and
// how many are new.
func (b *Bakery) bakeAll(l *list) ([]*record, int, error) {
	f := &files{from: b.files, read: map[string]*file{}}
	digests, err := b.digests(l)
	if err != nil {
		return nil, 0, err
	}
	l.digests, l.files = digests, f
	records := make([]*record, len(l.objects))
	errs := make([]error, len(l.objects))
	b.each(len(l.objects), func(i int) {
		o := &l.objects[i]
		if old := b.records[o.ID]; old != nil && old.holds(l, i) {
			records[i] = old
			return
		}
		errs[i] = &Error{o.ID, o.Place, b.bakers[reflect.TypeOf(o.Value)].name, errGoexit, nil} // stays if it does
		records[i], errs[i] = b.bakeOne(&Context{b: b, list: l, object: i})
	})
	errs = compact(errs)
	for i, r := range records {
		if r != nil {
			errs = append(errs, b.checkOutside(l, i, r)...)
		}
	}
	if len(errs) > 0 {
		return nil, 0, joined(errs)
	}
	made := 0
	for i, r := range records {
		if r.number == 0 {
			b.numbers++
			made++
			r.number, r.digest = b.numbers, digests[i]
		}
	}
	return records, made, nil
}

// checkOutside returns errors about the objects that a record leads to.
func (b *Bakery) checkOutside(l *list, object int, r *record) (errs []error) {
	o := &l.objects[object]
	for _, id := range r.outside {
		if _, ok := l.at[id]; !ok {
			errs = append(errs, &Error{Object: o.ID, Place: o.Place, Baker: b.bakers[reflect.TypeOf(o.Value)].name, Err: fmt.Errorf("it leads to %q, which is no object", id)})
		}
	}
	return errs
}

// digests returns the digests of all objects.
func (b *Bakery) digests(l *list) ([]digest, error) {
	digests, errs := make([]digest, len(l.objects)), make([]error, len(l.objects))
	b.each(len(l.objects), func(i int) {
		o := &l.objects[i]
		if o.Value == nil || b.bakers[reflect.TypeOf(o.Value)] == nil {
			errs[i] = &Error{Object: o.ID, Place: o.Place, Err: fmt.Errorf("no baker takes a %T", o.Value)}
			return
		}
		var err error
		if digests[i], err = digestOf(o.Value); err != nil {
			errs[i] = &Error{Object: o.ID, Place: o.Place, Err: err}
		}
	})
	return digests, joined(compact(errs))
}

var errGoexit = errors.New("it called runtime.Goexit, as FailNow of a test does")

// each calls do for the numbers below n, from the workers. A worker whose goroutine a baker ends is
// replaced.
func (b *Bakery) each(n int, do func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	var work func()
	work = func() {
		ended := false
		defer func() {
			if !ended {
				wg.Go(work)
			}
		}()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
		ended = true
	}
	for range min(b.workers, n) {
		wg.Go(work)
	}
	wg.Wait()
}

// bakeOne makes a record.
func (b *Bakery) bakeOne(c *Context) (_ *record, err error) {
	o := &c.list.objects[c.object]
	of := b.bakers[reflect.TypeOf(o.Value)]
	c.record = newRecord(o.ID)
	defer func() {
		c.record.leading = nil
		c.record = nil
		if p := recover(); p != nil {
			err = &Error{o.ID, o.Place, of.name, fmt.Errorf("it panicked: %v", p), debug.Stack()}
		}
	}()
	if err = of.bake(c, o.Value); err != nil {
		return nil, &Error{o.ID, o.Place, of.name, err, nil}
	}
	return c.record, nil
}

// renew makes those records anew whose managed values systems have had: by S1 they are the same
// again.
func (b *Bakery) renew(l *list, records []*record, members []int) error {
	var errs []error
	for _, i := range members {
		old := records[i]
		if len(b.systems) == 0 || !old.managed {
			continue
		}
		if old.lent {
			r, err := b.bakeOne(&Context{b: b, list: l, object: i})
			if err != nil {
				errs = append(errs, err)
				continue
			}
			r.number, r.digest = old.number, old.digest
			records[i] = r
		}
		records[i].lent = true
	}
	return joined(errs)
}

// compact returns the errors of a list that are not nil.
func compact(errs []error) (some []error) {
	for _, err := range errs {
		if err != nil {
			some = append(some, err)
		}
	}
	return some
}
