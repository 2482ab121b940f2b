package fileformat

import (
	"fmt"
	"io"

	"quarry/ecs/internal/worldfile"
)

// Check reads a file of size bytes and returns an error unless all of it is as it was written.
func Check(r io.ReaderAt, size int64) error {
	s, _, err := openStream(io.NewSectionReader(r, 0, size))
	if err != nil {
		return err
	}
	if err := s.checkSize(size); err != nil {
		return err
	}
	buffer := make([]byte, checkBuffer)
	for part := range worldfile.ImageBulk {
		for t := &s.seen[part]; t.at < t.n; {
			if err := s.read(part, int(t.at), buffer[:min(checkBuffer, t.n-t.at)]); err != nil {
				return err
			}
		}
	}
	return s.finish()
}

// checkBuffer is the number of bytes that Check reads at once, which stay in the cache until they
// are summed.
const checkBuffer = 256 << 10

// checkSize returns an error unless a file has as many bytes as its header has recorded.
func (h *header) checkSize(size int64) error {
	if size != h.total {
		return refused("it has %d bytes, by its header %d", size, h.total)
	}
	return nil
}

// CheckFile is Check for the file at a path.
func CheckFile(path string) error {
	f, size, err := OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close() // it is only read
	if err := Check(f, size); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
