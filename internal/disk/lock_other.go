//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package disk

import "os"

// lockFile does nothing: this system has no lock that ends with its process. Two programs that
// would have the same lock are the user's to avoid.
func lockFile(*os.File) error { return nil }

// lockFolder does nothing, as lockFile.
func lockFolder(*os.File) (locked bool, err error) { return false, nil }
