/** Files share a process: what the library keeps in it, the nonces of its memory store, is forgotten before each. */
Reflect.deleteProperty(globalThis, Symbol.for("evm-preflight/NonceStore/memory/1"));
