import { revisionOfChainId } from "../../../../cosmos/comet/ibc-height.ts";
import { toBase64, uint64BigEndian, utf8 } from "../../../../platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../../../platform/base/json.ts";
import { splitNs } from "../../../../platform/base/time.ts";
import type { SignedHeader } from "../../../../cosmos/comet/block-types.ts";
import { HashOp, LengthOp, type ProofSpec } from "../../../../cosmos/proto/gen/cosmos/ics23/v1/proofs.ts";
import { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import * as wireConnection from "../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import type { ClientState } from "../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { genesisPart } from "../../runtime/genesis.ts";
import { packClientState, packConsensusState } from "./client/client-store.ts";
import { TENDERMINT_TYPE } from "./host/identifiers.ts";
import { SUPPORTED_VERSIONS } from "./connection/connection-store.ts";
import { formatHeight, ZERO_HEIGHT } from "./host/height.ts";
import * as keys from "./host/keys.ts";

const ANY = genesisPart<Any>("google.protobuf.Any", Any);
const CONNECTION_END = genesisPart<wireConnection.IdentifiedConnection>(
  "ibc.core.connection.v1.IdentifiedConnection",
  wireConnection.IdentifiedConnection,
);

const LEAF: ProofSpec["leafSpec"] = {
  hash: HashOp.SHA256,
  prehashKey: HashOp.NO_HASH,
  prehashValue: HashOp.SHA256,
  length: LengthOp.VAR_PROTO,
  prefix: Uint8Array.of(0),
};

/** Proof specs of an SDK chain: the first is for a store's IAVL tree, and the second is for the simple Merkle tree over all store roots. */
const SDK_PROOF_SPECS: readonly ProofSpec[] = [
  specOf({ childSize: 33, minPrefixLength: 4, maxPrefixLength: 12 }),
  specOf({ childSize: 32, minPrefixLength: 1, maxPrefixLength: 1 }),
];

function specOf(inner: {
  readonly childSize: number;
  readonly minPrefixLength: number;
  readonly maxPrefixLength: number;
}): ProofSpec {
  return {
    leafSpec: LEAF,
    innerSpec: { childOrder: [0, 1], ...inner, emptyChild: new Uint8Array(0), hash: HashOp.SHA256 },
    maxDepth: 0,
    minDepth: 0,
    prehashKeyBeforeComparison: false,
  };
}

export interface ClientSettings {
  readonly trustingPeriodNs: bigint;
  readonly unbondingPeriodNs: bigint;
  readonly maxClockDriftNs: bigint;
}

/** Builds the client state for an SDK chain at a given height, with trust level 1/3. */
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

/** The header fields that a client stores. */
export type TrustedHeader = Pick<
  SignedHeader["header"],
  "chainId" | "height" | "timeNs" | "appHash" | "nextValidatorsHash"
>;

export interface OpenConnectionOptions {
  /** The remote chain's first trusted header, which is not verified. */
  readonly remote: { readonly header: TrustedHeader };
  readonly settings: ClientSettings;
  /** Settings for additional clients (`07-tendermint-1`, and so on) without connections. Default: none. */
  readonly moreClients?: readonly ClientSettings[];
  readonly ownChainId: string;
  /** This chain's genesis time, in nanoseconds since the Unix epoch. */
  readonly ownTimeNs: bigint;
}

/**
 * Builds a module genesis with a client, `07-tendermint-0`, and one open connection over it, `connection-0`. The counterparty's
 * client and connection must have the same ids. This function replaces the handshake, so the counterparty's genesis must also be
 * built with this function.
 */
export function openConnectionGenesis(options: OpenConnectionOptions): JsonObject {
  const clientId = `${TENDERMINT_TYPE}-0`;
  const { header } = options.remote;
  const all = [options.settings, ...(options.moreClients ?? [])];
  const clients = all.map((settings, index) => ({ id: `${TENDERMINT_TYPE}-${index}`, settings }));
  const height: Height = { revisionNumber: revisionOfChainId(header.chainId), revisionHeight: header.height };
  const consensusState = packConsensusState({
    timeNs: header.timeNs,
    root: header.appHash,
    nextValidatorsHash: header.nextValidatorsHash,
  });
  return {
    client_genesis: {
      clients: clients.map(({ id, settings }) => {
        const state = tendermintClientState(header.chainId, height, settings);
        return { client_id: id, client_state: ANY.print(packClientState({ type: TENDERMINT_TYPE, state })) };
      }),
      clients_consensus: clients.map(({ id }) => ({
        client_id: id,
        consensus_states: [{ height: heightJson(height), consensus_state: ANY.print(consensusState) }],
      })),
      clients_metadata: clients.map(({ id }) => ({
        client_id: id,
        client_metadata: metadata(height, options),
      })),
      next_client_sequence: clients.length.toString(),
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
    entry(keys.processedTimeKey(height), uint64BigEndian(ownTimeNs)),
    entry(keys.processedHeightKey(height), utf8(own)),
    entry(keys.iterationKey(height), keys.consensusStateKey(height)),
  ];
}

function entry(key: Uint8Array, value: Uint8Array): JsonObject {
  return { key: toBase64(key), value: toBase64(value) };
}

function openConnection(id: string, clientId: string): JsonValue {
  const prefix = { keyPrefix: utf8(keys.STORE_NAME) };
  return CONNECTION_END.print({
    id,
    clientId,
    versions: [...SUPPORTED_VERSIONS],
    state: wireConnection.State.STATE_OPEN,
    counterparty: { clientId, connectionId: id, prefix },
    delayPeriod: 0n,
  });
}

function heightJson(height: Height): JsonObject {
  return { revision_number: `${height.revisionNumber}`, revision_height: `${height.revisionHeight}` };
}
