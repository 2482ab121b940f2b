package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// The files of a journal. Their numbers are those of the commit whose state the base has.
const (
	lockName     = "lock"
	basePrefix   = "base-"
	baseSuffix   = ".world"
	logPrefix    = "log-"
	logSuffix    = ".journal"
	numberDigits = 20 // of the largest, so that the names sort as the numbers
)

// copyBytes is the number of bytes of a log that are read or copied at once.
const copyBytes = 1 << 20

// placeOf returns the path of a folder, which stays where it is when the program goes elsewhere. No
// name is not the name of the folder that the program is in.
func placeOf(folder string) (string, error) {
	if folder == "" {
		return "", errors.New("the folder has no name")
	}
	return filepath.Abs(folder)
}

func baseName(number uint64) string { return fileName(basePrefix, number, baseSuffix) }
func logName(number uint64) string  { return fileName(logPrefix, number, logSuffix) }

func fileName(prefix string, number uint64, suffix string) string {
	return fmt.Sprintf("%s%0*d%s", prefix, numberDigits, number, suffix)
}

// numberIn returns the number in the name of a base or log.
func numberIn(name, prefix, suffix string) (number uint64, ok bool) {
	digits, hasPrefix := strings.CutPrefix(name, prefix)
	digits, hasSuffix := strings.CutSuffix(digits, suffix)
	if !hasPrefix || !hasSuffix || len(digits) != numberDigits {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil
}
