package bake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// jsonObject is an object in JSON.
type jsonObject struct {
	ID      string          `json:"id"`
	Section string          `json:"section"`
	Parent  string          `json:"parent"`
	Baker   string          `json:"baker"`
	Value   json.RawMessage `json:"value"`
}

// ReadJSON is scene.Bakery.ReadJSON, whose name is left for the face to put before errors.
func (b *Bakery) ReadJSON(name string, r io.Reader) (objects []Object, err error) {
	input, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	line := func(offset int64) int { return 1 + bytes.Count(input[:offset], []byte{'\n'}) }
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	if begin, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%s:%d: no list of objects: %w", name, line(d.InputOffset()), err)
	} else if begin != json.Delim('[') {
		return nil, fmt.Errorf("%s:%d: a list of objects begins with [, not %v", name, line(d.InputOffset()), begin)
	}
	var errs []error
	for d.More() {
		begin := d.InputOffset()
		begin += int64(len(input[begin:]) - len(bytes.TrimLeft(input[begin:], ", \t\r\n")))
		o := Object{Place: fmt.Sprintf("%s:%d", name, line(begin))}
		var read jsonObject
		if err := d.Decode(&read); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", o.Place, err))
			if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) ||
				errors.Is(err, io.EOF) {
				return nil, joined(errs)
			}
			continue
		}
		o.ID, o.Section, o.Parent = read.ID, read.Section, read.Parent
		t := b.named[read.Baker]
		if t == nil {
			errs = append(errs,
				&Error{Object: o.ID, Place: o.Place, Err: fmt.Errorf("there is no baker %q", read.Baker)})
			continue
		}
		if o.Value, err = valueOf(t, read.Value); err != nil {
			errs = append(errs, &Error{Object: o.ID, Place: o.Place, Baker: read.Baker, Err: err})
			continue
		}
		objects = append(objects, o)
	}
	if _, err := d.Token(); err != nil {
		errs = append(errs, fmt.Errorf("%s:%d: the list does not end: %w", name, line(d.InputOffset()), err))
	} else if _, err := d.Token(); err != io.EOF {
		errs = append(errs, fmt.Errorf("%s:%d: something follows the list", name, line(d.InputOffset())))
	}
	return objects, joined(errs)
}

// valueOf reads authoring data of a type.
func valueOf(t reflect.Type, raw json.RawMessage) (any, error) {
	v := reflect.New(t)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if len(raw) > 0 {
		if err := d.Decode(v.Interface()); err != nil {
			return nil, err
		}
	}
	return v.Elem().Interface(), nil
}
