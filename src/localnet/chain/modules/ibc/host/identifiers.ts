import type { ModuleError } from "../../../runtime/errors.ts";
import { trimGoSpace } from "../../../../../platform/base/text.ts";
import { ErrInvalidID } from "./errors.ts";

/** Client type for CometBFT chains. */
export const TENDERMINT_TYPE = "07-tendermint";

/** Id and type of the client through which a chain tracks itself. */
export const LOCALHOST = "09-localhost";

/** Type URL of the localhost client's state. */
export const LOCALHOST_URL = "/ibc.lightclients.localhost.v2.ClientState";

const ALLOWED = /^[a-zA-Z0-9._+\-#[\]<>]+$/;
const MIN_CLIENT_ID_LENGTH = 9;
const MIN_CONNECTION_ID_LENGTH = 10;
const MIN_CHANNEL_ID_LENGTH = 8;
const MIN_PORT_ID_LENGTH = 2;
const MAX_LENGTH = 64;
const MAX_PORT_ID_LENGTH = 128;

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

/** Checks a channel id (ICS-24). Throws ErrInvalidID. */
export function validateChannelId(id: string): void {
  const error = idError(id, MIN_CHANNEL_ID_LENGTH);
  if (error !== undefined) throw error;
}

/** Checks a port id (ICS-24). Throws ErrInvalidID. */
export function validatePortId(id: string): void {
  const error = idError(id, MIN_PORT_ID_LENGTH, MAX_PORT_ID_LENGTH);
  if (error !== undefined) throw error;
}

/** Returns whether a chain can assign this id, which consists of the prefix and a 64-bit number. */
export function isNumberedId(id: string, prefix: "connection-" | "channel-"): boolean {
  const digits = id.startsWith(prefix) ? id.slice(prefix.length) : "";
  return /^[0-9]{1,20}$/.test(digits) && BigInt(digits) < 2n ** 64n;
}

/** Returns the error for an invalid connection id, or undefined. */
export function connectionIdError(id: string): ModuleError | undefined {
  return idError(id, MIN_CONNECTION_ID_LENGTH);
}

/** Checks an id in ibc-go's order. As with Go's `len`, the length is counted in UTF-8 bytes. */
function idError(id: string, minLength: number, maxLength = MAX_LENGTH): ModuleError | undefined {
  if (trimGoSpace(id) === "") return ErrInvalidID("identifier cannot be blank");
  if (id.includes("/")) return ErrInvalidID(`identifier ${id} cannot contain separator '/'`);
  const { length } = Buffer.from(id);
  if (length < minLength || length > maxLength) {
    return ErrInvalidID(
      `identifier ${id} has invalid length: ${length}, must be between ${minLength}-${maxLength} characters`,
    );
  }
  if (ALLOWED.test(id)) return undefined;
  return ErrInvalidID(
    `identifier ${id} must contain only alphanumeric or the following characters: '.', '_', '+', '-', '#', '[', ']', '<', '>'`,
  );
}
