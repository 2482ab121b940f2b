package bake

import (
	"cmp"
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
	"quarry/ecs/scene/internal/section"
)

// partRows is the most entities of a part, but of an object that has more. A part moves into a
// host's world at once, in .5 ms or so.
const partRows = 8192

// Bakery is scene.Bakery. Files and Workers are set before Open.
type Bakery struct {
	Files    fs.FS // that Context.File reads; nil: none
	Workers  int   // goroutines that bake objects; 0: as many as the program may run
	PartRows int   // the most entities of a part, but of an object that has more
	register func(*ecs.World) section.Types
	proto    *ecs.World   // has the types, and no entities
	kinds    []linkedType // types of proto, in order of registration
	byType   map[reflect.Type]int
	buffers  map[reflect.Type]int
	bakers   map[reflect.Type]*baker
	named    map[string]reflect.Type // what the bakers take, by their names
	systems  []bakingSystem
	records  map[string]*bakedObject // by object
	sections map[string]*bakedSection
	numbers  uint64 // of records
	hasBlobs bool   // their types are registered
}

// bakedSection is what a bakery remembers of a section's file.
type bakedSection struct {
	input  []uint64 // what it was made of (S2)
	report SectionReport
}

// linkedType is what a bakery knows of a type.
type linkedType struct {
	ecs.ComponentInfo
	size  int
	links bool
	gaps  []gap
	own   bool // of package scene
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

// Open makes b a bakery for worlds with the types that a function registers: those of the game and
// those of package scene.
func (b *Bakery) Open(register func(*ecs.World) section.Types) error {
	b.register, b.byType, b.buffers, b.bakers, b.named = register, map[reflect.Type]int{}, map[reflect.Type]int{},
		map[reflect.Type]*baker{}, map[string]reflect.Type{}
	b.Workers, b.PartRows = cmp.Or(b.Workers, runtime.GOMAXPROCS(0)), partRows
	w, own, err := b.world()
	if err != nil {
		return err
	}
	b.proto = w
	b.forget()
	known := len(w.Components())
	blob.Register(w) // of the world that has no entities alone
	b.hasBlobs = len(w.Components()) == known
	for i, info := range w.Components()[:known] {
		facts := door.FactsOf(info.Type)
		b.kinds = append(b.kinds, linkedType{info, int(info.Go.Size()), len(facts.Links) > 0, gapsOf(nil, info.Go, 0),
			false})
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
	for _, t := range own.Own() {
		b.kinds[door.TypeIndex(w, t)].own = true
	}
	return nil
}

// world makes a world with the types, whose entities are the same in every program.
func (b *Bakery) world() (*ecs.World, section.Types, error) {
	w, err := ecs.NewWorld()
	if err != nil {
		return nil, section.Types{}, fmt.Errorf("scene: %w", err)
	}
	door.SetTag(w, 0)
	return w, b.register(w), nil
}

// forget makes the next bake a full one.
func (b *Bakery) forget() {
	b.records, b.sections = map[string]*bakedObject{}, map[string]*bakedSection{}
}

// Close is scene.Bakery.Close.
func (b *Bakery) Close() error { return b.proto.Close() }

// AddBaker is scene.AddBaker.
func (b *Bakery) AddBaker(name string, t reflect.Type, bake func(c *Context, v any) error) {
	if b.bakers[t] != nil {
		panic(fmt.Sprintf("scene: AddBaker: %v has a baker already, %s", t, b.bakers[t].name))
	}
	if other := b.named[name]; other != nil {
		panic(fmt.Sprintf("scene: AddBaker: %s is the name of the baker of %v too", name, other))
	}
	if path := hidden(t, t.String(), map[reflect.Type]bool{}); path != "" {
		panic("scene: AddBaker: JSON does not show " + path + ", so changes of it would not be noticed")
	}
	b.named[name] = t
	b.bakers[t] = &baker{name, bake}
	b.forget()
}

// AddSystem is scene.Bakery.AddSystem.
func (b *Bakery) AddSystem(name string, run func(*ecs.World) error) {
	if run == nil {
		panic("scene: Bakery.AddSystem: the function is nil")
	}
	b.systems = append(b.systems, bakingSystem{name, run})
	b.forget()
}

// bakeAll makes the records that the objects need, and returns all in the order of the objects, and
// how many are new.
func (b *Bakery) bakeAll(l *list) ([]*bakedObject, int, error) {
	f := &files{from: b.Files, read: map[string]*file{}}
	digests, err := b.digests(l)
	if err != nil {
		return nil, 0, err
	}
	l.digests, l.files = digests, f
	records := make([]*bakedObject, len(l.objects))
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
	for i, r := range records {
		if r != nil {
			errs = append(errs, b.checkOutside(l, i, r)...)
		}
	}
	if err := joined(errs); err != nil {
		return nil, 0, err
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
func (b *Bakery) checkOutside(l *list, object int, r *bakedObject) (errs []error) {
	o := &l.objects[object]
	for _, id := range r.outside {
		if _, ok := l.at[id]; !ok {
			errs = append(errs, &Error{
				Object: o.ID, Place: o.Place, Baker: b.bakers[reflect.TypeOf(o.Value)].name,
				Err: fmt.Errorf("it leads to %q, which is no object", id),
			})
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
	return digests, joined(errs)
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
	for range min(b.Workers, n) {
		wg.Go(work)
	}
	wg.Wait()
}

// bakeOne makes a record.
func (b *Bakery) bakeOne(c *Context) (_ *bakedObject, err error) {
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
func (b *Bakery) renew(l *list, records []*bakedObject, members []int) error {
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
