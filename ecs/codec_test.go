package ecs_test

import (
	"bytes"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestCodecMisuse: what does not fit is refused where the type is registered.
func TestCodecMisuse(t *testing.T) {
	w := ecstest.NewWorld(t)
	write, read := func(b []byte, _ *int) ([]byte, error) { return b, nil }, func([]byte, *int) error { return nil }
	for want, call := range map[string]func(){
		"ecs: Codec: a function is nil":                                                func() { ecs.Codec(nil, read) },
		"ecs: Codec: a function is nil ":                                               func() { ecs.Codec(write, nil) },
		"ecs: Register[int]: Codec is an option of RegisterManaged and RegisterShared": func() { ecs.Register[int](w, ecs.Codec(write, read)) },
		"ecs: Register[managed string]: Codec is of int":                               func() { ecs.RegisterManaged[string](w, ecs.Codec(write, read)) },
		"ecs: RegisterManaged[*int]: registered before with other options": func() {
			ecs.RegisterManaged[*int](w)
			ecs.RegisterManaged[*int](w, ecs.Codec(func(b []byte, _ **int) ([]byte, error) { return b, nil },
				func([]byte, **int) error { return nil }))
		},
		"ecs: RegisterShared[int]: the options of shared types are Cleanup and Codec": func() {
			ecs.RegisterShared[int](w, ecs.Codec(write, read), ecs.Enableable)
		},
	} {
		require.PanicsWithValue(t, string(bytes.TrimRight([]byte(want), " ")), call)
	}
	ecs.RegisterShared[int](w, ecs.Codec(write, read))
	ecs.RegisterShared[int](w, ecs.Codec(write, read))
}
