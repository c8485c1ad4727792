import type { ModuleError } from "../../runtime/module-error.ts";
import { ErrInvalidID } from "./errors.ts";

const ALLOWED = /^[a-zA-Z0-9._+\-#[\]<>]+$/;
const MIN_CLIENT_ID_LENGTH = 9;
const MIN_CONNECTION_ID_LENGTH = 10;
const MAX_LENGTH = 64;

/** Checks a client id (ICS-24). Throws ErrInvalidID. */
export function validateClientId(id: string): void {
  const error = idError(id, MIN_CLIENT_ID_LENGTH);
  if (error !== undefined) throw error;
}

/** Checks a connection id (ICS-24). Throws ErrInvalidID. */
export function validateConnectionId(id: string): void {
  const error = connectionIdError(id);
  if (error !== undefined) throw error;
}

/** Returns the error of an invalid connection id, or undefined. */
export function connectionIdError(id: string): ModuleError | undefined {
  return idError(id, MIN_CONNECTION_ID_LENGTH);
}

/** Checks in ibc-go's order. The length counts UTF-8 bytes, as Go's `len` does. */
function idError(id: string, minLength: number): ModuleError | undefined {
  if (id.trim() === "") return ErrInvalidID("identifier cannot be blank");
  if (id.includes("/")) return ErrInvalidID(`identifier ${id} cannot contain separator '/'`);
  const { length } = Buffer.from(id);
  if (length < minLength || length > MAX_LENGTH) {
    return ErrInvalidID(
      `identifier ${id} has invalid length: ${length}, must be between ${minLength}-${MAX_LENGTH} characters`,
    );
  }
  if (ALLOWED.test(id)) return undefined;
  return ErrInvalidID(
    `identifier ${id} must contain only alphanumeric or the following characters: '.', '_', '+', '-', '#', '[', ']', '<', '>'`,
  );
}
