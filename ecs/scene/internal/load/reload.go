package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/scene/internal/section"
)

// reloading is a file that is read again.
type reloading struct {
	again bool // it has changed meanwhile
}

// reloaded is what a loader makes of a file that is read again.
type reloaded struct {
	newer  *base
	change replacement
	born   *opened    // a world with the entities that come, in the host's universe
	query  *ecs.Query // of them
}

// Reload is scene.Instance.Reload.
func (i *Instance) Reload() {
	if i.file == nil || i.file.base == nil || i.State != Loaded {
		panic(fmt.Sprintf("scene: Instance.Reload: the instance is %v, and live links are %v", i.State, i.host.Live))
	}
	if i.reload != nil {
		i.reload.again = true
		return
	}
	i.reload, i.Err = new(reloading), nil
	older := i.file.base
	i.read(func() (*opened, error) {
		file, err := readFile(i.Path)
		if err != nil {
			return nil, err
		}
		next, err := older.reread(file, i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", i.Path, err)
		}
		return &opened{next: next}, nil
	})
}

// reread reads a newer file and compares.
func (b *base) reread(file []byte, i *Instance) (r *reloaded, err error) {
	h, made := i.host, new(reloaded)
	r = made
	defer func() {
		if err != nil { // then r may be nil
			err = errors.Join(err, made.close())
		}
	}()
	if r.newer, err = newBase(file, i.Path, h.register, h.options); err != nil {
		return nil, err
	}
	if r.newer.section != b.section {
		return nil, fmt.Errorf("%w: it was section %s, and is %s", ErrSection, b.name, r.newer.name)
	}
	r.change = b.compare(r.newer)
	if len(r.change.born) == 0 {
		return r, nil
	}
	if r.born, err = openFrom(bytes.NewReader(file), i.Path, h.register, h.w.Universe(), h.options); err != nil {
		return nil, err
	}
	list := make([]ecs.Entity, 0, len(r.change.born))
	for _, id := range r.change.born {
		list = append(list, r.newer.at[id.Local]) // the two worlds of the file have the same ids
	}
	tag := r.born.types.Tag.Of(i.Number, 0)
	if _, err = ecs.NewChange(r.born.w, ecs.Put(tag)).ApplyList(list); err != nil {
		return nil, err
	}
	r.query = ecs.NewQuery(r.born.w, ecs.Where(tag), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	return r, nil
}

func (r *reloaded) close() (err error) {
	if r.newer != nil {
		err = r.newer.close()
	}
	if r.born != nil {
		err = errors.Join(err, r.born.close())
	}
	return err
}

// stepReload applies what a file that was read again has, if it is there.
func (i *Instance) stepReload() progress {
	if i.reload == nil {
		return idle
	}
	r := i.result.Swap(nil)
	if r == nil {
		return idle
	}
	again := i.reload.again
	i.reload = nil
	if r.err == nil && r.file != nil {
		r.err = i.apply(r.file.next)
	}
	if r.err != nil {
		i.Err = fmt.Errorf("scene: %w", r.err)
	}
	if again {
		err := i.Err
		i.Reload()
		i.Err = err
	}
	return did
}

// apply brings a change to the world.
func (i *Instance) apply(r *reloaded) error {
	w := i.host.w
	s := w.Snapshot()
	entities, err := i.applyChange(r)
	if err != nil {
		// The snapshot may be lost for want of room, or there are managed values without CopyWith.
		// Then some entities have values of the newer file, and a later Reload goes on from there.
		err = errors.Join(err, w.Restore(s), r.close())
		s.Close()
		return err
	}
	s.Close()
	old := i.file.base
	f := r.newer.opened
	i.Entities = entities
	i.file.count, i.file.byID, i.file.names, i.file.own, i.file.out = f.count, f.byID, f.names, f.own, f.out
	i.file.base = r.newer
	i.handles = i.handles[:0]
	for _, name := range f.names {
		i.handles = append(i.handles, i.host.typeOf(name))
	}
	i.restartLinks()
	i.leadHere()
	err = old.close()
	if r.born != nil {
		err = errors.Join(err, r.born.close())
	}
	return err
}

// restartLinks takes the links that were to be set of the older file, whose numbers mean other
// entities by now, and sets all of the newer one to the same sections.
func (i *Instance) restartLinks() {
	for _, to := range i.host.Instances {
		for n := range to.jobs {
			if job := &to.jobs[n]; job.from == i && job.to.file != nil {
				job.links = i.file.outTo(job.to.file.section)
			}
		}
	}
}

// leadHere lets other sections lead to the instance's entities, where they lead to none that lives:
// of several instances, the first keeps the links to it.
func (i *Instance) leadHere() {
	for _, other := range i.host.Instances {
		if other != i && other.State == Loaded {
			if links := other.file.outTo(i.file.section); len(links) > 0 {
				i.jobs = append(i.jobs, patching{other, links, i})
			}
		}
	}
}

// applyChange changes the world, and returns the entities by their new local numbers. What may find
// no room comes first, so that an error leaves nobody out: entities that came are destroyed again.
func (i *Instance) applyChange(r *reloaded) (_ []ecs.Entity, err error) {
	h, f := i.host, r.newer
	var born []ecs.Entity
	defer func() {
		if err != nil {
			h.w.DestroyList(born)
		}
	}()
	entities := make([]ecs.Entity, f.count)
	for _, id := range f.byID {
		if n := i.file.local(id.Object, id.Sub); n >= 0 {
			entities[id.Local] = i.at(n, id.Object, id.Sub)
		}
	}
	if r.query != nil {
		moved, err := h.w.MoveQuery(r.query)
		if err != nil {
			return nil, err
		}
		for rows := range moved.Batch.Rows() {
			list := rows.Entities()
			born = append(born, list...)
			for row, id := range h.types.Identity.Slice(rows) {
				entities[id.Local] = list[row]
			}
		}
	}
	for k := range r.change.edits {
		d := &r.change.edits[k]
		if e := entities[d.id.Local]; h.w.Alive(e) {
			if err := i.edit(e, d, f, entities); err != nil {
				return nil, err
			}
		}
	}
	for _, id := range r.change.born {
		for _, info := range f.infos {
			i.leadAll(entities[id.Local], section.TypeName(info), f.links[valueAt{id.Local, section.TypeName(info)}], f,
				entities)
		}
	}
	var gone []ecs.Entity
	for _, id := range r.change.gone {
		if e := i.at(int(id.Local), id.Object, id.Sub); e != ecs.Null {
			gone = append(gone, e)
		}
	}
	for _, id := range f.byID {
		h.types.Identity.Set(entities[id.Local], id)
	}
	h.w.DestroyList(gone)
	return entities, nil
}

// edit edits an entity.
func (i *Instance) edit(e ecs.Entity, d *edit, f *base, entities []ecs.Entity) error {
	h := i.host
	for _, name := range d.removed {
		if t := h.typeOf(name); t != nil {
			if _, err := ecs.NewChange(h.w, ecs.Remove(t)).Apply(e); err != nil {
				return err
			}
		}
	}
	for k := range d.values {
		v := &d.values[k]
		t := h.typeOf(v.of)
		if t == nil {
			continue // the program has dropped the type
		}
		give := ecs.Add(t)
		if ecs.InfoOf(t).Kind == ecs.KindShared {
			give = ecs.Put(door.SharedOf(h.w, t, v.value))
		}
		if _, err := ecs.NewChange(h.w, give).Apply(e); err != nil {
			return err
		}
		if v.value != nil {
			if _, err := door.SetValue(h.w, e, t, v.value); err != nil {
				return err
			}
		}
		if v.enables {
			door.SetEnabled(h.w, e, t, v.enabled)
		}
		i.leadAll(e, v.of, v.links, f, entities)
	}
	if d.renamed {
		h.w.SetName(e, d.name)
	}
	return nil
}

// leadAll sets the entities of a value.
func (i *Instance) leadAll(e ecs.Entity, of string, links []linkTo, f *base, entities []ecs.Entity) {
	h := i.host
	t := h.typeOf(of)
	if t == nil || len(links) == 0 {
		return
	}
	h.run = h.run[:0]
	for _, l := range links {
		to := ecs.Null
		if l.section == 0 {
			if n := f.local(l.object, l.sub); n >= 0 {
				to = entities[n]
			}
		} else {
			for _, other := range h.Instances {
				if to == ecs.Null && other.State == Loaded && other.file.section == l.section {
					to = other.find(l.object, l.sub)
				}
			}
		}
		if to != ecs.Null && h.w.Alive(to) {
			h.run = append(h.run, nthTo{l.nth, to})
		}
	}
	slices.SortFunc(h.run, func(a, b nthTo) int { return cmp.Compare(a.nth, b.nth) })
	h.setLinks(e, t, h.run)
}
