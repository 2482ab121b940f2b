package seam

import (
	"quarry/ecs"
	"quarry/internal/seam/under"
)

// Image is the state of a world at one moment on its way to a file.
type Image = under.Image

// Sections of an image that are described, and bulk parts; see under.
const (
	ImageTypes   = under.ImageTypes
	ImageTables  = under.ImageTables
	ImageIDs     = under.ImageIDs
	ImageNames   = under.ImageNames
	ImageSparse  = under.ImageSparse
	ImageManaged = under.ImageManaged
	ImageMeta    = under.ImageMeta
	ImageRows    = under.ImageRows
	ImageRecords = under.ImageRecords
	ImageEntries = under.ImageEntries
	ImageBulk    = under.ImageBulk
)

// ErrImage is wrapped by errors that say that a file is none of a world, or damaged.
var ErrImage = under.ErrImage

// ErrImageTypes is wrapped by errors that say that types of a file and of the program differ.
var ErrImageTypes = under.ErrImageTypes

// ImageFile is where a world is opened from.
type ImageFile = under.ImageFile

// ImageOf returns the image of a snapshot for a file. Any goroutine may call it, and read the
// image; the snapshot cannot be closed before the image is. The error says that the snapshot is
// lost, or which values cannot be written; it has no prefix. Cost: the books of the world, the rows
// of archetypes with buffers if any buffer has spilled, and the codecs of managed values.
func ImageOf(s *ecs.Snapshot) (*Image, error) { return ecs.Inside(key).ImageOf(s) }

// ImageOfWorld takes a snapshot of a world and returns its image, which the owner reads and closes
// before anything else happens to the world. Unlike ImageOf it has values of managed types without
// CopyWith, which are the world's own. It panics where World.Snapshot and Close do.
func ImageOfWorld(w *ecs.World) (*Image, error) { return ecs.Inside(key).ImageOfWorld(w) }

// OpenImage makes a world of a file. It calls register with the new world, which has no entities
// then, to register the types; see package image. The error has no prefix: it wraps ErrImage or
// ErrImageTypes, is a *ecs.LimitError, or is from ecs.NewWorld or the file; no world is left
// behind.
func OpenImage(f *ImageFile, register func(*ecs.World), options []ecs.Option) (*ecs.World, error) {
	return ecs.Inside(key).OpenImage(f, register, options)
}

// ImageInfo is what the described sections of an image say, for people.
type ImageInfo = under.ImageInfo

// ImageField is a field of a type of an ImageInfo.
type ImageField = under.ImageField

// ImageManagedType is the values of a managed type of an ImageInfo.
type ImageManagedType = under.ImageManagedType

// ImageSet is the set of a sparse type of an ImageInfo.
type ImageSet = under.ImageSet

// DescribeImage describes the world of a file by its described sections, without types and rows: it
// uses Meta and Size of f alone. What it shares with them must not be written. The error wraps
// ErrImage and has no prefix. Any goroutine may call it. Cost: reading the sections.
func DescribeImage(f *ImageFile) (*ImageInfo, error) { return ecs.Inside(key).DescribeImage(f) }

// ImageRules say what becomes of types of an image that the program has otherwise, or not at all.
type ImageRules = under.ImageRules

// ImageRename is a part of ImageRules.
type ImageRename = under.ImageRename

// ImageLostField is a part of ImageRules.
type ImageLostField = under.ImageLostField

// ImageFieldRename is a part of ImageRules.
type ImageFieldRename = under.ImageFieldRename

// ImageConversion is a part of ImageRules.
type ImageConversion = under.ImageConversion

// ImagePlan is what becomes of a type of an image.
type ImagePlan = under.ImagePlan

// PlanImage says what becomes of each type of a file, in their order, in a world for which register
// is called. It uses Meta, Size and Rules of f alone. The error wraps ErrImage, or is from
// ecs.NewWorld; types that OpenImage would refuse have the error in their plan.
func PlanImage(f *ImageFile, register func(*ecs.World)) ([]ImagePlan, error) {
	return ecs.Inside(key).PlanImage(f, register)
}

// PlanBetween is PlanImage for a program whose types are those of a newer file, of which it uses
// Meta and Size. Nothing is converted by functions then: the types have names alone.
func PlanBetween(f, newer *ImageFile) ([]ImagePlan, error) {
	return ecs.Inside(key).PlanBetween(f, newer)
}
