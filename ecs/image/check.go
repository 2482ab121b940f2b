package image

import (
	"fmt"
	"io"

	"quarry/internal/seam"
)

// check reads a file of size bytes and returns an error unless all of it is as it was written.
func check(r io.ReaderAt, size int64) error {
	s, _, err := openStream(io.NewSectionReader(r, 0, size))
	if err != nil {
		return err
	}
	if err := s.checkSize(size); err != nil {
		return err
	}
	buffer := make([]byte, checkBuffer)
	for part := range seam.ImageBulk {
		for t := &s.seen[part]; t.at < t.n; {
			if err := s.read(part, int(t.at), buffer[:min(checkBuffer, t.n-t.at)]); err != nil {
				return err
			}
		}
	}
	return s.finish()
}

// checkBuffer is the number of bytes that check reads at once, which stay in the cache until they
// are summed.
const checkBuffer = 256 << 10

// checkSize returns an error unless a file has as many bytes as its header says.
func (h *header) checkSize(size int64) error {
	if size != h.total {
		return refused("it has %d bytes, by its header %d", size, h.total)
	}
	return nil
}

// Check reads the world file at a path and returns an error unless each byte of it is as it was
// written: one that wraps [ErrFile] and says what is damaged where, or the system's. No world is
// needed, and no type. Any goroutine may call it, beside worlds that were opened from the file too.
// Cost: reading the file; from the page cache, 9 GB/s. Memory: 256 KiB and the described sections.
func Check(path string) error {
	if err := checkFile(path); err != nil {
		return fmt.Errorf("image: Check: %w", err)
	}
	return nil
}

// checkFile is check for the file at a path.
func checkFile(path string) error {
	f, size, err := openRegular(path)
	if err != nil {
		return err
	}
	defer f.Close() // it is only read
	if err := check(f, size); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
