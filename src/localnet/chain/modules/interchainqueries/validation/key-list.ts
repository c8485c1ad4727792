import { toHex } from "../../../../../platform/base/bytes.ts";
import type { KVKey } from "../../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import { ErrInvalidRequest, ErrInvalidType } from "../../../runtime/errors.ts";
import { ErrEmptyKeyID, ErrEmptyKeyPath, ErrEmptyKeys, ErrTooManyKVQueryKeys } from "../errors.ts";

/** Unchecked keys of a query. Only a contract's JSON message can contain null keys, which are undefined here. */
export type KeyList = readonly (KVKey | undefined)[];

/** Checks the keys of a KV query as Go does: the count first, then each key in order, duplicates before empty fields. */
export function validateKeys(keys: KeyList, maxKeys: bigint): void {
  if (BigInt(keys.length) > maxKeys) throw ErrTooManyKVQueryKeys(`keys count cannot be more than ${maxKeys}`);
  const seen = new Set<string>();
  for (const key of keys) {
    if (key === undefined) throw ErrInvalidType("key cannot be nil");
    const name = `${toHex(key.key)}/${key.path}`;
    if (seen.has(name)) throw ErrInvalidRequest("keys cannot be duplicated");
    if (key.path === "") throw ErrEmptyKeyPath("keys path cannot be empty");
    if (key.key.length === 0) throw ErrEmptyKeyID("keys id cannot be empty");
    seen.add(name);
  }
}

/** {@link validateKeys} for a registration or a genesis record, which need at least one key. */
export function validateRegisteredKeys(keys: KeyList, maxKeys: bigint): void {
  if (keys.length === 0) throw ErrEmptyKeys("keys cannot be empty");
  validateKeys(keys, maxKeys);
}
