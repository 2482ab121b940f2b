package fileformat

import (
	"io"

	"quarry/ecs/internal/worldfile"
)

// Load returns what a stream holds, of which the header and the described sections have been read.
// Read must be called in the order of the file: rows, records, entries. Then finish reads the rest
// and says whether all that was read has its checksums; after an error the world must be thrown
// away, and until then nothing that was read may be trusted. Nothing behind the file is read.
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
