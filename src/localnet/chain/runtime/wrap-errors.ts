import { ModuleError } from "./module-error.ts";

/**
 * Runs `work` and passes a thrown `ModuleError` through `wrap`. An out-of-gas error is not wrapped: in Go it is a panic,
 * and error handling does not see panics.
 */
export function wrapErrors<T>(wrap: (error: ModuleError) => ModuleError, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ModuleError && !isOutOfGas(error) ? wrap(error) : error;
  }
}

/** Whether the error is `ErrOutOfGas` (sdk/11). */
export function isOutOfGas(error: ModuleError): boolean {
  return error.codespace === "sdk" && error.code === 11;
}
