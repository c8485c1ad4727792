import { nsToTimestamp, timestampToNs } from "../../../../../cosmos/comet/timestamp.ts";
import { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Duration } from "../../../../../cosmos/proto/gen/google/protobuf/duration.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { ClientState as LocalhostState } from "../../../../../cosmos/proto/gen/ibc/lightclients/localhost/v2/localhost.ts";
import {
  ClientState as TendermintState,
  ConsensusState as WireConsensusState,
} from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/registry.ts";
import {
  concat,
  equalBytes,
  fromUtf8,
  readUint64BigEndian,
  uint64BigEndian,
  utf8,
} from "../../../../../platform/base/bytes.ts";
import { NS_PER_SECOND } from "../../../../../platform/base/time.ts";
import type { Context } from "../../../runtime/context.ts";
import { type ModuleError, unregisteredError } from "../../../runtime/errors.ts";
import * as ibcErrors from "../host/errors.ts";
import { formatHeight, isZeroHeight, parseHeight, selfHeight, ZERO_HEIGHT } from "../host/height.ts";
import { LOCALHOST, LOCALHOST_URL, TENDERMINT_TYPE } from "../host/identifiers.ts";
import * as keys from "../host/keys.ts";
import { isAllowedClient } from "../host/params.ts";

export type StoredClient =
  | { readonly type: typeof TENDERMINT_TYPE; readonly state: TendermintState }
  | { readonly type: typeof LOCALHOST; readonly state: LocalhostState };

/** Decodes a client state from its Any. Throws `ModuleError` if the Any is missing, cannot be decoded, or has an unsupported type. */
export function unpackClientState(any: Any | undefined): StoredClient {
  if (any === undefined) throw ibcErrors.ErrUnpackAny("protobuf Any message cannot be nil");
  switch (any.typeUrl) {
    case TYPE_URL.tendermintClientState:
      return {
        type: TENDERMINT_TYPE,
        state: withNonNullableFields(ibcErrors.decodeUntrusted(() => TendermintState.decode(any.value))),
      };
    case LOCALHOST_URL:
      return { type: LOCALHOST, state: ibcErrors.decodeUntrusted(() => LocalhostState.decode(any.value)) };
    default:
      throw unregisteredError(
        `no concrete type registered for type URL ${any.typeUrl} against interface *exported.ClientState`,
      );
  }
}

/** Packs a client state into an `Any`, the format in which it is stored and proven to counterparties. */
export function packClientState(client: StoredClient): Any {
  if (client.type === LOCALHOST) {
    return { typeUrl: LOCALHOST_URL, value: LocalhostState.encode(client.state).finish() };
  }
  return { typeUrl: TYPE_URL.tendermintClientState, value: TendermintState.encode(client.state).finish() };
}

/** Returns the encoded bytes of {@link packClientState}. */
export function encodeClientState(client: StoredClient): Uint8Array {
  return Any.encode(packClientState(client)).finish();
}

/** Returns a client's latest height, or the zero height if the field is missing. */
export function latestHeightOf(client: StoredClient): Height {
  return client.state.latestHeight ?? ZERO_HEIGHT;
}

/**
 * Replaces missing messages by empty messages, because Go declares these fields non-nullable and encodes them even if they are
 * empty. Otherwise, the stored bytes would differ from a real chain's bytes.
 */
function withNonNullableFields(state: TendermintState): TendermintState {
  return {
    ...state,
    trustLevel: state.trustLevel ?? { numerator: 0n, denominator: 0n },
    trustingPeriod: state.trustingPeriod ?? { seconds: 0n, nanos: 0 },
    unbondingPeriod: state.unbondingPeriod ?? { seconds: 0n, nanos: 0 },
    maxClockDrift: state.maxClockDrift ?? { seconds: 0n, nanos: 0 },
    frozenHeight: state.frozenHeight ?? ZERO_HEIGHT,
    latestHeight: state.latestHeight ?? ZERO_HEIGHT,
  };
}

/** A 07-tendermint client's consensus state, i.e. the parts of a verified header that the client stores. */
export interface ConsensusState {
  /** The header's time, in nanoseconds since the Unix epoch. */
  readonly timeNs: bigint;
  /** The header's app hash, against which proofs are verified. */
  readonly root: Uint8Array;
  readonly nextValidatorsHash: Uint8Array;
}

