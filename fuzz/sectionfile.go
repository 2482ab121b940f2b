package fuzz

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"quarry/ecs"
	"quarry/ecs/scene"
)

// The files of the section driver. They are baked once, in variants, of which a run sees one after
// the other; what they have is known from the authoring data alone.

const (
	sections        = 4
	sectionVariants = 3
	bigSection      = 3    // has several parts, and the same objects in each variant
	bigObjects      = 2800 // of three entities each
)

// Types of what is baked.
type (
	spot struct{ X float32 }
	lamp struct{}                // a tag
	next struct{ To ecs.Entity } // of the same section
	over struct{ To ecs.Entity } // of another
)

// site is authoring data.
type site struct {
	X          float32
	Lit        bool
	Next, Over string // ids of other objects, or ""
	More       int    // entities besides that of the object
}

// sectionKey is an entity whatever its id; the zero key is no key.
type sectionKey struct {
	object uint64
	sub    uint32
}

// fact is what a file has about an entity.
type fact struct {
	x    float32
	lit  bool
	next sectionKey
	over sectionKey
	to   int // section of over
}

// SectionFiles are the files that RunSections loads.
type SectionFiles struct {
	folder string
	facts  [sectionVariants][sections]map[sectionKey]fact
}

func registerSites(w *ecs.World) {
	ecs.Register[spot](w)
	ecs.Register[lamp](w)
	ecs.Register[next](w)
	ecs.Register[over](w)
}

func siteID(section, n int) string { return fmt.Sprintf("%d.%d", section, n) }
func sectionName(n int) string     { return fmt.Sprintf("section-%d", n) }

// BakeSections bakes the files into a folder.
func BakeSections(folder string) (*SectionFiles, error) {
	f := &SectionFiles{folder: folder}
	b, err := scene.NewBakery(registerSites)
	if err != nil {
		return nil, fmt.Errorf("fuzz: BakeSections: %w", err)
	}
	defer b.Close()
	scene.AddBaker(b, "site", bakeSite)
	for v := range sectionVariants {
		to := filepath.Join(folder, fmt.Sprint(v))
		if err := os.Mkdir(to, 0o755); err != nil {
			return nil, fmt.Errorf("fuzz: BakeSections: %w", err)
		}
		if _, err := b.Bake(to, f.draw(v)); err != nil {
			return nil, fmt.Errorf("fuzz: BakeSections: %w", err)
		}
	}
	return f, nil
}

func bakeSite(c *scene.Context, s site) error {
	all := []ecs.Entity{c.Entity()}
	for range s.More {
		all = append(all, c.Create())
	}
	for i, e := range all {
		scene.Put(c, e, spot{s.X + float32(i)})
		if s.Lit {
			scene.Put(c, e, lamp{})
		}
		if s.Next != "" {
			scene.Put(c, e, next{c.EntityOf(s.Next)})
		}
		if s.Over != "" {
			scene.Put(c, e, over{c.EntityOf(s.Over)})
		}
	}
	return nil
}

// draw returns the objects of a variant and notes what they come to.
func (f *SectionFiles) draw(variant int) []scene.Object {
	present := [sections][]int{}
	for s := range sections {
		n, some := 12, rand.New(rand.NewPCG(uint64(variant), uint64(s)))
		if s == bigSection {
			n, some = bigObjects, rand.New(rand.NewPCG(0, uint64(s)))
		}
		for k := range n {
			if k < 2 || s == bigSection || some.IntN(3) > 0 { // the first two are in each variant
				present[s] = append(present[s], k)
			}
		}
	}
	var list []scene.Object
	for s := range sections {
		f.facts[variant][s] = map[sectionKey]fact{}
		for _, k := range present[s] {
			// What an object has changes in some variants.
			still := rand.New(rand.NewPCG(77, uint64(s*1_000_000+k)))
			r := still
			if s != bigSection && still.IntN(2) == 0 {
				r = rand.New(rand.NewPCG(uint64(variant), uint64(s*1_000_000+k)))
			}
			v := site{X: float32(r.IntN(1000)), Lit: r.IntN(2) == 0, More: r.IntN(3)}
			own, others := present[s], (s+1+r.IntN(sections-1))%sections
			if s == bigSection {
				v.More, others = 2, r.IntN(sections-1)
			}
			to := 0
			if r.IntN(3) > 0 {
				to = own[r.IntN(len(own))]
				v.Next = siteID(s, to)
			}
			far := 0
			if r.IntN(3) == 0 {
				if far = r.IntN(2); others != bigSection && s != bigSection {
					far = present[others][r.IntN(len(present[others]))]
				}
				v.Over = siteID(others, far)
			}
			list = append(list, scene.Object{ID: siteID(s, k), Section: sectionName(s), Place: siteID(s, k), Value: v})
			for i := range v.More + 1 {
				what := fact{x: v.X + float32(i), lit: v.Lit, to: others}
				if v.Next != "" {
					what.next = sectionKey{object: scene.ObjectID(v.Next)}
				}
				if v.Over != "" {
					what.over = sectionKey{object: scene.ObjectID(v.Over)}
				}
				f.facts[variant][s][sectionKey{scene.ObjectID(siteID(s, k)), uint32(i)}] = what
			}
		}
	}
	return list
}
