module quarry/fuzz

go 1.26.0

require quarry v0.0.0

require github.com/anishathalye/porcupine v1.3.1

require golang.org/x/exp v0.0.0-20261014143641-f0251eb4aa3e

require (
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	github.com/stretchr/testify v1.12.1
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace quarry => ../
