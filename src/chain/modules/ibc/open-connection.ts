import { revisionOfChainId } from "../../../comet/chain-revision.ts";
import { toBase64, uint64BigEndian, utf8 } from "../../../base/bytes.ts";
import { isRecord, type JsonObject } from "../../../base/json.ts";
import { splitNs } from "../../../base/rfc3339.ts";
import type { SignedHeader } from "../../../comet/block-types.ts";
import { Any } from "../../../proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../proto/gen/ibc/core/client/v1/client.ts";
import { IdentifiedConnection } from "../../../proto/gen/ibc/core/connection/v1/connection.ts";
import type { ClientState } from "../../../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { messageToJson } from "../../../proto/json.ts";
import { packClientState, TENDERMINT_TYPE } from "./client/client-state.ts";
import { packConsensusState } from "./client/consensus-state.ts";
import { CONNECTION_VERSION, STATE_OPEN } from "./connection/connection-store.ts";
import { formatHeight, ZERO_HEIGHT } from "./height.ts";
import { consensusStateKey, iterationKey, processedHeightKey, processedTimeKey, STORE_NAME } from "./keys.ts";
import { SDK_PROOF_SPECS } from "./tendermint/proof-specs.ts";

/** How far the client trusts the remote chain; all nanoseconds. */
export interface ClientSettings {
  readonly trustingPeriodNs: bigint;
  readonly unbondingPeriodNs: bigint;
  readonly maxClockDriftNs: bigint;
}

/** A client state that follows an SDK chain from this height on, with trust level 1/3. */
export function tendermintClientState(
  chainId: string,
  latestHeight: Height,
  settings: ClientSettings,
): ClientState {
  return {
    chainId,
    trustLevel: { numerator: 1n, denominator: 3n },
    trustingPeriod: splitNs(settings.trustingPeriodNs),
    unbondingPeriod: splitNs(settings.unbondingPeriodNs),
    maxClockDrift: splitNs(settings.maxClockDriftNs),
    frozenHeight: ZERO_HEIGHT,
    latestHeight,
    proofSpecs: [...SDK_PROOF_SPECS],
    upgradePath: ["upgrade", "upgradedIBCState"],
    allowUpdateAfterExpiry: true,
    allowUpdateAfterMisbehaviour: true,
  };
}

/** What the genesis of a chain says of a remote chain that it is connected to. */
export interface OpenConnectionOptions {
  /** A header of the remote chain: the first that the client trusts. */
  readonly remote: SignedHeader;
  readonly settings: ClientSettings;
  /** The own chain's id, and the time of its genesis. */
  readonly ownChainId: string;
  readonly ownTimeNs: bigint;
}

/**
 * The module's genesis with one client, `07-tendermint-0`, and one open connection over it, `connection-0`. The other
 * end is said to have the same ids; no handshake has taken place.
 */
export function openConnectionGenesis(options: OpenConnectionOptions): JsonObject {
  const clientId = `${TENDERMINT_TYPE}-0`;
  const { header } = options.remote;
  const height: Height = { revisionNumber: revisionOfChainId(header.chainId), revisionHeight: header.height };
  const state = tendermintClientState(header.chainId, height, options.settings);
  const consensusState = packConsensusState({
    timeNs: header.timeNs,
    root: header.appHash,
    nextValidatorsHash: header.nextValidatorsHash,
  });
  return {
    client_genesis: {
      clients: [
        { client_id: clientId, client_state: anyJson(packClientState({ type: TENDERMINT_TYPE, state })) },
      ],
      clients_consensus: [
        {
          client_id: clientId,
          consensus_states: [{ height: heightJson(height), consensus_state: anyJson(consensusState) }],
        },
      ],
      clients_metadata: [{ client_id: clientId, client_metadata: metadata(height, options) }],
      next_client_sequence: "1",
    },
    connection_genesis: {
      connections: [openConnection("connection-0", clientId)],
      client_connection_paths: [{ client_id: clientId, paths: ["connection-0"] }],
      next_connection_sequence: "1",
    },
  };
}

function metadata(height: Height, { ownChainId, ownTimeNs }: OpenConnectionOptions): readonly JsonObject[] {
  const own = formatHeight({ revisionNumber: revisionOfChainId(ownChainId), revisionHeight: 0n });
  return [
    entry(processedTimeKey(height), uint64BigEndian(ownTimeNs)),
    entry(processedHeightKey(height), utf8(own)),
    entry(iterationKey(height), consensusStateKey(height)),
  ];
}

function entry(key: Uint8Array, value: Uint8Array): JsonObject {
  return { key: toBase64(key), value: toBase64(value) };
}

function openConnection(id: string, clientId: string): JsonObject {
  const prefix = { keyPrefix: utf8(STORE_NAME) };
  const bytes = IdentifiedConnection.encode({
    id,
    clientId,
    versions: [CONNECTION_VERSION],
    state: STATE_OPEN,
    counterparty: { clientId, connectionId: id, prefix },
    delayPeriod: 0n,
  }).finish();
  const json = messageToJson("ibc.core.connection.v1.IdentifiedConnection", bytes);
  if (!isRecord(json)) throw new Error("a connection does not print as an object");
  return json;
}

function anyJson(any: Any): JsonObject {
  const json = messageToJson("google.protobuf.Any", Any.encode(any).finish());
  if (!isRecord(json)) throw new Error("an Any does not print as an object");
  return json;
}

function heightJson(height: Height): JsonObject {
  return { revision_number: `${height.revisionNumber}`, revision_height: `${height.revisionHeight}` };
}
