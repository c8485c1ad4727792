import { ModuleError } from "./module-error.ts";

/**
 * Runs `work`; a `ModuleError` out of it is replaced by what `wrap` makes of it. Running out of gas passes through as
 * it is: it ends the transaction, whatever it interrupted.
 */
export function wrapErrors<T>(wrap: (error: ModuleError) => ModuleError, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ModuleError && !isOutOfGas(error) ? wrap(error) : error;
  }
}

/** Whether a gas meter ran over. */
export function isOutOfGas(error: ModuleError): boolean {
  return error.codespace === "sdk" && error.code === 11;
}
