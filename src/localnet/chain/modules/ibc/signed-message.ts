import { errorText } from "../../../../platform/base/errors.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { toMessageHandler, type WireType } from "../../runtime/handlers.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { ErrNotSupported } from "../../runtime/errors.ts";
import { ErrIbcInvalidAddress, ErrIbcUnauthorized } from "./errors.ts";
import { type PackedPart, requirePackedType } from "./packed-parts.ts";

/** Every message of IBC has one signer. */
export interface SignedMessage {
  readonly signer: string;
}

/** Checks of a message that need no state. */
interface MessageChecks<T> {
  /** Returns the packed parts. Their types are checked while a transaction is decoded, as in Go. */
  readonly packed?: (message: T) => readonly PackedPart[];
  readonly validate?: (message: T) => void;
}

/** Creates the handler of a message with an empty response. */
export function signedHandler<T extends SignedMessage>(
  typeUrl: string,
  type: WireType<T>,
  { packed, ...form }: MessageChecks<T> & { readonly handle: (context: Context, message: T) => void },
): MessageHandler {
  const signers = (message: T): readonly string[] => {
    packed?.(message).forEach(requirePackedType);
    return [message.signer];
  };
  return toMessageHandler({ typeUrl, type, signers, ...form });
}

/** Creates the handler of a message whose `handle` returns the encoded response. */
export function answeringHandler<T extends SignedMessage>(
  typeUrl: string,
  type: WireType<T>,
  form: {
    readonly validate: (message: T) => void;
    readonly handle: (context: Context, message: T) => Uint8Array;
  },
): MessageHandler {
  return toMessageHandler({ typeUrl, type, signers: ({ signer }) => [signer], ...form });
}

/** Creates the handler of a message that ibc-go supports and this chain does not. Every message that passes `checks` fails with sdk/37. */
export function unsupportedHandler<T extends SignedMessage>(
  typeUrl: string,
  type: WireType<T>,
  checks: MessageChecks<T> = {},
): MessageHandler {
  const handle = (): void => {
    throw ErrNotSupported(`${typeUrl} is not implemented`);
  };
  return signedHandler(typeUrl, type, { ...checks, handle });
}

/** Throws ibc/5 when the signer of a message is no address of the chain. */
export function requireSigner(bech32Prefix: string, { signer }: SignedMessage): void {
  try {
    parseAddress(bech32Prefix, signer);
  } catch (error) {
    throw ErrIbcInvalidAddress(`string could not be parsed as address: ${errorText(error)}`);
  }
}

/** Throws ibc/2 when somebody else than the authority signed. */
export function requireAuthority(authority: string, { signer }: SignedMessage): void {
  if (signer !== authority) throw ErrIbcUnauthorized(`expected ${authority}, got ${signer}`);
}
