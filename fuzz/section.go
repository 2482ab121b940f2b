package fuzz

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/scene"
)

// The section driver. The model of an instance is a map from the keys of its entities to what they
// have. Loaders read when they like, so the model is exact only when nothing is under way; a file
// changes only then, and what the game writes of baked values it writes then.

// sectionRun is one run.
type sectionRun struct {
	files     *SectionFiles
	folder    string
	u         *alloc.Universe
	w         *ecs.World
	host      *scene.Host
	live      bool
	big       bool
	variant   [sections]int // of the files in the folder
	instances []*loading    // in the order of Load
	leaving   []*loading
	h         sectionHandles
}

type sectionHandles struct {
	identity ecs.Component[scene.Identity]
	spot     ecs.Component[spot]
	lamp     ecs.Component[lamp]
	next     ecs.Component[next]
	over     ecs.Component[over]
	mark     ecs.Component[chalk]
	late     ecs.Component[late]
	hasLate  bool
}

// chalk is a component of the game, late one that it registers when sections are there.
type (
	chalk struct{ N uint32 }
	late  struct{ N uint32 }
)

// loading is the model of an instance.
type loading struct {
	*scene.Instance
	section, variant int
	to               int // the variant that is read; variant if none is
	dead             map[sectionKey]bool
	values           map[sectionKey]*sectionValue
	copies           map[ecs.Entity]float32
}

// sectionValue is what an entity has.
type sectionValue struct {
	fact
	mark, late uint32 // 0: it has none
}

var sectionOps = []struct {
	name string
	do   func(*sectionRun, record) error
}{
	{"Load", (*sectionRun).load},
	{"Unload", (*sectionRun).unload},
	{"Update", (*sectionRun).update},
	{"Settle", func(d *sectionRun, _ record) error { return d.settle() }},
	{"Edit", (*sectionRun).edit},
	{"Destroy", (*sectionRun).destroy},
	{"Copy", (*sectionRun).copy},
	{"Write", (*sectionRun).write},
	{"Mark", (*sectionRun).mark},
	{"Late", (*sectionRun).addLate},
}

