import type {
  KVKey,
  RegisteredQuery,
} from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type * as wire from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { toHex } from "../../../../platform/base/bytes.ts";
import { parseCoins } from "../../runtime/coins.ts";
import type { Profile } from "../../deviations/deviations.ts";
import { type Context, event, type ChainEvent } from "../../runtime/context.ts";
import * as errors from "../../runtime/errors.ts";
import * as keeper from "./keeper.ts";
import type { Params } from "../../../../cosmos/proto/gen/neutron/interchainqueries/params.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { tryParseAddress } from "../../runtime/address.ts";
import { validateTransactionsFilter } from "./tx-queries.ts";

/**
 * Handles MsgRegisterInterchainQuery (chain-extension-modules.md, "Interchain queries module: messages"). The query keeps the current
 * deposit and submit timeout even if the parameters change later.
 */
export function registerQuery(
  context: Context,
  message: WithKeyList<wire.MsgRegisterInterchainQuery, "keys">,
  keepers: keeper.Keepers,
): wire.MsgRegisterInterchainQueryResponse {
  const params = keeper.moduleParams.get(context);
  validateRegister(message, { bech32Prefix: keepers.bech32Prefix, params });
  if (!keepers.contracts.isContract(context, message.sender))
    throw keeper.ErrNotContract(`${message.sender} is not a contract address`);
  requireConnection(context, keepers.ibc, message.connectionId);
  const id = keeper.nextId(context);
  if (params.queryDeposit.length > 0)
    errors.wrapErrors("failed to collect deposit", () =>
      keepers.bank.sendFromAccountToModule(
        context,
        message.sender,
        keeper.MODULE_NAME,
        parseCoins(params.queryDeposit),
      ),
    );
  const query: RegisteredQuery = {
    id,
    owner: message.sender,
    queryType: message.queryType,
    keys: presentKeys(message.keys),
    transactionsFilter: message.transactionsFilter,
    connectionId: message.connectionId,
    updatePeriod: message.updatePeriod,
    lastSubmittedResultLocalHeight: 0n,
    lastSubmittedResultRemoteHeight: undefined,
    deposit: params.queryDeposit,
    submitTimeout: params.querySubmitTimeout,
    registeredAtHeight: context.height,
  };
  keeper.setQuery(context, query);
  context.emit(queryUpdated(keepers.chainName, query));
  return { id };
}

/** Handles MsgUpdateInterchainQueryRequest. Zero and empty fields leave the current values unchanged, and a stored result is kept. */
export function updateQuery(
  context: Context,
  message: WithKeyList<wire.MsgUpdateInterchainQueryRequest, "newKeys">,
  keepers: keeper.Keepers,
): void {
  const { newKeys, newTransactionsFilter: filter } = message;
  validateUpdate(message, { bech32Prefix: keepers.bech32Prefix, params: keeper.moduleParams.get(context) });
  const query = requireQuery(context, message.queryId);
  // As in Go, compare the addresses as strings, so that an owner's address in upper case is a different sender.
  if (message.sender !== query.owner) throw errors.ErrUnauthorized("authorization failed");
  const words = "params to update don't correspond with query type";
  if (query.queryType === "kv" && filter !== "")
    throw errors.ErrInvalidRequest(`${words}: can't update TX filter for a KV query`);
  if (query.queryType === "tx" && newKeys.length > 0)
    throw errors.ErrInvalidRequest(`${words}: can't update KV keys for a TX query`);
  const updated: RegisteredQuery = {
    ...query,
    updatePeriod: message.newUpdatePeriod === 0n ? query.updatePeriod : message.newUpdatePeriod,
    keys: newKeys.length === 0 ? query.keys : presentKeys(newKeys),
    transactionsFilter: filter === "" ? query.transactionsFilter : filter,
  };
  keeper.setQuery(context, updated);
  context.emit(queryUpdated(keepers.chainName, updated));
}

