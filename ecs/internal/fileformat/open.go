package fileformat

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"quarry/ecs/internal/worldfile"
	"quarry/internal/disk"
)

// The parts that Open reads, and those that it leaves to the mapping:
//
//	header, described sections, sums    read and checked
//	records                             checked when they are read: by Scan where they are mapped, for
//	                                    look-ups trust them
//	entries                             checked when Read reads them
//	rows                                checked when they are read; not where they are mapped
//	zeros between sections              not read
//
// With check all of it is read and checked first.

// Open opens the file at a path. Its caller closes the file; mapped memory outlives it.
func Open(path string, check bool) (*worldfile.File, io.Closer, error) {
	f, size, err := OpenRegular(path)
	if err != nil {
		return nil, nil, err
	}
	img, err := openFrom(f, size, check)
	if err != nil {
		_ = f.Close() // only read
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return img, f, nil
}

// OpenRegular is disk.OpenRegular; only a regular file can be a world file.
func OpenRegular(path string) (f *os.File, size int64, err error) {
	if f, size, err = disk.OpenRegular(path); errors.Is(err, disk.ErrNotRegular) {
		err = fmt.Errorf("%w: %w", worldfile.ErrImage, err)
	}
	return f, size, err
}

// openFrom is Open for a file of so many bytes.
func openFrom(f *os.File, size int64, whole bool) (img *worldfile.File, err error) {
	if whole {
		if err := Check(f, size); err != nil {
			return nil, err
		}
	}
	r := &reader{r: f}
	img = &worldfile.File{Map: f, Read: r.read, Fill: r.fillPart, Scan: r.scan, Compare: whole}
	if img.Meta, err = r.open(size); err != nil {
		return nil, err
	}
	for part := range img.Size {
		img.Size[part] = int(r.n[firstBulk+part])
		img.At[part] = r.at[firstBulk+part]
	}
	return img, nil
}

// reader reads a file whose sections can be read in any order.
type reader struct {
	header
	r    io.ReaderAt
	said []uint32 // checksums
	seen [worldfile.ImageBulk]tally
}

// open reads and checks the header, the described sections and the sums.
func (r *reader) open(size int64) (meta [worldfile.ImageMeta][]byte, err error) {
	if err := r.openHeader(size); err != nil {
		return meta, err
	}
	if err := r.checkSize(size); err != nil { // from here on nothing is larger than the file
		return meta, err
	}
	for i := range meta {
		if meta[i], err = r.readMeta(i); err != nil {
			return meta, err
		}
	}
	return meta, r.readSums()
}

// openHeader reads and checks the header.
func (r *reader) openHeader(size int64) (err error) {
	if size < headerBytes {
		return refused("it ends in the header, after %d bytes", size)
	}
	page := make([]byte, headerBytes)
	if err := r.fill(page, 0); err != nil {
		return err
	}
	r.header, err = decode(page)
	return err
}

// readMeta reads and checks a described section.
func (r *reader) readMeta(section int) ([]byte, error) {
	b := make([]byte, r.n[section])
	if err := r.fill(b, r.at[section]); err != nil {
		return nil, err
	}
	return b, r.checkMeta(section, b)
}

// readSums reads and checks the sums.
func (r *reader) readSums() (err error) {
	b := make([]byte, r.n[sums])
	if err := r.fill(b, r.at[sums]); err != nil {
		return err
	}
	for part := range r.seen {
		r.seen[part].n = r.n[firstBulk+part]
	}
	r.said, err = r.decodeSums(b)
	return err
}

// checkGaps reads the bytes between sections, all of which must be zero.
func (r *reader) checkGaps() error {
	b, end := make([]byte, len(zeros)), int64(headerBytes)
	for s := range sections {
		for end < r.at[s] {
			b = b[:min(int64(len(zeros)), r.at[s]-end)]
			if err := r.fill(b, end); err != nil {
				return err
			}
			if i := firstNonzero(b); i >= 0 {
				return errBetween(end+int64(i), b[i])
			}
			end += int64(len(b))
		}
		end = r.at[s] + r.n[s]
	}
	return nil
}

// fill reads len(b) bytes at an offset.
func (r *reader) fill(b []byte, at int64) error {
	if n, err := r.r.ReadAt(b, at); n < len(b) {
		if err == io.EOF {
			return refused("it ends after %d bytes: it was cut while it was read", at+int64(n))
		}
		return fmt.Errorf("%d bytes at byte %d: %w", len(b), at, err)
	}
	return nil
}

// read is worldfile.File.Read: it reads the next bytes of a part. Each MiB is checked when its last
// byte has been read.
func (r *reader) read(part, at int, dst []byte) error {
	t := &r.seen[part]
	if int64(at) != t.at || t.n-t.at < int64(len(dst)) {
		return errOrder(part, at, len(dst), t)
	}
	for len(dst) > 0 {
		b := dst[:min(sumEvery, len(dst))] // while it is in the cache
		if err := r.fill(b, r.at[firstBulk+part]+t.at); err != nil {
			return err
		}
		first := len(t.sums)
		t.add(b)
		if err := r.differing(part, first, t.sums[first:], r.said); err != nil {
			return err
		}
		dst = dst[len(b):]
	}
	return nil
}

// fillPart is worldfile.File.Fill.
func (r *reader) fillPart(part int, dst []byte) error {
	return r.eachMiB(part, func(mib int) error {
		at := mib * sumEvery
		t := tally{n: int64(min(sumEvery, len(dst)-at))}
		for t.at < t.n {
			// In pieces that stay in the cache until they are summed.
			b := dst[at+int(t.at):][:min(checkBuffer, t.n-t.at)]
			if err := r.fillMiB(part, mib, &t, b); err != nil {
				return err
			}
		}
		return r.differing(part, mib, t.sums, r.said)
	})
}

// scan is worldfile.File.Scan. If a MiB is damaged the error is that, whatever visit made of its
// bytes, or of others.
func (r *reader) scan(part int, visit func(at int, b []byte) error) error {
	refusals := make([]error, r.sumsOf(part))
	var one sync.Mutex // calls visit
	err := r.eachMiB(part, func(mib int) error {
		buffer := checkBuffers.Get().(*[checkBuffer]byte)
		defer checkBuffers.Put(buffer)
		at := int64(mib) * sumEvery
		t := tally{n: min(sumEvery, r.n[firstBulk+part]-at)}
		for t.at < t.n {
			from := int(at + t.at)
			b := buffer[:min(checkBuffer, t.n-t.at)]
			if err := r.fillMiB(part, mib, &t, b); err != nil {
				return err
			}
			one.Lock()
			if refusals[mib] == nil {
				refusals[mib] = visit(from, b)
			}
			one.Unlock()
		}
		return r.differing(part, mib, t.sums, r.said)
	})
	return cmp.Or(err, cmp.Or(refusals...))
}

// checkBuffers has buffers of goroutines that check parts: new ones would be zeroed, and their
// pages be new, which takes longer than a check of as many bytes.
var checkBuffers = sync.Pool{New: func() any { return new([checkBuffer]byte) }}

// fillMiB reads the next bytes of a MiB of a part, and sums them.
func (r *reader) fillMiB(part, mib int, t *tally, b []byte) error {
	err := r.fill(b, r.at[firstBulk+part]+int64(mib)*sumEvery+t.at)
	if err == nil {
		t.add(b)
	}
	return err
}

// eachMiB calls do for each MiB of a part, on up to four cores, and returns the error of the first
// MiB that has one.
func (r *reader) eachMiB(part int, do func(mib int) error) error {
	n := r.sumsOf(part)
	workers := max(1, min(runtime.GOMAXPROCS(0), 4, n/2))
	failed := make([]error, n)
	var next atomic.Int64
	work := func() {
		for mib := int(next.Add(1)) - 1; mib < n; mib = int(next.Add(1)) - 1 {
			failed[mib] = do(mib)
		}
	}
	var all sync.WaitGroup
	for range workers - 1 {
		all.Go(work)
	}
	work()
	all.Wait()
	return cmp.Or(failed...)
}
