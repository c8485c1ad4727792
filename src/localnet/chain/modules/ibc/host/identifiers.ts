import type { ModuleError } from "../../../runtime/errors.ts";
import { trimGoSpace } from "../../../../../platform/base/text.ts";
import { ErrInvalidID } from "./errors.ts";

/** Client type of light clients for CometBFT chains. */
export const TENDERMINT_TYPE = "07-tendermint";

/** Client id and client type of the localhost client, with which a chain verifies its own state. */
export const LOCALHOST = "09-localhost";

/** Type URL of the localhost client's state. */
export const LOCALHOST_URL = "/ibc.lightclients.localhost.v2.ClientState";

const ALLOWED = /^[a-zA-Z0-9._+\-#[\]<>]+$/;
const MAX_LENGTH = 64;
const MAX_PORT_ID_LENGTH = 128;

/** Checks a client id (ICS-24). Throws ErrInvalidID, like the other identifier checks. */
export const validateClientId = createCheck((id) => idError(id, 9));
export const validateConnectionId = createCheck(connectionIdError);
export const validateChannelId = createCheck((id) => idError(id, 8));
export const validatePortId = createCheck((id) => idError(id, 2, MAX_PORT_ID_LENGTH));

function createCheck(errorOf: (id: string) => ModuleError | undefined): (id: string) => void {
  return (id) => {
    const error = errorOf(id);
    if (error !== undefined) throw error;
  };
}

/** Returns the error for an invalid connection id, or undefined if the id is valid. */
export function connectionIdError(id: string): ModuleError | undefined {
  return idError(id, 10);
}

/** Returns whether an id has the format that chains assign: the prefix and a 64-bit number. */
export function isNumberedId(id: string, prefix: "connection-" | "channel-"): boolean {
  const digits = id.startsWith(prefix) ? id.slice(prefix.length) : "";
  return /^[0-9]{1,20}$/.test(digits) && BigInt(digits) < 2n ** 64n;
}

/** Checks an id. The checks run in ibc-go's order, and lengths are counted in UTF-8 bytes, like Go's `len`. */
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
