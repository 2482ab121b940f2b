package worldfile

import (
	"cmp"
	"slices"

	"quarry/ecs/internal/world"
)

// What saving and loading a world do for each part of it; see world.Part. The sections of a file,
// which are older than this list, are those of image.go.

// saves has the steps that write each part of an image.
var saves = [...]struct {
	do      func(w *imageWriter) error
	because string
}{
	{func(w *imageWriter) error { w.describeTypes(); return nil }, ""},
	{nil, "with the archetypes that have them"},
	{(*imageWriter).describeTables, ""},
	{(*imageWriter).describeRows, ""},
	{nil, "with the archetypes"},
	{nil, "with the rows, which name their blocks"},
	{nil, "with the rows, which have their slots"},
	{(*imageWriter).describeIDs, ""},
	{(*imageWriter).describeNames, ""},
	{func(w *imageWriter) error { w.describeSets(); return nil }, ""},
	{(*imageWriter).describeCounters, ""},
}

var _ = [1]struct{}{}[len(saves)-int(world.PartCount)] // each part has an entry

// describeRows returns where chunks, blocks and managed values lie.
func (w *imageWriter) describeRows() error {
	if err := w.describeManaged(); err != nil {
		return err
	}
	w.place()
	return w.describeBlocks()
}

func (w *imageWriter) describeIDs() error {
	w.im.ids = *w.s.World.IDs.ImageOf(&w.s.Ids)
	w.size[ImageRecords] = w.im.ids.Bytes()
	return nil
}

func (w *imageWriter) describeNames() error {
	for text := range w.s.Names.Texts() {
		n := imageName{text: text}
		for e := range w.s.Names.AllNamed(text) {
			n.ids = append(n.ids, e)
		}
		w.im.Names = append(w.im.Names, n)
	}
	slices.SortFunc(w.im.Names, func(a, b imageName) int { return cmp.Compare(a.text, b.text) })
	return nil
}

func (w *imageWriter) describeCounters() error {
	w.im.Created, w.im.Destroyed, w.im.Version = w.s.Created, w.s.Destroyed, w.s.Version
	return nil
}

// loads is what a world gets of each part of a file.
var loads = [...]struct {
	do      func(l *imageLoader) error
	because string
}{
	{(*imageLoader).loadTypes, ""},
	{(*imageLoader).makeValues, ""},
	{(*imageLoader).prepareTables, ""},
	{(*imageLoader).loadRows, ""},
	{(*imageLoader).convertTables, ""},
	{nil, "with the rows: blocks lie behind the chunks"},
	{(*imageLoader).adoptManaged, ""},
	{(*imageLoader).loadIDs, ""},
	{(*imageLoader).adoptNames, ""},
	{(*imageLoader).adoptSets, ""},
	{(*imageLoader).loadCounters, ""},
}

var _ = [1]struct{}{}[len(loads)-int(world.PartCount)] // each part has an entry

// loadOrder has first the parts that are checked before memory is allocated, then rows, then the
// parts that refer to rows; values of types that have changed are converted when rows have
// entities.
var loadOrder = [...]world.Part{world.PartTypes, world.PartValues, world.PartArchetypes, world.PartRows,
	world.PartManaged, world.PartIDs,
	world.PartCounters, world.PartMetadata, world.PartSparse, world.PartNames}

func (l *imageLoader) loadTypes() error {
	if err := l.matchTypes(); err != nil {
		return err
	}
	return l.takeNewer()
}

// loadRows takes the tag, which all rows carry, and the rows.
func (l *imageLoader) loadRows() error {
	w := l.w
	if own := w.IDs.Tag(); own != l.im.ids.Tag {
		world.Tags.Free(own)
		world.Tags.Share(l.im.ids.Tag)
		w.IDs.SetTag(l.im.ids.Tag)
	}
	if err := l.takeRows(); err != nil {
		return err
	}
	return l.adoptTables()
}

func (l *imageLoader) loadIDs() error {
	if err := l.adoptIDs(); err != nil {
		return err
	}
	if err := l.compareRows(); err != nil {
		return err
	}
	l.w.SetLookupRecords(l.w.IDs.View())
	return nil
}

func (l *imageLoader) loadCounters() error {
	l.w.Tables.Version = l.im.Version
	l.w.Writer.Created, l.w.Writer.Destroyed = l.im.Created, l.im.Destroyed
	return nil
}
