import { ErrInvalidId } from "./errors.ts";

const ALLOWED = /^[a-zA-Z0-9._+\-#[\]<>]+$/;
const MAX_LENGTH = 64;

/** Checks a client id as ICS-24 does. Throws host/2. */
export function validateClientId(id: string): void {
  validateId(id, 9);
}

/** Checks a connection id as ICS-24 does. Throws host/2. */
export function validateConnectionId(id: string): void {
  validateId(id, 10);
}

function validateId(id: string, minLength: number): void {
  if (id.trim() === "") throw ErrInvalidId("identifier cannot be blank");
  if (id.includes("/")) throw ErrInvalidId(`identifier ${id} cannot contain separator '/'`);
  const { length } = Buffer.from(id);
  if (length < minLength || length > MAX_LENGTH) {
    throw ErrInvalidId(
      `identifier ${id} has invalid length: ${length}, must be between ${minLength}-${MAX_LENGTH} characters`,
    );
  }
  if (ALLOWED.test(id)) return;
  throw ErrInvalidId(
    `identifier ${id} must contain only alphanumeric or the following characters: '.', '_', '+', '-', '#', '[', ']', '<', '>'`,
  );
}
