package main

import (
	"context"
	"errors"
	"io"
)

// program is a program that uses a library, for -load.
type program struct {
	text string // of its main.go
}

func (o *options) measure(context.Context, *scratch, io.Writer) error {
	return errors.New("-load: not there yet")
}
