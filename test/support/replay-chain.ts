import type { JsonObject, JsonValue } from "../../src/platform/base/json.ts";
import { fixtureFile } from "./fixture-file.ts";
import { RegisteredQuery } from "../../src/cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import { messageFromJson } from "../../src/cosmos/proto/json.ts";
import { queries, setQuery } from "../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import {
  type Outcome,
  createIcqChain,
  type IcqChain,
  ALICE,
  ESCROW,
  type PackedMessage,
} from "./icq-chain.ts";
import { readJson, record, recordedIbcGenesis, RECORDING_END_NS, text } from "./recorded-client.ts";

const QUERIES = fixtureFile("interchainqueries/queries.json");

/**
 * Contracts of the recording. `consumer` builds its queries itself; `mirror` and `echo` send the messages that they
 * receive.
 */
export const RECORDED_CONTRACTS = {
  consumer: "neutron14hj2tavq8fpesdwxxcu44rty3hh90vhujrvcmstl4zr3txmfvw9s5c2epq",
  mirror: "neutron1wkwy0xh89ksdgj9hr347dyd2dw7zesmtrue6kfzyml4vdtz6e5wsaldc5h",
  echo: "neutron1ufs3tlq4umljk0qfe8k5ya0x6hpavn897u2cnf9k0en9jr7qarqq2mt63x",
} as const;

/** The local chain of the recording: its queries, contracts and client. */
export interface RecordedChain extends IcqChain {
  /** Delivers at the height and time of the end of the recording. */
  readonly deliverRecorded: (messages: readonly PackedMessage[]) => Outcome;
}

/** Local height at the end of the recording. */
const HEIGHT = 2800n;

/** Creates a chain with the recorded client, connection, queries (without results) and contracts. */
export function createRecordedChain(): RecordedChain {
  const chain = createIcqChain();
  const place = { height: HEIGHT, timeNs: RECORDING_END_NS };
  const context = chain.world.context(place);
  chain.ibc.initGenesis(context, recordedIbcGenesis().genesis);
  chain.wasm.initGenesis(context, {
    codes: ["icq-consumer", "echo"].map((name) => ({ name, creator: ALICE })),
    contracts: [
      contract(RECORDED_CONTRACTS.consumer, "1"),
      contract(RECORDED_CONTRACTS.mirror, "2"),
      contract(RECORDED_CONTRACTS.echo, "2"),
    ],
  });
  for (const address of Object.values(RECORDED_CONTRACTS)) chain.bank.fund(address, 1_000_000_000n);
  for (const query of recordedQueries()) {
    setQuery(context, withoutResult(query));
    chain.bank.fund(ESCROW, 1_000_000n);
  }
  return { ...chain, deliverRecorded: (messages) => chain.deliver(messages, place) };
}

/** Sets the last remote height of a query, as a submission of that height does. */
export function setLastResult(chain: RecordedChain, id: bigint, remoteHeight: bigint): void {
  const context = chain.world.context({ height: HEIGHT });
  const query = queries.get(context, id);
  if (query === undefined) throw new Error(`no recorded query ${id}`);
  setQuery(context, {
    ...query,
    lastSubmittedResultRemoteHeight: { revisionNumber: 2n, revisionHeight: remoteHeight },
  });
}

/** Returns the recorded queries in their state at the end of the recording. */
export function recordedQueries(): readonly RegisteredQuery[] {
  return Object.values(record(readJson(QUERIES)))
    .map((entry) => record(entry)["registered_query"])
    .filter((query): query is JsonObject => query !== undefined)
    .map(decodeQuery);
}

function decodeQuery(json: JsonValue): RegisteredQuery {
  return RegisteredQuery.decode(messageFromJson("neutron.interchainqueries.RegisteredQuery", json));
}

function withoutResult(query: RegisteredQuery): RegisteredQuery {
  return { ...query, lastSubmittedResultLocalHeight: 0n, lastSubmittedResultRemoteHeight: undefined };
}

function contract(address: string, codeId: string): JsonObject {
  return {
    contract_address: address,
    contract_info: { code_id: codeId, creator: ALICE, label: "recorded" },
    contract_state: [],
  };
}

/** Encodes a recorded message in proto JSON, whose type is in `@type`. */
export function packMessage(json: JsonObject): PackedMessage {
  const { "@type": typeUrl, ...fields } = json;
  const type = text(typeUrl);
  return { typeUrl: type, value: messageFromJson(type.slice(1), fields) };
}
