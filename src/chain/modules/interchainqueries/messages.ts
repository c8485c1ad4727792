import type { Params } from "../../../proto/gen/neutron/interchainqueries/params.ts";
import type {
  MsgRegisterInterchainQuery,
  MsgRemoveInterchainQueryRequest,
  MsgSubmitQueryResult,
  MsgUpdateInterchainQueryRequest,
  MsgUpdateParams,
} from "../../../proto/gen/neutron/interchainqueries/tx.ts";
import { parseAddress } from "../../runtime/address.ts";
import { ModuleError } from "../../runtime/module-error.ts";
import { wrapErrors } from "../../runtime/wrap-errors.ts";
import { ErrInvalidAddress, ErrInvalidRequest } from "../../runtime/sdk-errors.ts";
import {
  emptyResult,
  invalidConnectionId,
  invalidQueryId,
  invalidQueryType,
  invalidUpdatePeriod,
} from "./errors.ts";
import { validateTransactionsFilter } from "./validation/transactions-filter.ts";
import type { KeyList } from "./validation/key-list.ts";
import { validateKeys, validateRegisteredKeys } from "./validation/key-list.ts";

/** What the stateless checks depend on. */
export interface CheckRules {
  readonly bech32Prefix: string;
  readonly params: Params;
}

/** A registration or update whose key list may hold gaps: only a contract's JSON can make one. */
export type WithKeyList<M, K extends keyof M> = Omit<M, K> & { readonly [key in K]: KeyList };

/** Checks of MsgRegisterInterchainQuery that need no state, in the deployed order. */
export function validateRegister(
  message: WithKeyList<MsgRegisterInterchainQuery, "keys">,
  { bech32Prefix, params }: CheckRules,
): void {
  inMessage("MsgRegisterInterchainQuery", () => {
    if (message.updatePeriod === 0n) throw invalidUpdatePeriod("update period can not be equal to zero");
    checkSender(bech32Prefix, message.sender);
    if (message.connectionId.trim() === "") throw invalidConnectionId("connection id cannot be empty");
    if (message.queryType === "kv") validateRegisteredKeys(message.keys, params.maxKvQueryKeysCount);
    else if (message.queryType === "tx")
      validateTransactionsFilter(message.transactionsFilter, params.maxTransactionsFilters);
    else throw invalidQueryType("invalid query type");
  });
}

/** Checks of MsgUpdateInterchainQueryRequest that need no state; the sender comes last. */
export function validateUpdate(
  message: WithKeyList<MsgUpdateInterchainQueryRequest, "newKeys">,
  { bech32Prefix, params }: CheckRules,
): void {
  inMessage("MsgUpdateInterchainQueryRequest", () => {
    const { newKeys, newTransactionsFilter: filter } = message;
    if (message.queryId === 0n) throw invalidQueryId("query_id cannot be empty or equal to 0");
    if (newKeys.length === 0 && filter === "" && message.newUpdatePeriod === 0n)
      throw ErrInvalidRequest("one of new_keys, new_transactions_filter or new_update_period should be set");
    if (newKeys.length > 0 && filter !== "")
      throw ErrInvalidRequest("either new_keys or new_transactions_filter should be set");
    if (newKeys.length > 0) validateKeys(newKeys, params.maxKvQueryKeysCount);
    if (filter !== "") validateTransactionsFilter(filter, params.maxTransactionsFilters);
    checkSender(bech32Prefix, message.sender);
  });
}

/** Checks of MsgRemoveInterchainQueryRequest that need no state. */
export function validateRemove(
  message: MsgRemoveInterchainQueryRequest,
  { bech32Prefix }: Pick<CheckRules, "bech32Prefix">,
): void {
  inMessage("MsgRemoveInterchainQueryRequest", () => {
    if (message.queryId === 0n) throw invalidQueryId("query_id cannot be empty or equal to 0");
    checkSender(bech32Prefix, message.sender);
  });
}

/** Checks of MsgSubmitQueryResult that need no state; returns the result, which is there afterwards. */
export function validateSubmit(
  message: MsgSubmitQueryResult,
  { bech32Prefix }: Pick<CheckRules, "bech32Prefix">,
): NonNullable<MsgSubmitQueryResult["result"]> {
  return inMessage("MsgSubmitQueryResult", () => {
    const { result } = message;
    if (result === undefined || (result.kvResults.length === 0 && result.block === undefined))
      throw emptyResult("query result can't be empty");
    if (message.queryId === 0n) throw invalidQueryId("query id cannot be equal zero");
    checkSender(bech32Prefix, message.sender);
    return result;
  });
}

/** Checks of MsgUpdateParams that need no state: the authority must be an address. The values are free. */
export function validateUpdateParams(
  message: MsgUpdateParams,
  { bech32Prefix }: Pick<CheckRules, "bech32Prefix">,
): void {
  inMessage("MsgUpdateParams", () => {
    try {
      parseAddress(bech32Prefix, message.authority);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ModuleError("undefined", 1, `authority is invalid: ${reason}`);
    }
  });
}

function checkSender(bech32Prefix: string, sender: string): void {
  if (sender.trim() === "") throw ErrInvalidAddress("missing sender address");
  if (!isAddress(bech32Prefix, sender)) throw ErrInvalidAddress(`failed to parse address: ${sender}`);
}

function isAddress(bech32Prefix: string, text: string): boolean {
  try {
    parseAddress(bech32Prefix, text);
    return true;
  } catch {
    return false;
  }
}

/** Puts "failed to validate X" in front of whatever fails. */
function inMessage<T>(name: string, check: () => T): T {
  return wrapErrors((error) => error.wrap(`failed to validate ${name}`), check);
}
