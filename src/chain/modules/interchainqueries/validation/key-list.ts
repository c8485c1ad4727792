import { toHex } from "../../../../base/bytes.ts";
import type { KVKey } from "../../../../proto/gen/neutron/interchainqueries/genesis.ts";
import { ErrInvalidRequest } from "../../../runtime/sdk-errors.ts";
import { emptyKeyId, emptyKeyPath, emptyKeys, sdkInvalidType, tooManyKeys } from "../errors.ts";

/** Keys as they come in; an element can be missing only in a contract's JSON. */
export type KeyList = readonly (KVKey | undefined)[];

/** Checks the keys of a KV query: count first, then each key in order. */
export function validateKeys(keys: KeyList, maxKeys: bigint): void {
  if (BigInt(keys.length) > maxKeys) throw tooManyKeys(`keys count cannot be more than ${maxKeys}`);
  const seen = new Set<string>();
  for (const key of keys) {
    if (key === undefined) throw sdkInvalidType("key cannot be nil");
    const name = `${toHex(key.key)}/${key.path}`;
    if (seen.has(name)) throw ErrInvalidRequest("keys cannot be duplicated");
    if (key.path === "") throw emptyKeyPath("keys path cannot be empty");
    if (key.key.length === 0) throw emptyKeyId("keys id cannot be empty");
    seen.add(name);
  }
}

/** {@link validateKeys} for a registration or a genesis record, where a KV query needs at least one key. */
export function validateRegisteredKeys(keys: KeyList, maxKeys: bigint): void {
  if (keys.length === 0) throw emptyKeys("keys cannot be empty");
  validateKeys(keys, maxKeys);
}

/** The event attribute `kv_key`: `<path>/<hex key>` of every key in order, joined by commas, nothing escaped. */
export function printKeys(keys: readonly KVKey[]): string {
  return keys.map((key) => `${key.path}/${toHex(key.key)}`).join(",");
}