/** Handles MsgRemoveInterchainQueryRequest. The query's deposit is paid to the sender, who need not be the query's owner. */
export function removeQuery(
  context: Context,
  message: wire.MsgRemoveInterchainQueryRequest,
  keepers: keeper.Keepers,
): void {
  errors.wrapErrors("failed to validate MsgRemoveInterchainQueryRequest", () => {
    if (message.queryId === 0n) throw keeper.ErrInvalidQueryID("query_id cannot be empty or equal to 0");
    checkSender(keepers.bech32Prefix, message.sender);
  });
  const query = requireQuery(context, message.queryId);
  if (!maySenderRemove(context, query, message.sender))
    throw errors.ErrUnauthorized("only owner can remove a query within its service period");
  keeper.deleteQuery(context, query);
  // The deployed chain panics if the payout fails. Here, the bank's error fails the message.
  if (query.deposit.length > 0)
    keepers.bank.sendFromModuleToAccount(
      context,
      keeper.MODULE_NAME,
      message.sender,
      parseCoins(query.deposit),
    );
  context.emit(queryRemoved(keepers.chainName, query, context.profile));
}

/**
 * Throws if a connection does not exist or its id is invalid. As in Go, the error contains the status message of ibc-go's gRPC
 * query Connection.
 */
function requireConnection(context: Context, ibc: keeper.IbcKeeper, id: string): void {
  const malformed = ibc.connectionIdError(id);
  if (malformed === undefined && ibc.connectionClientId(context, id) !== undefined) return;
  const status =
    malformed === undefined
      ? `code = NotFound desc = ${id}: connection not found`
      : `code = InvalidArgument desc = ${malformed.message}`;
  throw keeper.ErrInvalidConnectionID(`failed to get connection with ID '${id}': rpc error: ${status}`);
}

/**
 * Returns whether `sender` may remove a query. The owner may always remove the query. Other accounts may remove the query once the
 * submit timeout has passed since both the registration and the last submitted result (chain-extension-modules.md,
 * "Authentication", 5). Sums are exact on this chain, so a query with a huge timeout can be removed only by its owner. On the
 * deployed chain, uint64 sums wrap around, so any account may remove such a query immediately.
 */
function maySenderRemove({ height, profile }: Context, query: RegisteredQuery, sender: string): boolean {
  if (sender === query.owner) return true;
  const sum = profile.deployed("icqTimeoutOverflow")
    ? (from: bigint) => BigInt.asUintN(64, from + query.submitTimeout)
    : (from: bigint) => from + query.submitTimeout;
  return height > sum(query.registeredAtHeight) && height > sum(query.lastSubmittedResultLocalHeight);
}

function requireQuery(context: Context, id: bigint): RegisteredQuery {
  return errors.wrapErrors(
    (error) => keeper.wrapTwice("failed to get query by query id", error),
    () => keeper.getQuery(context, id),
  );
}

/** Removes null keys. A TX query may contain null keys, because keys are checked only for KV queries. */
function presentKeys(keys: KeyList): RegisteredQuery["keys"] {
  return keys.filter((key) => key !== undefined);
}

/**
 * Builds the `query_updated` event for a registration or update. The event type is the chain's name (chain-extension-modules.md,
 * "Events").
 */
export function queryUpdated(chainName: string, query: RegisteredQuery): ChainEvent {
  return event(chainName, [...commonAttributes("query_updated", query), ...contentAttributes(query)]);
}

/** Builds the `query_removed` event. On a chain with the deployed profile, it has the same attributes as `query_updated`. */
function queryRemoved(chainName: string, query: RegisteredQuery, { deployed }: Profile): ChainEvent {
  const common = commonAttributes("query_removed", query);
  return event(chainName, deployed("icqRemovedEvent") ? [...common, ...contentAttributes(query)] : common);
}

type Attributes = readonly (readonly [key: string, value: string])[];

function contentAttributes(query: RegisteredQuery): Attributes {
  return [
    ["owner", query.owner],
    ["type", query.queryType],
    ["tx_filter", query.transactionsFilter],
    ["kv_key", printKeys(query.keys)],
  ];
}

function commonAttributes(action: string, query: RegisteredQuery): Attributes {
  return [
    ["module", keeper.MODULE_NAME],
    ["action", action],
    ["query_id", query.id.toString()],
    ["connection_id", query.connectionId],
  ];
}

/** Prints the keys in order, each as `<path>/<hex key>`, separated by commas. As in Go, paths are not escaped. */
function printKeys(keys: readonly KVKey[]): string {
  return keys.map((key) => `${key.path}/${toHex(key.key)}`).join(",");
}

/** Address prefix and parameters for the stateless checks. */
interface CheckRules {
  readonly bech32Prefix: string;
  readonly params: Params;
}

