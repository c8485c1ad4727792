import { CodedError } from "../../platform/base/errors.ts";

/** The deployed VM's error kinds, with the prefix of each kind's messages. */
const PREFIXES = {
  aborted: "Aborted: ",
  backend: "Error calling into the VM's backend: ",
  "call-depth": "Maximum call depth exceeded.",
  communication: "Error in guest/host communication: ",
  compile: "Error compiling Wasm: Could not compile: ",
  conversion: "Couldn't convert from ",
  gas: "Ran out of gas during contract execution",
  generic: "Generic error: ",
  instantiation: "Error instantiating a Wasm module: Error instantiating module: ",
  resolve: "Error resolving Wasm function: Could not get export: ",
  "result-gas": "insufficient gas left to deserialize contract execution result ",
  "result-mismatch": "Unexpected number of result values when calling ",
  runtime: "Error executing Wasm: Wasmer runtime error: RuntimeError: ",
  "static-validation": "Error during static Wasm validation: ",
  "write-access": "Must not call a writing storage function in this context.",
} as const;

export type VmErrorCode = keyof typeof PREFIXES;

/** A WebAssembly stack frame, i.e. the function's index and, if known, its name. A stack trace starts with the innermost frame. */
export interface WasmFrame {
  readonly index: number;
  readonly name: string | undefined;
}

export interface VmErrorFacts {
  readonly code: VmErrorCode;
  readonly stack?: readonly WasmFrame[];
}

/** An error in the virtual machine, with the same message as in the deployed VM (cosmwasm-vm 2.1.6, `errors/vm_error.rs`). */
export class VmError extends CodedError<VmErrorFacts> {}

export function vmError(code: VmErrorCode, detail = "", stack?: readonly WasmFrame[]): VmError {
  return new VmError({ code, ...(stack !== undefined && { stack }) }, `${PREFIXES[code]}${detail}`);
}

/** Formats an error like wasmvm 2.1.5, i.e. as "Out of gas", or as the VM's message with its prefix. */
export function reportedText(error: VmError): string {
  const { code } = error.facts;
  if (code === "gas") return "Out of gas";
  return code === "result-gas" ? error.message : `Error calling the VM: ${error.message}`;
}

/** Creates an error about a malformed or invalid module at a byte offset, with the deployed message (wasmparser 0.121). */
export function moduleError(message: string, offset: number): VmError {
  return vmError(
    "static-validation",
    `Wasm bytecode could not be deserialized. Deserialization error: "${message} (at offset 0x${offset.toString(16)})"`,
  );
}

/**
 * Failures that a host reports to the VM. Each failure ends the call, except address failures, which the VM returns to the contract.
 */
export type HostFailure =
  | { readonly kind: "out-of-gas" }
  | { readonly kind: "panic" }
  | { readonly kind: "no-iterator"; readonly id: number }
  | { readonly kind: "user"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string };

/** Thrown by a host for a failed access, for which the VM charges no gas. */
export class HostError extends Error {
  readonly problem: HostFailure;

  constructor(problem: HostFailure) {
    super(problem.kind);
    this.problem = problem;
  }
}

/** Converts a host's `HostError` to a VM error. Rethrows any other exception, which is a bug. */
export function fromHostError(thrown: unknown): VmError {
  if (!(thrown instanceof HostError)) throw thrown;
  const { problem } = thrown;
  switch (problem.kind) {
    case "out-of-gas":
      return vmError("gas");
    case "panic":
      return vmError("backend", "Panic in FFI call");
    case "no-iterator":
      return vmError("backend", `Iterator with ID ${problem.id} does not exist`);
    case "user":
      return vmError("backend", `User error during call into backend: ${problem.message}`);
    case "unknown":
      return vmError("backend", `Unknown error during call into backend: ${problem.message}`);
  }
}
