// Package process reports what this process has used: processor time, the collector's part of it
// and its pauses, resident memory, and the memory that is still free. A figure that the system does
// not report is 0: processor time and memory are known on Linux only.
package process
