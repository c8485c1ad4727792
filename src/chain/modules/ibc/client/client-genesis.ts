import { concat, prefixEnd, toBase64 } from "../../../../base/bytes.ts";
import type { JsonObject, JsonValue } from "../../../../base/json.ts";
import { Any } from "../../../../proto/gen/google/protobuf/any.ts";
import { ConsensusStateWithHeight } from "../../../../proto/gen/ibc/core/client/v1/client.ts";
import { messageToJson } from "../../../../proto/json.ts";
import type { Context } from "../../../runtime/context.ts";
import type { GenesisPart } from "../genesis-part.ts";
import { parseHeight, ZERO_HEIGHT } from "../height.ts";
import { validateClientId } from "../identifiers.ts";
import { clientPrefix, clientStateKey, CLIENTS_PREFIX, consensusStateKey, STORE_NAME } from "../keys.ts";
import { encodeClientState, unpackClientState } from "./client-state.ts";
import { encodeConsensusState, unpackConsensusState } from "./consensus-state.ts";

/** All that a client keeps, in the forms of genesis. Metadata are the other entries of its store. */
export interface ExportedClient {
  readonly clientId: string;
  readonly clientState: JsonValue;
  readonly consensusStates: readonly JsonObject[];
  readonly metadata: readonly JsonObject[];
}

/** Reads one entry of `clients` and what `clients_consensus` and `clients_metadata` hold of it. Throws with the path. */
export function importClient(context: Context, client: GenesisPart, all: GenesisPart): void {
  const clientId = client.text("client_id");
  validateClientId(clientId);
  const state = client.message("client_state", "google.protobuf.Any", Any);
  const store = context.store(STORE_NAME);
  store.set(clientStateKey(clientId), encodeClientState(unpackClientState(state)));
  const own = (name: string): readonly GenesisPart[] =>
    all.list(name).filter((part) => part.text("client_id") === clientId);
  for (const part of own("clients_consensus")) {
    for (const { height, consensusState } of part.messages(
      "consensus_states",
      "ibc.core.client.v1.ConsensusStateWithHeight",
      ConsensusStateWithHeight,
    )) {
      const key = concat(clientPrefix(clientId), consensusStateKey(height ?? ZERO_HEIGHT));
      store.set(key, encodeConsensusState(unpackConsensusState(consensusState)));
    }
  }
  for (const part of own("clients_metadata")) {
    for (const entry of part.list("client_metadata")) {
      store.set(concat(clientPrefix(clientId), entry.bytes("key")), entry.bytes("value"));
    }
  }
}

/** All clients, ascending by id as text, each with everything in its store but its connections. */
export function listClients(context: Context): readonly ExportedClient[] {
  const clients = new Map<string, { state: JsonValue; consensus: JsonObject[]; metadata: JsonObject[] }>();
  const entries = context.store(STORE_NAME).iterate(CLIENTS_PREFIX, prefixEnd(CLIENTS_PREFIX));
  for (const [path, value] of entries) {
    const { clientId, key } = splitPath(path);
    if (clientId === undefined || key === undefined || textOf(key) === "connections") continue;
    const client = clients.get(clientId) ?? { state: null, consensus: [], metadata: [] };
    clients.set(clientId, client);
    const height = heightOf(key);
    if (textOf(key) === "clientState") client.state = messageToJson("google.protobuf.Any", value);
    else if (height !== undefined) client.consensus.push(height(value));
    else client.metadata.push({ key: toBase64(key), value: toBase64(value) });
  }
  return [...clients].map(([clientId, { state, consensus, metadata }]) => ({
    clientId,
    clientState: state,
    consensusStates: consensus,
    metadata,
  }));
}

/** "clients/{id}/{key}"; the key may be any bytes. */
function splitPath(path: Uint8Array): { readonly clientId?: string; readonly key?: Uint8Array } {
  const slash = "/".charCodeAt(0);
  const start = CLIENTS_PREFIX.length + 1;
  const end = path.indexOf(slash, start);
  if (end < 0) return {};
  return { clientId: textOf(path.subarray(start, end)), key: path.subarray(end + 1) };
}

/** For the key of a consensus state: how its value is exported. */
function heightOf(key: Uint8Array): ((value: Uint8Array) => JsonObject) | undefined {
  const match = /^consensusStates\/([^/]+)$/.exec(textOf(key));
  const height = parseHeight(match?.[1] ?? "");
  if (height === undefined) return undefined;
  return (value) => ({
    height: {
      revision_number: `${height.revisionNumber}`,
      revision_height: `${height.revisionHeight}`,
    },
    consensus_state: messageToJson("google.protobuf.Any", value),
  });
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
