import { toBase64, utf8 } from "../../src/platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../src/platform/base/json.ts";
import { lastId, setQuery } from "../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import type { ChainEvent } from "../../src/localnet/chain/runtime/context.ts";
import type { RegisteredQuery } from "../../src/cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import { MsgExecuteContract } from "../../src/cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { TYPE_URL } from "../../src/cosmos/proto/registry.ts";
import { BOB, type PackedMessage } from "./icq-chain.ts";
import { list, record, text } from "./recorded-client.ts";
import type { Replayed } from "./replay.ts";
import { packMessage, type RecordedChain, RECORDED_CONTRACTS } from "./replay-chain.ts";

/**
 * Replays a registration, update or removal: a call of the consumer (`execute`), messages that a contract sends
 * (`messages` with a `contract`), or messages of an account.
 */
export function replayRegistration(chain: RecordedChain, recorded: JsonObject): Replayed {
  const events = list(recorded["events"]).map(record);
  prepareState(chain, events);
  const outcome = chain.deliverRecorded(transactionOf(recorded));
  const actual = outcome.events.filter(({ type }) => type === "neutron").map(printEvent);
  const expected = events.map(printRecordedEvent);
  const remarks =
    actual.join("\n") === expected.join("\n")
      ? []
      : [`events\n  ${actual.join("\n  ")}\ninstead of\n  ${expected.join("\n  ")}`];
  return { ...outcome, remarks };
}

/** Stores queries 1 and 8, which the cases name. Sets the last id so that the next id is the recorded one. */
function prepareState(chain: RecordedChain, events: readonly JsonObject[]): void {
  const context = chain.world.context({ height: 1600n });
  const balance = new Uint8Array([
    2,
    20,
    ...Buffer.from("7dcb05e28cd4d68c9109a1925ad272002978a874", "hex"),
    ...utf8("untrn"),
  ]);
  setQuery(context, {
    ...QUERY,
    id: 1n,
    owner: RECORDED_CONTRACTS.consumer,
    keys: [{ path: "bank", key: balance }],
  });
  setQuery(context, {
    ...QUERY,
    id: 8n,
    owner: RECORDED_CONTRACTS.echo,
    queryType: "tx",
    transactionsFilter: "[]",
  });
  const id = events.map((event) => attribute(event, "query_id")).at(0);
  if (id !== undefined) lastId.set(context, BigInt(id) - 1n);
}

const QUERY: RegisteredQuery = {
  id: 0n,
  owner: "",
  queryType: "kv",
  keys: [],
  transactionsFilter: "",
  connectionId: "connection-0",
  updatePeriod: 5n,
  lastSubmittedResultLocalHeight: 0n,
  lastSubmittedResultRemoteHeight: undefined,
  deposit: [],
  submitTimeout: 1_036_800n,
  registeredAtHeight: 139n,
};

function transactionOf(recorded: JsonObject): readonly PackedMessage[] {
  const { contract, execute } = recorded;
  if (contract === undefined)
    return list(recorded["messages"]).map((message) => packMessage(record(message)));
  if (execute !== undefined) return [executeContract(text(contract), consumerMessage(record(execute)))];
  const messages = list(recorded["messages"]).map((message) => {
    const { typeUrl, value } = packMessage(record(message));
    const msg = { stargate: { type_url: typeUrl, value: toBase64(value) } };
    return { id: 0, msg, gas_limit: null, reply_on: "never" };
  });
  return [executeContract(text(contract), { ok: { messages, attributes: [], events: [], data: null } })];
}

/** Translates two calls of the recorded contract, which register invalid queries, into calls of our contract. */
function consumerMessage(execute: JsonObject): JsonObject {
  const [name = "", fields] = Object.entries(execute)[0] ?? [];
  const query = { ...record(fields), update_period: 10 };
  if (name === "integration_tests_register_query_empty_keys")
    return { register_kv_query: { ...query, keys: [] } };
  if (name === "integration_tests_register_query_empty_path")
    return { register_kv_query: { ...query, keys: [{ path: "", key: "AQ==" }] } };
  return execute;
}

function executeContract(contract: string, message: JsonValue): PackedMessage {
  const value = MsgExecuteContract.encode({
    sender: BOB,
    contract,
    msg: utf8(JSON.stringify(message)),
    funds: [],
  }).finish();
  return { typeUrl: TYPE_URL.executeContract, value };
}

function attribute(event: JsonObject, name: string): string | undefined {
  const entry = list(event["attributes"])
    .map(record)
    .find(({ key }) => key === name);
  return entry === undefined ? undefined : text(entry["value"]);
}

function printEvent({ type, attributes }: ChainEvent): string {
  return `${type} ${attributes.map(({ key, value }) => `${key}=${value}`).join(" ")}`;
}

/** Leaves out `msg_index`, which the transaction runner adds. */
function printRecordedEvent(event: JsonObject): string {
  const attributes = list(event["attributes"])
    .map(record)
    .filter(({ key }) => key !== "msg_index");
  return `${text(event["type"])} ${attributes.map(({ key, value }) => `${text(key)}=${text(value)}`).join(" ")}`;
}
