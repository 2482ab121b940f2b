package lint

const unusedFile = "internal/lint/unused.go"

// unusedNames are exported names that no program here uses, by the folder of their package
// (used.go). The list is empty, and a new name gets an example, a page or a workload, or it goes.
var unusedNames = map[string]string{}