/**
 * Decodes a Tendermint consensus state from its Any. Throws `ModuleError` if the Any is missing, cannot be decoded, or has another
 * type.
 */
export function unpackConsensusState(any: Any | undefined): ConsensusState {
  if (any === undefined) throw ibcErrors.ErrUnpackAny("protobuf Any message cannot be nil");
  if (any.typeUrl !== TYPE_URL.tendermintConsensusState) {
    throw unregisteredError(
      `no concrete type registered for type URL ${any.typeUrl} against interface *exported.ConsensusState`,
    );
  }
  return ibcErrors.decodeUntrusted(() => {
    const state = WireConsensusState.decode(any.value);
    return {
      timeNs: timestampToNs(state.timestamp),
      root: state.root?.hash ?? new Uint8Array(0),
      nextValidatorsHash: state.nextValidatorsHash,
    };
  });
}

/** Packs a consensus state into an `Any`, the format in which it is stored and proven to counterparties. */
export function packConsensusState(state: ConsensusState): Any {
  const value = WireConsensusState.encode({
    timestamp: nsToTimestamp(state.timeNs),
    root: { hash: state.root },
    nextValidatorsHash: state.nextValidatorsHash,
  }).finish();
  return { typeUrl: TYPE_URL.tendermintConsensusState, value };
}

/** Returns the encoded bytes of {@link packConsensusState}. */
export function encodeConsensusState(state: ConsensusState): Uint8Array {
  return Any.encode(packConsensusState(state)).finish();
}

/** Returns whether two consensus states are equal. Two different states at the same height are misbehaviour. */
export function isSameState(a: ConsensusState, b: ConsensusState): boolean {
  return (
    a.timeNs === b.timeNs &&
    equalBytes(a.root, b.root) &&
    equalBytes(a.nextValidatorsHash, b.nextValidatorsHash)
  );
}

/** Time and height of this chain's block in which a consensus state was stored. */
interface Processed {
  readonly timeNs: bigint;
  readonly height: Height;
}

/**
 * One client's entries in the IBC store. Each consensus state has three metadata entries (processed time, processed height and
 * iteration key), which are written and deleted with the state.
 */
export interface ClientStore {
  readonly clientState: () => StoredClient | undefined;
  readonly setClientState: (client: StoredClient) => void;
  readonly consensusState: (height: Height) => ConsensusState | undefined;
  /** Stores a consensus state and its metadata. By default, `processed` is the current block's time and height. */
  readonly setConsensusState: (height: Height, state: ConsensusState, processed?: Processed) => void;
  readonly processed: (height: Height) => Processed | undefined;
  readonly deleteConsensusState: (height: Height) => void;
  /** Returns the lowest height with a consensus state. */
  readonly earliestHeight: () => Height | undefined;
  /** Returns the consensus state at the highest stored height below `height`. */
  readonly previousConsensusState: (height: Height) => ConsensusState | undefined;
  /** Returns the consensus state at the lowest stored height above `height`. */
  readonly nextConsensusState: (height: Height) => ConsensusState | undefined;
}

