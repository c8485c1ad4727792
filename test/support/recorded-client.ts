import { readFileSync } from "node:fs";
import { fixtureFile } from "./fixture-file.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../src/platform/base/json.ts";

const FIXTURE = fixtureFile("light-client/consensus-states.json");
const CONSENSUS_STATE = "/ibc.lightclients.tendermint.v1.ConsensusState";

/** Time shortly after the last remote header of the recording. Nanoseconds since the Unix epoch. */
export const RECORDING_END_NS = BigInt(Date.parse("2026-11-21T12:41:00Z")) * 1_000_000n;

/** Reads any JSON file. */
export function readJson(path: URL | string): JsonValue {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** Genesis of the module `ibc` with the recorded client and connection, and the number of its consensus states. */
export function recordedIbcGenesis(): { readonly genesis: JsonObject; readonly consensusStates: number } {
  const recording = record(readJson(FIXTURE));
  const states = list(recording["consensus_states"]).map((state) => consensusState(record(state)));
  const clientId = "07-tendermint-0";
  return {
    consensusStates: states.length,
    genesis: {
      client_genesis: {
        clients: [{ client_id: clientId, client_state: recording["client_state"] ?? null }],
        clients_consensus: [{ client_id: clientId, consensus_states: states }],
        next_client_sequence: "1",
      },
      connection_genesis: {
        connections: [{ id: "connection-0", ...record(recording["connection"]) }],
        client_connection_paths: [{ client_id: clientId, paths: ["connection-0"] }],
        next_connection_sequence: "1",
      },
    },
  };
}

function consensusState(state: JsonObject): JsonObject {
  return {
    height: { revision_number: "2", revision_height: state["revision_height"] ?? null },
    consensus_state: {
      "@type": CONSENSUS_STATE,
      timestamp: state["timestamp"] ?? null,
      root: { hash: state["root"] ?? null },
      next_validators_hash: state["next_validators_hash"] ?? null,
    },
  };
}

/** Returns the value as an object. Throws when it is none. */
export function record(value: JsonValue | undefined): JsonObject {
  if (value !== undefined && isRecord(value)) return value;
  throw new Error("an object was expected");
}

/** Returns the value as a list. Throws when it is none. */
export function list(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  throw new Error("a list was expected");
}

/** Returns the value as a string. Throws when it is none. */
export function text(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  throw new Error("a text was expected");
}
