//go:build !linux

package process

import "time"

func cpu() time.Duration { return 0 }