/** Opens a client's store, even if the client does not exist. */
export function openClientStore(context: Context, clientId: string): ClientStore {
  const store = context.store(keys.STORE_NAME);
  const prefix = keys.clientPrefix(clientId);
  const path = (key: Uint8Array): Uint8Array => concat(prefix, key);
  const range = (bounds: keys.HeightBounds) => keys.iterationRange(bounds).map(path);
  const anyAt = (key: Uint8Array): Any | undefined => {
    const bytes = store.get(path(key));
    return bytes && Any.decode(bytes);
  };
  const stateAt = (key: Uint8Array): ConsensusState | undefined => {
    const any = anyAt(key);
    return any && unpackConsensusState(any);
  };
  return {
    clientState: () => {
      const any = anyAt(keys.CLIENT_STATE);
      return any && unpackClientState(any);
    },
    setClientState: (client) => store.set(path(keys.CLIENT_STATE), encodeClientState(client)),
    consensusState: (height) => stateAt(keys.consensusStateKey(height)),
    setConsensusState: (height, state, processed) => {
      store.set(path(keys.consensusStateKey(height)), encodeConsensusState(state));
      const { timeNs, height: own } = processed ?? { timeNs: context.timeNs, height: selfHeight(context) };
      store.set(path(keys.processedTimeKey(height)), uint64BigEndian(timeNs));
      store.set(path(keys.processedHeightKey(height)), utf8(formatHeight(own)));
      store.set(path(keys.iterationKey(height)), keys.consensusStateKey(height));
    },
    processed: (height) => {
      const time = store.get(path(keys.processedTimeKey(height)));
      const own = store.get(path(keys.processedHeightKey(height)));
      const ownHeight = own === undefined ? undefined : parseHeight(fromUtf8(own));
      if (time === undefined || ownHeight === undefined) return undefined;
      return { timeNs: readUint64BigEndian(time), height: ownHeight };
    },
    deleteConsensusState: (height) => {
      store.delete(path(keys.consensusStateKey(height)));
      store.delete(path(keys.processedTimeKey(height)));
      store.delete(path(keys.processedHeightKey(height)));
      store.delete(path(keys.iterationKey(height)));
    },
    earliestHeight: () => {
      const [entry] = store.iterate(...range({}));
      return entry && keys.heightOfIterationKey(entry[0].subarray(prefix.length));
    },
    previousConsensusState: (height) => {
      const [entry] = store.iterateReverse(...range({ below: height }));
      return entry && stateAt(entry[1]);
    },
    nextConsensusState: (height) => {
      // Start at the next height, because the range includes its start.
      const above: Height = { ...height, revisionHeight: height.revisionHeight + 1n };
      const [entry] = store.iterate(...range({ from: above }));
      return entry && stateAt(entry[1]);
    },
  };
}

/** A client's status. "Unauthorized" means that the params do not allow the client's type. */
export type ClientStatus = "Active" | "Expired" | "Frozen" | "Unauthorized";

/** Returns a client's status at this block. As in ibc-go, "Frozen" takes precedence over "Expired". */
export function statusOf(context: Context, client: StoredClient, store: ClientStore): ClientStatus {
  if (!isAllowedClient(context, client.type)) return "Unauthorized";
  if (client.type === LOCALHOST) return "Active";
  if (!isZeroHeight(client.state.frozenHeight ?? ZERO_HEIGHT)) return "Frozen";
  const latest = store.consensusState(client.state.latestHeight ?? ZERO_HEIGHT);
  // As in ibc-go, a client that lacks the consensus state at its latest height has expired.
  if (latest === undefined) return "Expired";
  return isExpired(latest, durationNs(client.state.trustingPeriod), context.timeNs) ? "Expired" : "Active";
}

/** Returns whether a consensus state has expired at `nowNs`, i.e. whether its age has reached the trusting period. */
export function isExpired(state: ConsensusState, trustingPeriodNs: bigint, nowNs: bigint): boolean {
  return state.timeNs + trustingPeriodNs <= nowNs;
}

/** Converts a `google.protobuf.Duration` to nanoseconds. A missing duration becomes 0. */
export function durationNs(duration: Duration | undefined): bigint {
  if (duration === undefined) return 0n;
  return duration.seconds * NS_PER_SECOND + BigInt(duration.nanos);
}

/** An existing client and its store. */
export interface OpenClient {
  readonly client: StoredClient;
  readonly store: ClientStore;
}

/** Opens a client. Throws client/4 if the client does not exist. By default, the error message is the client's id. */
export function openClient(
  context: Context,
  clientId: string,
  notFound: () => ModuleError = () => ibcErrors.ErrClientNotFound(clientId),
): OpenClient {
  const store = openClientStore(context, clientId);
  const client = store.clientState();
  if (client === undefined) throw notFound();
  return { client, store };
}

/** Throws client/29, with the client's status in the message, unless the client is active. */
export function requireActive(
  context: Context,
  { client, store }: OpenClient,
  words: (status: ClientStatus) => string,
): void {
  const status = statusOf(context, client, store);
  if (status !== "Active") throw ibcErrors.ErrClientNotActive(words(status));
}

/**
 * Returns the counterparty's time at a height, in nanoseconds. Throws client/4 for an unknown client, and client/7 if the client
 * stores no consensus state at the height.
 */
export function timestampAt(context: Context, clientId: string, height: Height): bigint {
  const { client, store } = openClient(context, clientId);
  if (client.type === LOCALHOST) return context.timeNs;
  const state = store.consensusState(height);
  if (state === undefined) throw ibcErrors.ErrConsensusStateNotFound(`height (${formatHeight(height)})`);
  return state.timeNs;
}
