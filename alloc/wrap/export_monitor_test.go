package wrap

import "os"

// CloseFile closes the file of a Monitor behind its back.
func (m *Monitor) CloseFile() { _ = m.file.Close() }

// Records returns the number of records in the file, the header included.
func (m *Monitor) Records() int64 { return m.slots }

// Contents returns the file.
func (m *Monitor) Contents() []byte {
	b, err := os.ReadFile(m.path)
	if err != nil {
		panic(err)
	}
	return b
}

// ExplainCrash returns the blocks in which the addresses of a crash lie.
func ExplainCrash(text, file []byte) []*GuardError { return explainCrash(text, file) }
