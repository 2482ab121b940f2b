// Package orbits moves asteroids and planets along their orbits twice, with
// entities and with plain Go slices, and checks both against known answers.
//
// A body has Kepler elements, made up (Belt), from a catalogue of the Minor Planet Center
// (ReadMPCORB) or from packed floats (ReadSBDB). Each step solves Kepler's equation for every row
// and turns the result into a place. It is a workload that reads columns in order with arithmetic
// in between, about 115 ns per body, where memory matters less than in most; structure never
// changes.
//
//	one body in a chunk  | Entity 8 | Orbit 32 | Frame 48 | Position 24 | Row 4 |  116 B
//	one body in slices   | 13 float64 104 |                                        104 B
//
// Planets follow JPL's approximate elements for 1800 to 2050, good to 1e-4 au
// for the inner planets and 0.02 au for Saturn. Bodies move on fixed ellipses or
// hyperbolas: no perturbations. Places are heliocentric, in the ecliptic and
// equinox of J2000, in au; angles are radians and dates Julian dates.
//
// Bad input is an error that names the file, the line and what was expected; nothing panics. A
// World or a Plain belongs to one goroutine. A World must be closed.
package orbits
