import type { KVKey } from "../../src/cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type { Params } from "../../src/cosmos/proto/gen/neutron/interchainqueries/params.ts";
import * as wire from "../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { PackedMessage } from "./icq-chain.ts";

const PACKAGE = "/neutron.interchainqueries";

/** Returns a registration of a KV query with one key. `fields` replaces defaults. */
export function register(fields: Partial<wire.MsgRegisterInterchainQuery>): PackedMessage {
  const message = {
    queryType: "kv",
    keys: [kvKey("somepath", "somedata")],
    transactionsFilter: "",
    connectionId: "connection-0",
    updatePeriod: 1n,
    sender: "",
    ...fields,
  };
  return {
    typeUrl: `${PACKAGE}.MsgRegisterInterchainQuery`,
    value: wire.MsgRegisterInterchainQuery.encode(message).finish(),
  };
}

/** Returns a registration of a TX query without filters. `fields` replaces defaults. */
export function registerTx(fields: Partial<wire.MsgRegisterInterchainQuery>): PackedMessage {
  return register({ queryType: "tx", keys: [], transactionsFilter: "[]", ...fields });
}

/** Returns an update of query 1 that changes nothing. `fields` replaces defaults. */
export function update(fields: Partial<wire.MsgUpdateInterchainQueryRequest>): PackedMessage {
  const message = {
    queryId: 1n,
    newKeys: [],
    newUpdatePeriod: 0n,
    newTransactionsFilter: "",
    sender: "",
    ...fields,
  };
  return {
    typeUrl: `${PACKAGE}.MsgUpdateInterchainQueryRequest`,
    value: wire.MsgUpdateInterchainQueryRequest.encode(message).finish(),
  };
}

/** Returns the removal of a query. */
export function remove(queryId: bigint, sender: string): PackedMessage {
  const value = wire.MsgRemoveInterchainQueryRequest.encode({ queryId, sender }).finish();
  return { typeUrl: `${PACKAGE}.MsgRemoveInterchainQueryRequest`, value };
}

/** Returns the submission of an empty result. `result` replaces defaults; undefined leaves the result out. */
export function submit(
  queryId: bigint,
  sender: string,
  result: Partial<wire.QueryResult> | undefined,
): PackedMessage {
  const empty = { kvResults: [], block: undefined, height: 0n, revision: 0n, allowKvCallbacks: false };
  const message = { queryId, sender, clientId: "", result: result && { ...empty, ...result } };
  return {
    typeUrl: `${PACKAGE}.MsgSubmitQueryResult`,
    value: wire.MsgSubmitQueryResult.encode(message).finish(),
  };
}

/** Returns an update of the module parameters. */
export function updateParams(authority: string, params: Params): PackedMessage {
  const value = wire.MsgUpdateParams.encode({ authority, params }).finish();
  return { typeUrl: `${PACKAGE}.MsgUpdateParams`, value };
}

/** Returns a KV key with text as its bytes. */
export function kvKey(path: string, key: string): KVKey {
  return { path, key: new TextEncoder().encode(key) };
}
