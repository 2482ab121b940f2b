// Package process tells what this process has used: processor time, the collector's part of it and
// its pauses, and resident memory. What the system does not tell is 0: processor time and resident
// memory are known on Linux only.
package process
