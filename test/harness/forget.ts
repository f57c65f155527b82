/** Files share a process: what the library keeps in it, the nonces of its memory store, is forgotten before each. */
// why: the table of errors is loaded when a revert needs it, and given up after two seconds; compiling it may take longer
import "../rooms/abi.js";

Reflect.deleteProperty(globalThis, Symbol.for("evm-preflight/NonceStore/memory/1"));
