package disk

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// The name of a folder is in the folder above, and reaches the disk when that one is synced. So who
// makes "a/b/c" syncs "a/b", "a" and ".". Who finds it there cannot know whether a process that was
// killed had done so.

// MakeFolders makes a folder and those above it that are missing. Their names reach the disk by
// SyncAbove.
func MakeFolders(d Disk, path string) error {
	path = filepath.Clean(path)
	_, err := d.Lstat(path)
	if above := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && above != path {
		if err := MakeFolders(d, above); err != nil {
			return err
		}
	}
	return d.MakeFolder(path)
}

// SyncAbove syncs the names of a folder and of the folders above it to the disk. Folders above that
// the program may not read, or does not see, are left out.
func SyncAbove(d Disk, path string) error {
	path = filepath.Clean(path)
	above := filepath.Dir(path)
	if above == path {
		return nil
	}
	if _, err := d.Lstat(above); err != nil {
		return nil // what it sees ends here
	}
	if err := d.SyncFolder(above); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return SyncAbove(d, above)
}
