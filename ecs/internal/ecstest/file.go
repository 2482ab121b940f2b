package ecstest

import (
	"bytes"
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

// NewFile returns the image of a snapshot as a file that is read.
func NewFile(t testing.TB, s *ecs.Snapshot) *worldfile.File {
	im, err := door.ImageOf(s)
	require.NoError(t, err)
	defer im.Close()
	return FileOf(t, im)
}

// FileOf returns an image as a file that is read.
func FileOf(t testing.TB, im *worldfile.Image) *worldfile.File {
	f := &worldfile.File{Meta: im.Meta, Size: im.Size}
	var parts [len(im.Size)][]byte
	for part, size := range im.Size {
		parts[part] = bytes.Repeat([]byte{0xa5}, (size+alloc.MegachunkSize-1)/alloc.MegachunkSize*alloc.MegachunkSize)
		for at := 0; at < len(parts[part]); at += alloc.MegachunkSize {
			require.NoError(t, im.Read(part, at, parts[part][at:at+alloc.MegachunkSize]))
		}
	}
	f.Read = func(part, at int, dst []byte) error {
		if copy(dst, parts[part][at:f.Size[part]]) != len(dst) {
			return fmt.Errorf("%d bytes at %d of part %d", len(dst), at, part)
		}
		return nil
	}
	return f
}
