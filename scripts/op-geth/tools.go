//go:build tools

// Package tools pins op-geth: it bears go-ethereum's module path, so it is built by a replacement.
package tools

import _ "github.com/ethereum/go-ethereum/cmd/geth"
