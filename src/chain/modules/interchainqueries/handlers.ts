import type { ProofVerifier } from "../../../merkle/ics23/proof-verifier.ts";
import type { RegisteredQuery } from "../../../proto/gen/neutron/interchainqueries/genesis.ts";
import type {
  MsgRegisterInterchainQuery,
  MsgRegisterInterchainQueryResponse,
  MsgRemoveInterchainQueryRequest,
  MsgUpdateInterchainQueryRequest,
  MsgUpdateParams,
} from "../../../proto/gen/neutron/interchainqueries/tx.ts";
import type { Coin as WireCoin } from "../../../proto/gen/cosmos/base/v1beta1/coin.ts";
import type { Context } from "../../runtime/context.ts";
import { parseCoins } from "../../runtime/coins.ts";
import { connectionIdError } from "./connection-id.ts";
import { ErrInvalidRequest, ErrUnauthorized } from "../../runtime/sdk-errors.ts";
import { wrapErrors } from "../../runtime/wrap-errors.ts";
import { invalidConnectionId, notContract, wrapTwice } from "./errors.ts";
import { queryRemoved, queryUpdated } from "./events.ts";
import type { KeyList } from "./validation/key-list.ts";
import { deleteQuery, getParams, getQuery, nextId, setParams, setQuery } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import type { WithKeyList } from "./messages.ts";
import { validateRegister, validateRemove, validateUpdate, validateUpdateParams } from "./messages.ts";
import { ZERO_PARAMS } from "./params.ts";
import { maySenderRemove } from "./removal-rule.ts";
import type {
  BankKeeper,
  ContractKeeper,
  IbcKeeper,
  InterchainqueriesDeps,
  InterchainqueriesOptions,
} from "./types.ts";

/** Options, keepers and the proof verifier, as every handler gets them. */
export interface Environment extends InterchainqueriesOptions, InterchainqueriesDeps {
  readonly proofs: ProofVerifier;
}

/** MsgRegisterInterchainQuery (spec 000, "Interchain queries module: messages"). */
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

/** MsgUpdateInterchainQueryRequest: what is zero or empty stays as it is; a stored result stays readable. */
export function updateQuery(
  context: Context,
  message: WithKeyList<MsgUpdateInterchainQueryRequest, "newKeys">,
  environment: Environment,
): void {
  validateUpdate(message, { bech32Prefix: environment.bech32Prefix, params: getParams(context) });
  const query = requireQuery(context, message.queryId);
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

/** MsgRemoveInterchainQueryRequest: the deposit goes to whoever removes. */
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
  if (query.deposit.length > 0)
    environment.bank.sendFromModuleToAccount(context, MODULE_NAME, message.sender, parseCoins(query.deposit));
  context.emit(queryRemoved(environment.chainName, query));
}

/** MsgUpdateParams: only the authority; the values are taken as they are. */
export function updateParams(context: Context, message: MsgUpdateParams, environment: Environment): void {
  validateUpdateParams(message, environment);
  if (message.authority !== environment.authority)
    throw ErrInvalidRequest(`invalid authority; expected ${environment.authority}, got ${message.authority}`);
  setParams(context, message.params ?? ZERO_PARAMS);
}

function requireContract(context: Context, contracts: ContractKeeper, sender: string): void {
  if (!contracts.isContract(context, sender)) throw notContract(`${sender} is not a contract address`);
}

function requireConnection(context: Context, ibc: IbcKeeper, id: string): void {
  const error = connectionIdError(id);
  if (error === undefined && ibc.connectionClientId(context, id) !== undefined) return;
  const status =
    error === undefined
      ? `code = NotFound desc = ${id}: connection not found`
      : `code = InvalidArgument desc = ${error}`;
  throw invalidConnectionId(`failed to get connection with ID '${id}': rpc error: ${status}`);
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

/** Drops gaps: a KV query's list has none after its check, a TX query's list is never checked. */
function presentKeys(keys: KeyList): RegisteredQuery["keys"] {
  return keys.filter((key) => key !== undefined);
}
