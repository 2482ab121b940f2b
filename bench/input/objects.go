package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxList bounds the text of an array in bytes, and maxObjects the number of its objects.
const (
	maxList    = 4 << 20
	maxObjects = 4096
)

// Objects reads an array of JSON objects with nothing after it.
func Objects[T any](r io.Reader) ([]T, error) {
	d := json.NewDecoder(limit(r, maxList))
	if first, err := d.Token(); err != nil {
		return nil, fmt.Errorf("expected an array of objects: %w", ended(err))
	} else if first != json.Delim('[') {
		return nil, fmt.Errorf("expected an array of objects, got %.60v", first)
	}
	var list []T
	for d.More() {
		if len(list) == maxObjects {
			return nil, fmt.Errorf("%w: expected at most %d objects: leave out what is not needed",
				ErrLimit, maxObjects)
		}
		var v T
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("expected an array of objects: object %d: %w", len(list)+1, ended(err))
		}
		list = append(list, v)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("expected an array of objects: after %d: %w", len(list), ended(err))
	}
	switch _, err := d.Token(); {
	case errors.Is(err, io.EOF):
		return list, nil
	case err != nil:
		return nil, fmt.Errorf("expected an array of objects and nothing after it: %w", err)
	}
	return nil, errors.New("expected an array of objects and nothing after it")
}

// ended turns the end of the text, where more is expected, into an error with that reason.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
