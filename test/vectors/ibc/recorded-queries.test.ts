import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../../src/platform/base/json.ts";
import { createIbcModule, initGenesis } from "../../../src/localnet/chain/modules/ibc/module.ts";
import type { Context } from "../../../src/localnet/chain/runtime/context.ts";
import { QueryError } from "../../../src/localnet/chain/runtime/errors.ts";
import { messageFromJson, messageToJson } from "../../../src/cosmos/proto/json.ts";
import { createMemoryChain } from "../../support/ibc/memory-chain.ts";
import { readRecordedClient } from "../../support/ibc/recorded-client.ts";

const CLIENT = "ibc.core.client.v1";
const CONNECTION = "ibc.core.connection.v1";
const ID = { client_id: "07-tendermint-0" };
const OF_CONNECTION = { connection_id: "connection-0" };

/** gRPC query and request of each recorded REST path. */
const QUERIES: Readonly<Record<string, readonly [service: string, rpc: string, request: object]>> = {
  "/ibc/core/connection/v1/connections": [CONNECTION, "Connections", {}],
  "/ibc/core/connection/v1/connections/connection-0": [CONNECTION, "Connection", OF_CONNECTION],
  "/ibc/core/connection/v1/connections/connection-9": [
    CONNECTION,
    "Connection",
    { connection_id: "connection-9" },
  ],
  "/ibc/core/connection/v1/connections/connection-0/client_state": [
    CONNECTION,
    "ConnectionClientState",
    OF_CONNECTION,
  ],
  "/ibc/core/client/v1/client_states": [CLIENT, "ClientStates", {}],
  "/ibc/core/client/v1/client_states/07-tendermint-0": [CLIENT, "ClientState", ID],
  "/ibc/core/client/v1/client_status/07-tendermint-0": [CLIENT, "ClientStatus", ID],
  "/ibc/core/client/v1/consensus_states/07-tendermint-0?pagination.limit=2": [
    CLIENT,
    "ConsensusStates",
    { ...ID, pagination: { limit: "2" } },
  ],
  "/ibc/core/client/v1/consensus_states/07-tendermint-0/heights?pagination.limit=3": [
    CLIENT,
    "ConsensusStateHeights",
    { ...ID, pagination: { limit: "3" } },
  ],
  "/ibc/core/client/v1/consensus_states/07-tendermint-0/revision/2/height/5": [
    CLIENT,
    "ConsensusState",
    { ...ID, revision_number: "2", revision_height: "5" },
  ],
  "/ibc/core/client/v1/params": [CLIENT, "ClientParams", {}],
};

/** Own height and remote latest height at the moment of the recording. */
const OWN_HEIGHT = 1556n;
const REMOTE_HEIGHT = 1567n;

const module = createIbcModule({ bech32Prefix: "neutron", authority: "neutron1authority" });

function recorded(): ReadonlyMap<string, unknown> {
  const json: unknown = JSON.parse(
    readFileSync(new URL("../../fixtures/rest.json", import.meta.url), "utf8"),
  );
  if (!Array.isArray(json)) throw new Error("not a list of calls");
  const calls = json.filter(isRecord).map((call) => [String(call["path"]), call["body"]] as const);
  return new Map(calls.filter(([path]) => /^\/ibc\/core\/(client|connection)\//.test(path)));
}

function recordedState(): Context {
  const chain = createMemoryChain("test-1");
  const client = readRecordedClient();
  const timeNs = (client.states.get(REMOTE_HEIGHT)?.timeNs ?? 0n) + 1_000_000_000n;
  const context = chain.at(OWN_HEIGHT, timeNs);
  initGenesis(context, undefined);
  client.install(context, REMOTE_HEIGHT);
  return context;
}

function respond(context: Context, [service, rpc, request]: readonly [string, string, object]): unknown {
  const handler = module.queries.find(({ path }) => path === `/${service}.Query/${rpc}`);
  if (handler === undefined) throw new Error(`no query ${rpc}`);
  const name = rpc === "ClientParams" ? "QueryClientParams" : `Query${rpc}`;
  try {
    const bytes = handler.query(context, messageFromJson(`${service}.${name}Request`, request));
    return messageToJson(`${service}.${name}Response`, bytes);
  } catch (error) {
    if (error instanceof QueryError) return { code: error.grpcCode, message: error.message, details: [] };
    throw error;
  }
}

describe("recorded REST calls of IBC clients and connections", () => {
  const calls = recorded();
  const context = recordedState();

  it("are complete", () => {
    expect([...calls.keys()].toSorted()).toEqual(Object.keys(QUERIES).toSorted());
  });

  it.each(Object.entries(QUERIES))("%s", (path, query) => {
    expect(respond(context, query)).toEqual(calls.get(path));
  });
});
