package fileformat

import (
	"io"

	"quarry/ecs/internal/worldfile"
)

// Load reads the header and the described sections of a world file from a stream. The caller then
// reads the other sections by File.Read, in the order of the file: rows, records, entries. Last,
// finish reads what is left and compares all checksums. Until it has returned nil nothing that was
// read may be trusted, and after an error the world must be thrown away. Nothing after the file is
// read.
func Load(r io.Reader) (f *worldfile.File, finish func() error, err error) {
	s, meta, err := openStream(r)
	if err != nil {
		return nil, nil, err
	}
	f = &worldfile.File{Meta: meta, Read: s.read, Compare: true}
	for part := range f.Size {
		f.Size[part] = int(s.n[firstBulk+part])
	}
	return f, s.finish, nil
}
