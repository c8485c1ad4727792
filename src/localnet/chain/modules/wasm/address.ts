import { concat, uint64BigEndian, utf8, sha256 } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { instanceSequence } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";

/** Returns a contract's 32-byte address (wasmd `BuildContractAddressClassic`). `instance` counts the chain's contracts from 1. */
export function classicContractAddress(codeId: bigint, instance: bigint): Uint8Array {
  return moduleAddressOf(concat(uint64BigEndian(codeId), uint64BigEndian(instance)));
}

/** Inputs to a predictable address. */
export interface PredictableContract {
  /** The code's hash (32 bytes). */
  readonly checksum: Uint8Array;
  readonly creator: Uint8Array;
  readonly salt: Uint8Array;
  /** The message in JSON; empty if the address does not depend on it. */
  readonly message: Uint8Array;
}

/** Returns the 32-byte address of a contract created with a salt (wasmd `BuildContractAddressPredictable`). */
export function predictableContractAddress(contract: PredictableContract): Uint8Array {
  const parts = [contract.checksum, contract.creator, contract.salt, contract.message];
  return moduleAddressOf(concat(...parts.flatMap((part) => [uint64BigEndian(BigInt(part.length)), part])));
}

/** Returns the address for a new contract. Without a salt, the address is derived from the next instance number. */
export function addressOf(
  context: Context,
  contract: Pick<PredictableContract, "checksum" | "creator" | "message"> & {
    readonly codeId: bigint;
    readonly salt?: { readonly bytes: Uint8Array; readonly isMessageFixed: boolean };
  },
): Uint8Array {
  const { checksum, creator, salt, message, codeId } = contract;
  if (salt === undefined) return classicContractAddress(codeId, instanceSequence.take(context));
  const fixed = salt.isMessageFixed ? message : new Uint8Array(0);
  return predictableContractAddress({ checksum, creator, salt: salt.bytes, message: fixed });
}

/** Computes the SDK's `address.Module` for a derivation key. */
function moduleAddressOf(derivation: Uint8Array): Uint8Array {
  return sha256(concat(sha256(utf8("module")), utf8(MODULE_NAME), new Uint8Array([0]), derivation));
}
