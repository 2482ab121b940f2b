package bake

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"quarry/ecs/image"
	"quarry/ecs/scene/internal/section"
)

// Report is scene.Report.
type Report struct {
	Objects, Baked int
	Sections       []SectionReport
	Removed        []string
}

// SectionReport is scene.SectionReport.
type SectionReport struct {
	Name, Path                      string
	Objects, Entities, Parts, Links int
	Written                         bool
}

// Bake is scene.Bakery.Bake, whose name is left for the face to put before errors.
func (b *Bakery) Bake(folder string, objects []Object) (Report, error) {
	l, err := listOf(objects)
	if err != nil {
		return Report{}, err
	}
	records, baked, err := b.bakeAll(l)
	if err != nil {
		return Report{}, err
	}
	report := Report{Objects: len(objects), Baked: baked}
	folder = filepath.Clean(folder) // "" is the working directory, not that for temporary files
	if err := removeStale(folder); err != nil {
		return Report{}, err
	}
	made, err := newStaging(folder)
	if err != nil {
		return Report{}, err
	}
	defer made.remove()
	staging := made.path
	sections := map[string]*bakedSection{}
	for _, name := range l.order {
		members := l.members[name]
		path := filepath.Join(folder, name+".world")
		input := b.input(l, records, members)
		if old := b.sections[name]; old != nil && slices.Equal(old.input, input) && old.report.Path == path &&
			isThere(path) {
			sections[name] = &bakedSection{input, old.report}
			sections[name].report.Written = false
		} else {
			now, err := b.bakeSection(l, records, name, members, filepath.Join(staging, name))
			if err != nil {
				return Report{}, err
			}
			now.Path = path
			sections[name] = &bakedSection{input, now}
		}
		report.Sections = append(report.Sections, sections[name].report)
	}
	for _, s := range report.Sections {
		if s.Written {
			delete(b.sections, s.Name) // if a later step fails, it is not what the bakery remembers
			if err := os.Rename(filepath.Join(staging, s.Name), s.Path); err != nil {
				return Report{}, err
			}
		}
	}
	for name, old := range b.sections {
		if sections[name] == nil && filepath.Dir(old.report.Path) == folder &&
			!isOneOf(old.report.Path, report.Sections) {
			if err := os.Remove(old.report.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return Report{}, err
			}
			report.Removed = append(report.Removed, old.report.Path)
		}
	}
	slices.Sort(report.Removed)
	b.sections, b.records = sections, map[string]*bakedObject{}
	for i, r := range records {
		b.records[objects[i].ID] = r
	}
	return report, nil
}

// isOneOf reports whether a file is that of a section, whose name may differ from its own by the
// case of letters.
func isOneOf(path string, sections []SectionReport) bool {
	old, err := os.Lstat(path)
	return err == nil && slices.ContainsFunc(sections, func(s SectionReport) bool {
		now, err := os.Lstat(s.Path)
		return err == nil && os.SameFile(old, now)
	})
}

// input returns what a section's file follows from (S2).
func (b *Bakery) input(l *list, records []*bakedObject, members []int) (input []uint64) {
	for _, i := range members {
		parent := uint64(0)
		if p := l.parent[i]; p >= 0 {
			parent = section.Hash(l.objects[p].ID)
		}
		input = append(input, records[i].number, parent)
		for _, id := range records[i].outside {
			at := uint64(0)
			if to, ok := l.at[id]; ok {
				at = section.Hash(l.objects[to].section())
			}
			input = append(input, at)
		}
	}
	return input
}

// bakeSection makes the file of a section.
func (b *Bakery) bakeSection(l *list, records []*bakedObject, name string, members []int,
	path string) (SectionReport, error) {
	if err := b.renew(l, records, members); err != nil {
		return SectionReport{}, err
	}
	a, err := b.assemble(l, records, members)
	if err != nil {
		return SectionReport{}, err
	}
	f, err := a.finish(name)
	if err == nil {
		err = image.SaveFile(a.w, path)
	}
	if err = errors.Join(err, a.w.Close()); err != nil {
		return SectionReport{}, err
	}
	return SectionReport{
		Name: name, Objects: len(members), Entities: len(f.order), Parts: int(f.parts), Links: len(f.links),
		Written: true,
	}, nil
}
