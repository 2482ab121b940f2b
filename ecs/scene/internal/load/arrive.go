package load

import (
	"fmt"
	"time"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/scene/internal/section"
)

// linksAtOnce is how many links a step sets.
const linksAtOnce = 256

// arrive begins to take a file into the world.
func (i *Instance) arrive(file *opened) {
	i.file, i.State, i.part = file, Arriving, 0
	i.Entities, file.arrived = file.arrived, nil
	i.handles = make([]ecs.Type, len(file.names))
	for n, name := range file.names {
		i.handles[n] = i.host.typeOf(name)
	}
}

// move moves a part, unless it is expected to take more time than is left.
func (i *Instance) move(must bool, left time.Duration) progress {
	h := i.host
	q := i.file.parts[i.part]
	n := q.Count()
	if !h.fits(moving, n, must, left) {
		return later
	}
	begun := time.Now()
	if err := door.MoveQuery(h.w, q, &h.moved); err != nil {
		err = fmt.Errorf("scene: %s: %w", i.Path, err)
		i.clear()
		i.leave()
		i.fail(err)
		return did
	}
	for rows := range h.moved.Batch.Rows() {
		list := rows.Entities()
		for row, id := range h.types.Identity.Slice(rows) {
			i.Entities[id.Local] = list[row]
		}
	}
	h.paces[moving].note(time.Since(begun), n)
	if i.part++; i.part == len(i.file.parts) {
		i.jobs = append(i.jobs, patching{i, i.file.own, i})
		for _, other := range h.Instances {
			if other.file == nil || other.State != Loaded && other != i {
				continue
			}
			if links := i.file.outTo(other.file.section); len(links) > 0 {
				i.jobs = append(i.jobs, patching{i, links, other})
			}
		}
	}
	return did
}

// setLinks sets some links, and is idle if there are none.
func (i *Instance) setLinks(must bool, remains time.Duration) progress {
	if len(i.jobs) == 0 {
		return idle
	}
	if !i.host.fits(linking, 1, must, remains) {
		return later
	}
	begun, left := time.Now(), linksAtOnce
	for len(i.jobs) > 0 && left > 0 {
		job := &i.jobs[0]
		if len(job.links) == 0 || job.to.file == nil || job.to.State == Gone || job.from.State == Gone {
			i.jobs = i.jobs[1:]
			continue
		}
		n := min(left, len(job.links))
		for rest := job.links[:n]; len(rest) > 0; {
			rest = rest[job.from.setLinksOf(rest, job.to):]
		}
		job.links = job.links[n:]
		left -= n
	}
	if left == linksAtOnce {
		return idle
	}
	i.host.paces[linking].note(time.Since(begun), 1)
	return did
}

// setLinksOf sets the first links of a list, those of a value of an entity of the instance, to
// entities of another instance or the same, and returns how many there are.
func (i *Instance) setLinksOf(links []section.Link, target *Instance) int {
	h, first, n := i.host, links[0], 0
	h.run = h.run[:0]
	for ; n < len(links) && links[n].Holder == first.Holder && links[n].Type == first.Type; n++ {
		l := links[n]
		var to ecs.Entity
		if l.Section == 0 {
			to = i.Entities[l.Sub]
		} else {
			to = target.find(l.Object, l.Sub)
		}
		if to != ecs.Null && h.w.Alive(to) {
			h.run = append(h.run, nthTo{l.Nth, to})
		}
	}
	holder := i.Entities[first.Holder]
	// Else the type was dropped, or the game destroyed the entity.
	if t := i.handles[first.Type]; t != nil && h.w.Alive(holder) {
		h.setLinks(holder, t, h.run)
	}
	return n
}

// show ends the arrival, unless that is expected to take more time than is left: it shows the
// entities, all at once, and lets other sections lead to them.
func (i *Instance) show(must bool, left time.Duration) progress {
	if !i.host.fits(showing, len(i.Entities), must, left) {
		return later
	}
	begun := time.Now()
	if err := i.reveal(); err != nil {
		err = fmt.Errorf("scene: %s: %w", i.Path, err)
		i.clear()
		i.leave()
		i.fail(err)
		return did
	}
	i.State = Loaded
	if err := i.file.closeWorld(); err != nil {
		i.Err = err
	}
	i.leadHere()
	i.host.paces[showing].note(time.Since(begun), len(i.Entities))
	return did
}

// reveal takes away DisabledEntity, where it does not stay.
func (i *Instance) reveal() error {
	h := i.host
	if !i.file.hidden {
		return nil
	}
	disabled := ecs.Register[ecs.DisabledEntity](h.w)
	for part := range i.file.parts {
		tag := ecs.Where(h.types.Tag.Of(i.Number, uint32(part)))
		err := i.without(disabled, tag, ecs.Without(h.types.Stays))
		if err == nil && i.file.stays {
			err = i.without(h.types.Stays, tag, ecs.With(h.types.Stays))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// without removes a type from the entities that terms match.
func (i *Instance) without(t ecs.Type, terms ...ecs.Term) error {
	w := i.host.w
	q := ecs.NewQuery(w, append(terms, ecs.IncludeDisabled(), ecs.IncludePrefabs())...)
	defer q.Close()
	_, err := ecs.NewChange(w, ecs.Remove(t)).ApplyQuery(q)
	return err
}
