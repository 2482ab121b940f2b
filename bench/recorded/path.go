package recorded

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a recorded file or folder. If it does not exist, Path skips the test
// with the reason.
func Path(tb testing.TB, name string) string {
	tb.Helper()
	if data := os.Getenv("QUARRY_DATA"); data != "" {
		if path := filepath.Join(data, name); exists(path) {
			return path
		}
	} else if dir, err := os.Getwd(); err == nil {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if path := filepath.Join(dir, "shared", "data", name); exists(path) {
				return path
			}
		}
	}
	tb.Skip("skipped: no shared data (set QUARRY_DATA)")
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