/** A registration or update whose keys may be undefined, because a contract's JSON message can contain null keys. */
type WithKeyList<M, K extends keyof M> = Omit<M, K> & { readonly [key in K]: KeyList };

/**
 * Performs the stateless checks of MsgRegisterInterchainQuery, in Go's order. As in Go, keys are checked only for KV queries, and
 * the filter is checked only for TX queries.
 */
export function validateRegister(
  message: WithKeyList<wire.MsgRegisterInterchainQuery, "keys">,
  { bech32Prefix, params }: CheckRules,
): void {
  errors.wrapErrors("failed to validate MsgRegisterInterchainQuery", () => {
    if (message.updatePeriod === 0n)
      throw keeper.ErrInvalidUpdatePeriod("update period can not be equal to zero");
    checkSender(bech32Prefix, message.sender);
    if (trimGoSpace(message.connectionId) === "")
      throw keeper.ErrInvalidConnectionID("connection id cannot be empty");
    if (message.queryType === "kv") validateRegisteredKeys(message.keys, params.maxKvQueryKeysCount);
    else if (message.queryType === "tx")
      validateTransactionsFilter(message.transactionsFilter, params.maxTransactionsFilters);
    else throw keeper.ErrInvalidQueryType("invalid query type");
  });
}

/** Performs the stateless checks of MsgUpdateInterchainQueryRequest. The sender is checked last, as in Go. */
export function validateUpdate(
  message: WithKeyList<wire.MsgUpdateInterchainQueryRequest, "newKeys">,
  { bech32Prefix, params }: CheckRules,
): void {
  errors.wrapErrors("failed to validate MsgUpdateInterchainQueryRequest", () => {
    const { newKeys, newTransactionsFilter: filter } = message;
    if (message.queryId === 0n) throw keeper.ErrInvalidQueryID("query_id cannot be empty or equal to 0");
    if (newKeys.length === 0 && filter === "" && message.newUpdatePeriod === 0n)
      throw errors.ErrInvalidRequest(
        "one of new_keys, new_transactions_filter or new_update_period should be set",
      );
    if (newKeys.length > 0 && filter !== "")
      throw errors.ErrInvalidRequest("either new_keys or new_transactions_filter should be set");
    if (newKeys.length > 0) validateKeys(newKeys, params.maxKvQueryKeysCount);
    if (filter !== "") validateTransactionsFilter(filter, params.maxTransactionsFilters);
    checkSender(bech32Prefix, message.sender);
  });
}

/** Throws ErrInvalidAddress if a message's sender is not an address on this chain. */
export function checkSender(bech32Prefix: string, sender: string): void {
  if (trimGoSpace(sender) === "") throw errors.ErrInvalidAddress("missing sender address");
  if (!tryParseAddress(bech32Prefix, sender).ok)
    throw errors.ErrInvalidAddress(`failed to parse address: ${sender}`);
}

/** A query's unchecked keys. A null key, which only a contract's JSON message can contain, is undefined. */
export type KeyList = readonly (KVKey | undefined)[];

/** Checks a KV query's keys in Go's order: the number of keys, then each key, first for duplicates and then for empty fields. */
function validateKeys(keys: KeyList, maxKeys: bigint): void {
  if (BigInt(keys.length) > maxKeys)
    throw keeper.ErrTooManyKVQueryKeys(`keys count cannot be more than ${maxKeys}`);
  const seen = new Set<string>();
  for (const key of keys) {
    if (key === undefined) throw errors.ErrInvalidType("key cannot be nil");
    const name = `${toHex(key.key)}/${key.path}`;
    if (seen.has(name)) throw errors.ErrInvalidRequest("keys cannot be duplicated");
    if (key.path === "") throw keeper.ErrEmptyKeyPath("keys path cannot be empty");
    if (key.key.length === 0) throw keeper.ErrEmptyKeyID("keys id cannot be empty");
    seen.add(name);
  }
}

/** Checks the keys of a registration or genesis record like {@link validateKeys}, but requires at least one key. */
export function validateRegisteredKeys(keys: KeyList, maxKeys: bigint): void {
  if (keys.length === 0) throw keeper.ErrEmptyKeys("keys cannot be empty");
  validateKeys(keys, maxKeys);
}
