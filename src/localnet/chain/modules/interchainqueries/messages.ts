import type { KVKey } from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type { Params } from "../../../../cosmos/proto/gen/neutron/interchainqueries/params.ts";
import type {
  MsgRegisterInterchainQuery,
  MsgUpdateInterchainQueryRequest,
} from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { toHex } from "../../../../platform/base/bytes.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { tryParseAddress } from "../../runtime/address.ts";
import { ErrInvalidAddress, ErrInvalidRequest, ErrInvalidType, wrapErrors } from "../../runtime/errors.ts";
import {
  ErrEmptyKeyID,
  ErrEmptyKeyPath,
  ErrEmptyKeys,
  ErrInvalidConnectionID,
  ErrInvalidQueryID,
  ErrInvalidQueryType,
  ErrInvalidUpdatePeriod,
  ErrTooManyKVQueryKeys,
} from "./errors.ts";
import { validateTransactionsFilter } from "./transactions-filter.ts";

/** Settings for the stateless checks. */
interface CheckRules {
  readonly bech32Prefix: string;
  readonly params: Params;
}

/** A registration or an update whose key list may contain undefined. Null keys can occur only in a contract's JSON message. */
export type WithKeyList<M, K extends keyof M> = Omit<M, K> & { readonly [key in K]: KeyList };

/**
 * Stateless checks of MsgRegisterInterchainQuery, in Go's order. Go does not check the field for the other query type: a TX query
 * may have any keys, and a KV query may have any filter.
 */
export function validateRegister(
  message: WithKeyList<MsgRegisterInterchainQuery, "keys">,
  { bech32Prefix, params }: CheckRules,
): void {
  wrapErrors("failed to validate MsgRegisterInterchainQuery", () => {
    if (message.updatePeriod === 0n) throw ErrInvalidUpdatePeriod("update period can not be equal to zero");
    checkSender(bech32Prefix, message.sender);
    if (trimGoSpace(message.connectionId) === "")
      throw ErrInvalidConnectionID("connection id cannot be empty");
    if (message.queryType === "kv") validateRegisteredKeys(message.keys, params.maxKvQueryKeysCount);
    else if (message.queryType === "tx")
      validateTransactionsFilter(message.transactionsFilter, params.maxTransactionsFilters);
    else throw ErrInvalidQueryType("invalid query type");
  });
}

/** Stateless checks of MsgUpdateInterchainQueryRequest. The sender is checked last, as in Go. */
export function validateUpdate(
  message: WithKeyList<MsgUpdateInterchainQueryRequest, "newKeys">,
  { bech32Prefix, params }: CheckRules,
): void {
  wrapErrors("failed to validate MsgUpdateInterchainQueryRequest", () => {
    const { newKeys, newTransactionsFilter: filter } = message;
    if (message.queryId === 0n) throw ErrInvalidQueryID("query_id cannot be empty or equal to 0");
    if (newKeys.length === 0 && filter === "" && message.newUpdatePeriod === 0n)
      throw ErrInvalidRequest("one of new_keys, new_transactions_filter or new_update_period should be set");
    if (newKeys.length > 0 && filter !== "")
      throw ErrInvalidRequest("either new_keys or new_transactions_filter should be set");
    if (newKeys.length > 0) validateKeys(newKeys, params.maxKvQueryKeysCount);
    if (filter !== "") validateTransactionsFilter(filter, params.maxTransactionsFilters);
    checkSender(bech32Prefix, message.sender);
  });
}

/** Checks a message's sender. Throws ErrInvalidAddress. */
export function checkSender(bech32Prefix: string, sender: string): void {
  if (trimGoSpace(sender) === "") throw ErrInvalidAddress("missing sender address");
  if (!tryParseAddress(bech32Prefix, sender).ok)
    throw ErrInvalidAddress(`failed to parse address: ${sender}`);
}

/** A query's unchecked keys. Null keys, represented here as undefined, can occur only in a contract's JSON message. */
export type KeyList = readonly (KVKey | undefined)[];

/** Checks a KV query's keys as Go does: first the count, then each key in order, duplicates before empty fields. */
function validateKeys(keys: KeyList, maxKeys: bigint): void {
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

/** Like {@link validateKeys}, but for a registration or genesis record, which needs at least one key. */
export function validateRegisteredKeys(keys: KeyList, maxKeys: bigint): void {
  if (keys.length === 0) throw ErrEmptyKeys("keys cannot be empty");
  validateKeys(keys, maxKeys);
}
