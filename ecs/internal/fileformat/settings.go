package fileformat

import (
	"quarry/ecs"
	"quarry/ecs/internal/worldfile"
)

// Settings is the options of package image for opening a file.
type Settings struct {
	World []ecs.Option // of the new world
	Check bool         // each byte first
	Trust bool         // records are not checked
	Read  bool         // nothing is mapped
	Rules worldfile.Rules
}
