import { concat, uint64BigEndian, utf8 } from "../../../base/bytes.ts";
import { sha256 } from "../../../base/sha256.ts";
import { MODULE_NAME } from "./keys.ts";

/**
 * Returns the address of a contract, 32 bytes (wasmd `BuildContractAddressClassic`). `instance` counts the contracts of
 * the chain, from 1.
 */
export function classicContractAddress(codeId: bigint, instance: bigint): Uint8Array {
  const derivation = concat(uint64BigEndian(codeId), uint64BigEndian(instance));
  return sha256(concat(sha256(utf8("module")), utf8(MODULE_NAME), new Uint8Array([0]), derivation));
}
