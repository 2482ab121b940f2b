// Package fileformat is a world file as a container: where its sections lie, the header and the
// checksums that cover each byte of it, written in one pass, and read from front to back or in any
// order. The content of sections is coded by package worldfile. Package image is the face for
// programs; journals keep their bases in such files.
package fileformat