// RunSections applies a stream to a world whose sections come and go, and returns the first
// difference from the model. The folder is for links to the files, and empty.
func RunSections(data []byte, files *SectionFiles, folder string) (steps int, err error) {
	s := newStream(data)
	u, err := alloc.NewUniverse(alloc.Size(128 << 20))
	if err != nil {
		return 0, fmt.Errorf("fuzz: RunSections: %w", err)
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	if err != nil {
		return 0, fmt.Errorf("fuzz: RunSections: %w", err)
	}
	d := &sectionRun{
		files: files, folder: folder, u: u, w: w, host: scene.NewHost(w, registerSites), live: s.flags&1 != 0,
		big: s.flags>>1&3 == 0,
	}
	d.h = sectionHandles{
		identity: ecs.Register[scene.Identity](w), spot: ecs.Register[spot](w), lamp: ecs.Register[lamp](w),
		next: ecs.Register[next](w), over: ecs.Register[over](w), mark: ecs.Register[chalk](w),
	}
	if d.live {
		d.host.LiveLink()
	}
	for n := range sections {
		if err := d.place(n, int(s.seed>>(2*n)&3)%sectionVariants); err != nil {
			return 0, fmt.Errorf("fuzz: RunSections: %w", err)
		}
	}
	table := s.table(len(sectionOps), 0)
	for r, ok := s.next(); ok; r, ok = s.next() {
		op := &sectionOps[choose(table, r)]
		err := guarded(func() error {
			if err := op.do(d, r); err != nil {
				return err
			}
			return d.host.Verify()
		})
		if err != nil {
			return steps, fmt.Errorf("fuzz: RunSections: step %d, %s %+v: %w", steps, op.name, r, err)
		}
		steps++
	}
	if err := guarded(func() error { return d.end(s.flags&8 != 0) }); err != nil {
		return steps, fmt.Errorf("fuzz: RunSections: after %d steps: %w", steps, err)
	}
	return steps, nil
}

func (d *sectionRun) path(section int) string {
	return filepath.Join(d.folder, sectionName(section)+".world")
}

// place puts a variant of a section's file into the folder.
func (d *sectionRun) place(section, variant int) error {
	d.variant[section] = variant
	if err := os.Remove(d.path(section)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Link(filepath.Join(d.files.folder, fmt.Sprint(variant), sectionName(section)+".world"), d.path(section))
}

func (d *sectionRun) load(r record) error {
	section := int(r.kind) % sections
	if section == bigSection && !d.big {
		section = 0
	}
	if len(d.instances) == 6 {
		return nil
	}
	v := d.variant[section]
	i := &loading{Instance: d.host.Load(d.path(section)), section: section, variant: v, to: v,
		dead: map[sectionKey]bool{}, values: map[sectionKey]*sectionValue{}, copies: map[ecs.Entity]float32{}}
	for k, f := range d.files.facts[v][section] {
		i.values[k] = &sectionValue{fact: f}
	}
	d.instances = append(d.instances, i)
	return nil
}

func (d *sectionRun) unload(r record) error {
	if len(d.instances) == 0 {
		return nil
	}
	n := int(r.who) % len(d.instances)
	d.instances[n].Unload()
	d.leaving = append(d.leaving, d.instances[n])
	d.instances = slices.Delete(d.instances, n, n+1)
	return nil
}

func (d *sectionRun) update(r record) error {
	for range r.bits(0, 4) {
		d.host.Update(time.Duration(1 + r.bits(4, 12)))
	}
	if r.bits(16, 2) == 0 {
		time.Sleep(100 * time.Microsecond) // loaders go on
	}
	return nil
}

// edit puts another variant of a file into the folder, and reloads those that have it.
func (d *sectionRun) edit(r record) error {
	if err := d.settle(); err != nil {
		return err
	}
	section := int(r.kind) % sections
	if err := d.place(section, int(r.who)%sectionVariants); err != nil {
		return err
	}
	for _, i := range d.instances {
		if d.live && i.section == section {
			i.Reload()
			i.to = d.variant[section]
		}
	}
	return nil
}

// pick returns an entity that is there, and its model; i is nil if there is none.
func (d *sectionRun) pick(r record) (i *loading, k sectionKey, e ecs.Entity) {
	if len(d.instances) == 0 {
		return nil, k, e
	}
	i = d.instances[int(r.who)%len(d.instances)]
	n := int(r.n>>8) % 12
	k = sectionKey{scene.ObjectID(siteID(i.section, n)), uint32(r.kind) % 3}
	e = i.EntityOf(scene.Identity{Object: k.object, Sub: k.sub})
	if e == ecs.Null {
		return nil, k, e
	}
	return i, k, e
}

func (d *sectionRun) destroy(r record) error {
	if i, k, e := d.pick(r); i != nil {
		d.w.Destroy(e)
		i.dead[k] = true
	}
	return nil
}

// settled is pick when nothing is under way.
func (d *sectionRun) settled(r record) (v *sectionValue, i *loading, e ecs.Entity, err error) {
	if err := d.settle(); err != nil {
		return nil, nil, e, err
	}
	i, k, e := d.pick(r)
	if i == nil {
		return nil, nil, e, nil
	}
	if v = i.values[k]; v == nil || i.dead[k] {
		return nil, nil, e, fmt.Errorf("an entity %v is there that should not be", k)
	}
	return v, i, e, nil
}

func (d *sectionRun) copy(r record) error {
	v, i, e, err := d.settled(r)
	if err == nil && v != nil {
		i.copies[d.w.Instantiate(e)] = v.x
	}
	return err
}

func (d *sectionRun) write(r record) error {
	v, _, e, err := d.settled(r)
	if err == nil && v != nil {
		v.x = float32(r.n)
		d.h.spot.Set(e, spot{v.x})
	}
	return err
}

func (d *sectionRun) mark(r record) error {
	v, _, e, err := d.settled(r)
	if err == nil && v != nil {
		v.mark = r.n | 1
		if !d.h.mark.Add(e, chalk{v.mark}) {
			d.h.mark.Set(e, chalk{v.mark}) // it had one
		}
	}
	return err
}

func (d *sectionRun) addLate(r record) error {
	v, _, e, err := d.settled(r)
	if err == nil && v != nil {
		if !d.h.hasLate {
			d.h.late, d.h.hasLate = ecs.Register[late](d.w), true
		}
		v.late = r.n | 1
		if !d.h.late.Add(e, late{v.late}) {
			d.h.late.Set(e, late{v.late})
		}
	}
	return err
}

// settle goes on until nothing is under way, and compares all.
func (d *sectionRun) settle() error {
	for d.host.Update(0) {
		time.Sleep(20 * time.Microsecond)
	}
	for _, i := range d.leaving {
		if i.State() != scene.Gone || i.Err() != nil {
			return fmt.Errorf("instance %d was unloaded, and is %v: %w", i.Number(), i.State(), i.Err())
		}
		for e := range i.copies {
			if d.w.Alive(e) {
				return fmt.Errorf("a copy of instance %d, which is gone, lives", i.Number())
			}
		}
	}
	d.leaving = nil
	for _, i := range d.instances {
		if i.State() != scene.Loaded || i.Err() != nil {
			return fmt.Errorf("instance %d is %v: %w", i.Number(), i.State(), i.Err())
		}
		i.reloaded(d.files)
	}
	return d.compare()
}

// reloaded brings to the model what differs between two variants.
func (i *loading) reloaded(f *SectionFiles) {
	older, newer := f.facts[i.variant][i.section], f.facts[i.to][i.section]
	i.variant = i.to
	maps.DeleteFunc(i.values, func(k sectionKey, _ *sectionValue) bool { _, is := newer[k]; return !is })
	maps.DeleteFunc(i.dead, func(k sectionKey, _ bool) bool { _, is := newer[k]; return !is })
	for k, now := range newer {
		was, is := older[k]
		v := i.values[k]
		if !is {
			i.values[k] = &sectionValue{fact: now}
			continue
		}
		if was.x != now.x {
			v.x = now.x
		}
		v.lit, v.next, v.over, v.to = now.lit, now.next, now.over, now.to
	}
}
