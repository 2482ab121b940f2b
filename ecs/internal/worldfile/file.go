package worldfile

import (
	"errors"
	"os"
)

// ErrImage is wrapped by the errors of a file that is not a world file, or is damaged.
var ErrImage = errors.New("not a usable world file")

// ErrImageTypes is wrapped by errors of types that differ in a file and in the program.
var ErrImageTypes = errors.New("types differ")

// Sections of an image that are described: each is coded here, and checked when it is read. Another
// one is also an entry of Sections and of imageSectionNames in image.go, of sectionNames in package
// fileformat, and of docs/files.md.
const (
	ImageTypes   = iota // the types that the world has
	ImageTables         // shared values, archetypes, and the metadata of their chunks
	ImageIDs            // free ids, and what was reserved
	ImageNames          // names of entities
	ImageSparse         // the metadata of sparse types
	ImageManaged        // values of managed types
	ImageMeta           // number of these sections
)

// Bulk parts of an image: bytes that lie in memory as in the file.
const (
	ImageRows    = iota // chunks and blocks of buffers, in whole granules of 2 MiB
	ImageRecords        // the records of the ids
	ImageEntries        // entities and values of sparse types
	ImageBulk           // number of these parts
)

// Image is the state of a world at one moment on its way to a file.
type Image struct {
	Meta [ImageMeta][]byte
	Size [ImageBulk]int // bytes of the bulk parts

	// Read fills dst with the bytes of a part from at on. For ImageRows at and len(dst) are
	// multiples of 1 MiB. Several goroutines may call it. An error means that the snapshot is lost.
	Read func(part, at int, dst []byte) error
	// Close ends the image. Until then the snapshot cannot be closed.
	Close func()
}

// File is where an image is opened from.
type File struct {
	Meta [ImageMeta][]byte
	Size [ImageBulk]int

	// Map is the file to map the rows and records from, at the offsets At, which are multiples of 2
	// MiB; nil: they are read.
	Map *os.File
	At  [ImageBulk]int64
	// Read fills dst with the bytes of a part from at on: in order, each byte once, ImageRows
	// first, then ImageRecords unless they are mapped, then ImageEntries.
	Read func(part, at int, dst []byte) error

	// Fill fills dst with all of a part, read and checked on several cores; nil: Read is used.
	Fill func(part int, dst []byte) error
	// Scan reads a part, checks it, and calls visit with its bytes, in pieces of any order and one
	// call at a time; nil: what is mapped is read where it lies. visit may see bytes that are
	// damaged; then Scan returns that error, as Read does, and otherwise that of visit.
	Scan func(part int, visit func(at int, b []byte) error) error

	Compare bool // each row is compared with the record of its entity
	Trusted bool // records that are mapped are not checked

	Rules *Rules // for types that differ; nil: none
	// Newer, if it is set, is called once if types of the image and of the program differ, before
	// anything but Meta is used. It returns an image of the same types, which is opened instead.
	Newer   func() (*File, error)
	Changed bool // set where types differ, before Newer is called
	Added   bool // set where the program has types that the image does not describe
}
