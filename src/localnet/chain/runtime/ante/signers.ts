import type { SignerInfo } from "../../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { AddressError } from "../address.ts";
import { type ModuleError, unregisteredError } from "../module-error.ts";
import { ErrLogic } from "../sdk-errors.ts";
import type { DecodedTx } from "../tx.ts";
import type { AnteAccounts } from "./ante-step.ts";

/** One required signer, with the signer info and signature at the same position of the transaction. */
export interface Signer {
  readonly index: number;
  readonly text: string;
  readonly address: Uint8Array;
  readonly info: SignerInfo | undefined;
  readonly signature: Uint8Array;
}

/** Returns the signers of a transaction in order. Throws as {@link parseSigner}. */
export function signersOf(tx: DecodedTx, accounts: AnteAccounts): readonly Signer[] {
  return tx.signers.map((text, index) => ({
    index,
    text,
    address: parseSigner(accounts, text),
    info: tx.authInfo.signerInfos[index],
    signature: tx.raw.signatures[index] ?? new Uint8Array(0),
  }));
}

/**
 * Parses the address of a signer, a fee payer or a fee granter. Throws `ModuleError` with the text of the SDK's address
 * codec: a text that is no bech32 address is a mistake of the sender.
 */
export function parseSigner(accounts: Pick<AnteAccounts, "parseAddress">, text: string): Uint8Array {
  try {
    return accounts.parseAddress(text);
  } catch (thrown) {
    throw thrown instanceof AddressError ? toModuleError(thrown) : thrown;
  }
}

function toModuleError({ facts, message }: AddressError): ModuleError {
  if (facts.code !== "wrong-prefix") return unregisteredError(message);
  const { expected, got } = facts;
  return ErrLogic(`hrp does not match bech32 prefix: expected '${expected}' got '${got}'`);
}
