import { concat, prefixEnd, toBase64 } from "../../../../../platform/base/bytes.ts";
import {
  type JsonObject,
  type JsonValue,
  asBase64,
  asText,
  elements,
  type JsonField,
  member,
  required,
} from "../../../../../platform/base/json.ts";
import { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { ConsensusStateWithHeight } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { messageToJson } from "../../../../../cosmos/proto/json.ts";
import type { Context } from "../../../runtime/context.ts";
import { asMessage, asMessages } from "../genesis-fields.ts";
import { parseHeight, ZERO_HEIGHT } from "../height.ts";
import { validateClientId } from "../identifiers.ts";
import { clientPrefix, clientStateKey, CLIENTS_PREFIX, consensusStateKey, STORE_NAME } from "../keys.ts";
import { encodeClientState, unpackClientState } from "./client-state.ts";
import { encodeConsensusState, unpackConsensusState } from "./consensus-state.ts";

/** A client in the form of the genesis. `metadata` contains all other entries of its store. */
export interface ExportedClient {
  readonly clientId: string;
  readonly clientState: JsonValue;
  readonly consensusStates: readonly JsonObject[];
  readonly metadata: readonly JsonObject[];
}

/**
 * Imports one entry of `clients`, with its entries of `clients_consensus` and `clients_metadata`. `genesis` is the
 * object that contains the three lists. Throws `GenesisError`, or `ModuleError` for an invalid client.
 */
export function importClient(context: Context, client: JsonField, genesis: JsonField): void {
  const clientId = asText(required(member(client, "client_id")));
  validateClientId(clientId);
  const state = asMessage(member(client, "client_state"), { name: "google.protobuf.Any", codec: Any });
  const store = context.store(STORE_NAME);
  const prefix = clientPrefix(clientId);
  store.set(clientStateKey(clientId), encodeClientState(unpackClientState(state)));
  for (const entry of entriesOf(genesis, "clients_consensus", clientId)) {
    const states = asMessages(member(entry, "consensus_states"), CONSENSUS_STATE);
    for (const { height, consensusState } of states) {
      const key = concat(prefix, consensusStateKey(height ?? ZERO_HEIGHT));
      store.set(key, encodeConsensusState(unpackConsensusState(consensusState)));
    }
  }
  for (const entry of entriesOf(genesis, "clients_metadata", clientId)) {
    for (const { key, value } of elements(member(entry, "client_metadata")).map(metadataOf))
      store.set(concat(prefix, key), value);
  }
}

const CONSENSUS_STATE = {
  name: "ibc.core.client.v1.ConsensusStateWithHeight",
  codec: ConsensusStateWithHeight,
};

/** Returns the entries of a list that have this `client_id`. */
function entriesOf(genesis: JsonField, list: string, clientId: string): readonly JsonField[] {
  return elements(member(genesis, list)).filter(
    (entry) => asText(required(member(entry, "client_id"))) === clientId,
  );
}

function metadataOf(entry: JsonField): { readonly key: Uint8Array; readonly value: Uint8Array } {
  return {
    key: asBase64(required(member(entry, "key"))),
    value: asBase64(required(member(entry, "value"))),
  };
}

/** Returns all clients in ascending order of ids as text, each with all entries of its store except its connections. */
export function listClients(context: Context): readonly ExportedClient[] {
  const clients = new Map<string, { state: JsonValue; consensus: JsonObject[]; metadata: JsonObject[] }>();
  const entries = context.store(STORE_NAME).iterate(CLIENTS_PREFIX, prefixEnd(CLIENTS_PREFIX));
  for (const [path, value] of entries) {
    const { clientId, key } = splitPath(path);
    if (clientId === undefined || key === undefined || textOf(key) === "connections") continue;
    const client = clients.get(clientId) ?? { state: null, consensus: [], metadata: [] };
    clients.set(clientId, client);
    const consensusState = consensusStateJson(key, value);
    if (textOf(key) === "clientState") client.state = messageToJson("google.protobuf.Any", value);
    else if (consensusState !== undefined) client.consensus.push(consensusState);
    else client.metadata.push({ key: toBase64(key), value: toBase64(value) });
  }
  return [...clients].map(([clientId, { state, consensus, metadata }]) => ({
    clientId,
    clientState: state,
    consensusStates: consensus,
    metadata,
  }));
}

/** Splits "clients/{id}/{key}". The key may be any bytes: iteration keys contain binary heights. */
function splitPath(path: Uint8Array): { readonly clientId?: string; readonly key?: Uint8Array } {
  const slash = "/".charCodeAt(0);
  const start = CLIENTS_PREFIX.length + 1;
  const end = path.indexOf(slash, start);
  if (end < 0) return {};
  return { clientId: textOf(path.subarray(start, end)), key: path.subarray(end + 1) };
}

/** Returns the genesis form of a consensus state; undefined for any other key. */
function consensusStateJson(key: Uint8Array, value: Uint8Array): JsonObject | undefined {
  const match = /^consensusStates\/([^/]+)$/.exec(textOf(key));
  const height = parseHeight(match?.[1] ?? "");
  if (height === undefined) return undefined;
  return {
    height: {
      revision_number: `${height.revisionNumber}`,
      revision_height: `${height.revisionHeight}`,
    },
    consensus_state: messageToJson("google.protobuf.Any", value),
  };
}

/** Latin-1 maps every byte to one character, so that binary keys compare safely. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
