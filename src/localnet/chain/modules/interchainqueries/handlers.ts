import type { RegisteredQuery } from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type {
  MsgRegisterInterchainQuery,
  MsgRegisterInterchainQueryResponse,
  MsgRemoveInterchainQueryRequest,
  MsgUpdateInterchainQueryRequest,
  MsgUpdateParams,
} from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { Coin as WireCoin } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import type { Context } from "../../runtime/context.ts";
import { parseCoins } from "../../runtime/coins.ts";
import { ErrInvalidRequest, ErrUnauthorized, wrapErrors } from "../../runtime/errors.ts";
import { ErrInvalidConnectionID, ErrNotContract, wrapTwice } from "./errors.ts";
import { queryRemoved, queryUpdated } from "./events.ts";
import type { KeyList } from "./validation/key-list.ts";
import { deleteQuery, getParams, getQuery, nextId, setParams, setQuery } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import {
  validateRegister,
  validateRemove,
  validateUpdate,
  validateUpdateParams,
  type WithKeyList,
} from "./messages.ts";
import { ZERO_PARAMS } from "./params.ts";
import type { BankKeeper, ContractKeeper, Environment, IbcKeeper } from "./types.ts";

/**
 * MsgRegisterInterchainQuery (chain-extension-modules.md, "Interchain queries module: messages"). The query keeps
 * the present deposit and submit timeout: later changes of the parameters do not affect it.
 */
export function registerQuery(
  context: Context,
  message: WithKeyList<MsgRegisterInterchainQuery, "keys">,
  environment: Environment,
): MsgRegisterInterchainQueryResponse {
  const params = getParams(context);
  validateRegister(message, { bech32Prefix: environment.bech32Prefix, params });
  requireContract(context, environment.contracts, message.sender);
  requireConnection(context, environment.ibc, message.connectionId);
  const id = nextId(context);
  collectDeposit(context, environment.bank, message.sender, params.queryDeposit);
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
  setQuery(context, query);
  context.emit(queryUpdated(environment.chainName, query));
  return { id };
}

/** MsgUpdateInterchainQueryRequest: zero and empty fields keep the present value. A stored result stays readable. */
export function updateQuery(
  context: Context,
  message: WithKeyList<MsgUpdateInterchainQueryRequest, "newKeys">,
  environment: Environment,
): void {
  validateUpdate(message, { bech32Prefix: environment.bech32Prefix, params: getParams(context) });
  const query = requireQuery(context, message.queryId);
  // As in Go, addresses are compared as text: the same address in upper case is a different sender.
  if (message.sender !== query.owner) throw ErrUnauthorized("authorization failed");
  requireSameType(query, message);
  const updated: RegisteredQuery = {
    ...query,
    updatePeriod: message.newUpdatePeriod === 0n ? query.updatePeriod : message.newUpdatePeriod,
    keys: message.newKeys.length === 0 ? query.keys : presentKeys(message.newKeys),
    transactionsFilter:
      message.newTransactionsFilter === "" ? query.transactionsFilter : message.newTransactionsFilter,
  };
  setQuery(context, updated);
  context.emit(queryUpdated(environment.chainName, updated));
}

/** MsgRemoveInterchainQueryRequest. The deposit goes to the sender, who need not be the owner. */
export function removeQuery(
  context: Context,
  message: MsgRemoveInterchainQueryRequest,
  environment: Environment,
): void {
  validateRemove(message, environment);
  const query = requireQuery(context, message.queryId);
  if (!maySenderRemove(query, message.sender, context.height))
    throw ErrUnauthorized("only owner can remove a query within its service period");
  deleteQuery(context, query);
  // The deployed chain panics when the payout fails. Here the bank's error fails the message.
  if (query.deposit.length > 0)
    environment.bank.sendFromModuleToAccount(context, MODULE_NAME, message.sender, parseCoins(query.deposit));
  context.emit(queryRemoved(environment.chainName, query));
}

/** MsgUpdateParams, from the authority only. The values are not checked; an absent field becomes zero. */
export function updateParams(context: Context, message: MsgUpdateParams, environment: Environment): void {
  validateUpdateParams(message, environment);
  // Go fails with ErrInvalidRequest here, not with ErrUnauthorized.
  if (message.authority !== environment.authority)
    throw ErrInvalidRequest(`invalid authority; expected ${environment.authority}, got ${message.authority}`);
  setParams(context, message.params ?? ZERO_PARAMS);
}

function requireContract(context: Context, contracts: ContractKeeper, sender: string): void {
  if (!contracts.isContract(context, sender)) throw ErrNotContract(`${sender} is not a contract address`);
}

/** Fails as ibc-go's gRPC query Connection does, whose status text Go puts into the error. */
function requireConnection(context: Context, ibc: IbcKeeper, id: string): void {
  const malformed = ibc.connectionIdError(id);
  if (malformed === undefined && ibc.connectionClientId(context, id) !== undefined) return;
  const status =
    malformed === undefined
      ? `code = NotFound desc = ${id}: connection not found`
      : `code = InvalidArgument desc = ${malformed.message}`;
  throw ErrInvalidConnectionID(`failed to get connection with ID '${id}': rpc error: ${status}`);
}

/**
 * Whether `sender` may remove a query at a local height: the owner always, anybody after the submit timeout has passed
 * since the registration and since the last submitted result (chain-extension-modules.md, "Authentication", 5). The
 * sums are exact: with a huge timeout, others can never remove the query. The deployed chain's uint64 sums wrap around,
 * so that others can remove it at once.
 */
function maySenderRemove(query: RegisteredQuery, sender: string, height: bigint): boolean {
  if (sender === query.owner) return true;
  return (
    height > query.registeredAtHeight + query.submitTimeout &&
    height > query.lastSubmittedResultLocalHeight + query.submitTimeout
  );
}

function requireQuery(context: Context, id: bigint): RegisteredQuery {
  return wrapErrors(
    (error) => wrapTwice("failed to get query by query id", error),
    () => getQuery(context, id),
  );
}

function collectDeposit(
  context: Context,
  bank: BankKeeper,
  sender: string,
  deposit: readonly WireCoin[],
): void {
  if (deposit.length === 0) return;
  wrapErrors(
    (error) => error.wrap("failed to collect deposit"),
    () => bank.sendFromAccountToModule(context, sender, MODULE_NAME, parseCoins(deposit)),
  );
}

function requireSameType(
  query: RegisteredQuery,
  message: WithKeyList<MsgUpdateInterchainQueryRequest, "newKeys">,
): void {
  const words = "params to update don't correspond with query type";
  if (query.queryType === "kv" && message.newTransactionsFilter !== "")
    throw ErrInvalidRequest(`${words}: can't update TX filter for a KV query`);
  if (query.queryType === "tx" && message.newKeys.length > 0)
    throw ErrInvalidRequest(`${words}: can't update KV keys for a TX query`);
}

/** Drops null keys. The checks reject them for KV queries; the keys of TX queries are not checked. */
function presentKeys(keys: KeyList): RegisteredQuery["keys"] {
  return keys.filter((key) => key !== undefined);
}
