package fileformat

import (
	"quarry/ecs"
	"quarry/ecs/internal/worldfile"
)

// Settings is what options of package image say about opening a file.
type Settings struct {
	World []ecs.Option // of the new world
	Check bool         // each byte first
	Rules worldfile.Rules
}
