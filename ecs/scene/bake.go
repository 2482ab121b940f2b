package scene

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"quarry/ecs/image"
)

// partRows is the most entities of a part, but of an object that has more. A part moves into a
// host's world at once, in .5 ms or so.
const partRows = 8192

// Report says what a bake did.
type Report struct {
	Objects  int // of the input
	Baked    int // for which a baker was called
	Sections []SectionReport
	Removed  []string // paths of sections that are gone
}

// SectionReport says what a bake did with a section.
type SectionReport struct {
	Name     string
	Path     string // of its file
	Objects  int
	Entities int
	Parts    int
	Links    int  // entity values that lead to another part or section
	Written  bool // the file is new
}

// bakedSection is what a bakery remembers of a section's file.
type bakedSection struct {
	input  []uint64 // what it was made of (S2)
	report SectionReport
}

// Bake makes the file of each section in a folder, named after the section with .world behind it,
// from all objects of a scene. Only objects that have changed since the last bake, or depend on
// what has, are baked; only files of sections that they are in, or lead to, are written. The files
// are those of a full bake, byte for byte, whatever the number of workers, as long as bakers and
// systems do as they promise. Files of sections that the last bake made and that have no object any
// more are removed.
//
// Files are made in a folder beside them, .bake- and a number, which is removed at the end. If the
// program is killed before, the next bake of the folder removes it, as it does those of others that
// were killed; that of a bake that is running in another program stays.
//
// The error joins errors of objects, each an *Error, up to 20, or one of a baking system, of the
// disk, or a *ecs.LimitError. Then no file has changed, unless the disk fails while files are
// renamed: each is the old or the new one. The bakery remembers what succeeded last.
func (b *Bakery) Bake(folder string, objects []Object) (Report, error) {
	report, err := b.bake(folder, objects)
	if err != nil {
		// errors.md: `scene: Bakery.Bake: ...` | An object, a baker or a baking system is at fault,
		// or the disk. | What it says; files are those of before.
		return Report{}, fmt.Errorf("scene: Bakery.Bake: %w", err)
	}
	return report, nil
}

func (b *Bakery) bake(folder string, objects []Object) (Report, error) {
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
	sections, names := map[string]*bakedSection{}, sectionsOf(l)
	for _, name := range names.order {
		members := names.objects[name]
		path := filepath.Join(folder, name+".world")
		input := b.input(l, records, members)
		if old := b.sections[name]; old != nil && slices.Equal(old.input, input) && old.report.Path == path && isThere(path) {
			sections[name] = &bakedSection{input, old.report}
			sections[name].report.Written = false
		} else {
			section, err := b.bakeSection(l, records, name, members, filepath.Join(staging, name))
			if err != nil {
				return Report{}, err
			}
			section.Path = path
			sections[name] = &bakedSection{input, section}
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
		if sections[name] == nil && filepath.Dir(old.report.Path) == folder && !isOneOf(old.report.Path, report.Sections) {
			if err := os.Remove(old.report.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return Report{}, err
			}
			report.Removed = append(report.Removed, old.report.Path)
		}
	}
	slices.Sort(report.Removed)
	b.sections, b.records = sections, map[string]*record{}
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

func isThere(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// sectionNames are the sections of objects, in the order in which they come first.
type sectionNames struct {
	order   []string
	objects map[string][]int
}

func sectionsOf(l *list) sectionNames {
	s := sectionNames{objects: map[string][]int{}}
	for i := range l.objects {
		name := l.objects[i].section()
		if s.objects[name] == nil {
			s.order = append(s.order, name)
		}
		s.objects[name] = append(s.objects[name], i)
	}
	return s
}

// input returns what a section's file follows from (S2).
func (b *Bakery) input(l *list, records []*record, members []int) (input []uint64) {
	for _, i := range members {
		parent := uint64(0)
		if p := l.parent[i]; p >= 0 {
			parent = ObjectID(l.objects[p].ID)
		}
		input = append(input, records[i].number, parent)
		for _, id := range records[i].outside {
			section := uint64(0)
			if to, ok := l.at[id]; ok {
				section = SectionID(l.objects[to].section())
			}
			input = append(input, section)
		}
	}
	return input
}

// bakeSection makes the file of a section.
func (b *Bakery) bakeSection(l *list, records []*record, name string, members []int, path string) (SectionReport, error) {
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
	return SectionReport{Name: name, Objects: len(members), Entities: len(f.order), Parts: int(f.parts), Links: len(f.links), Written: true}, nil
}
