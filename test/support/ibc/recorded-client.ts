import { readFileSync } from "node:fs";
import { Any } from "../../../src/cosmos/proto/gen/google/protobuf/any.ts";
import { IdentifiedConnection } from "../../../src/cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { messageFromJson } from "../../../src/cosmos/proto/json.ts";
import {
  type ConsensusState,
  openClientStore,
  unpackClientState,
} from "../../../src/localnet/chain/modules/ibc/client/client-store.ts";
import { createLocalhostClient } from "../../../src/localnet/chain/modules/ibc/client/keeper.ts";
import {
  clientConnections,
  connections,
  createLocalhostConnection,
} from "../../../src/localnet/chain/modules/ibc/connection/connection-store.ts";
import type { Context } from "../../../src/localnet/chain/runtime/context.ts";
import { fromBase64, fromHex } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { parseRfc3339Ns } from "../../../src/platform/base/time.ts";
import { fixtureFile } from "../fixture-file.ts";

/** Revision of the recorded remote chain, `test-2`. */
const REVISION = 2n;

/** The recorded client of `test-2` on `test-1`, with all consensus states that it ever stored. */
export interface RecordedClient {
  readonly clientId: string;
  /** By height, in ascending order. */
  readonly states: ReadonlyMap<bigint, ConsensusState>;
  /** Stores the client with its connection, and the consensus states up to the height `latest` (by default all). */
  readonly install: (context: Context, latest?: bigint) => void;
}

/** Reads `light-client/consensus-states.json`. */
export function readRecordedClient(): RecordedClient {
  const json: unknown = JSON.parse(readFileSync(fixtureFile("light-client/consensus-states.json"), "utf8"));
  if (!isRecord(json) || !Array.isArray(json["consensus_states"]) || !isRecord(json["connection"])) {
    throw new Error("not the recorded client");
  }
  const clientId = String(json["client_id"]);
  const states = new Map(json["consensus_states"].filter(isRecord).map(stateOf));
  const client = unpackClientState(Any.decode(messageFromJson("google.protobuf.Any", json["client_state"])));
  const connection = IdentifiedConnection.decode(
    messageFromJson("ibc.core.connection.v1.IdentifiedConnection", {
      id: "connection-0",
      ...json["connection"],
    }),
  );
  const install = (context: Context, latest = [...states.keys()].at(-1) ?? 0n): void => {
    const store = openClientStore(context, clientId);
    const latestHeight = { revisionNumber: REVISION, revisionHeight: latest };
    if (client.type !== "07-tendermint") throw new Error("not a Tendermint client");
    store.setClientState({ type: client.type, state: { ...client.state, latestHeight } });
    for (const [revisionHeight, state] of states) {
      if (revisionHeight <= latest)
        store.setConsensusState({ revisionNumber: REVISION, revisionHeight }, state);
    }
    connections.set(context, connection.id, connection);
    clientConnections.set(context, clientId, { paths: [connection.id] });
    createLocalhostClient(context);
    createLocalhostConnection(context);
  };
  return { clientId, states, install };
}

function stateOf(json: Readonly<Record<string, unknown>>): readonly [bigint, ConsensusState] {
  const state: ConsensusState = {
    timeNs: parseRfc3339Ns(String(json["timestamp"])),
    root: fromBase64(String(json["root"])),
    nextValidatorsHash: fromHex(String(json["next_validators_hash"])),
  };
  return [BigInt(String(json["revision_height"])), state];
}
