import {
  concat,
  fromUtf8,
  readUint64BigEndian,
  uint64BigEndian,
  utf8,
} from "../../../../../platform/base/bytes.ts";
import { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { Context } from "../../../runtime/context.ts";
import type { KVStore } from "../../../store/kv-store.ts";
import { selfHeight, formatHeight, parseHeight } from "../host/height.ts";
import {
  CLIENT_STATE,
  clientPrefix,
  consensusStateKey,
  heightOfIterationKey,
  iterationKey,
  iterationRange,
  processedHeightKey,
  processedTimeKey,
  STORE_NAME,
} from "../host/keys.ts";
import { encodeClientState, type StoredClient, unpackClientState } from "./client-state.ts";
import { encodeConsensusState, unpackConsensusState, type ConsensusState } from "./consensus-state.ts";

/** Block time and own height at which a consensus state was stored. */
interface Processed {
  readonly timeNs: bigint;
  readonly height: Height;
}

/**
 * The entries of one client in the IBC store. Each consensus state has three metadata entries (processed time, processed
 * height, iteration key), which are written and deleted together with it.
 */
export interface ClientStore {
  readonly clientState: () => StoredClient | undefined;
  readonly setClientState: (client: StoredClient) => void;
  readonly consensusState: (height: Height) => ConsensusState | undefined;
  /** Stores a consensus state. `processed` is the present block by default. */
  readonly setConsensusState: (height: Height, state: ConsensusState, processed?: Processed) => void;
  readonly processed: (height: Height) => Processed | undefined;
  readonly deleteConsensusState: (height: Height) => void;
  /** Returns the lowest height that has a consensus state. */
  readonly earliestHeight: () => Height | undefined;
  /** Returns the consensus state of the greatest height below this one. */
  readonly previousConsensusState: (height: Height) => ConsensusState | undefined;
  /** Returns the consensus state of the lowest height above this one. */
  readonly nextConsensusState: (height: Height) => ConsensusState | undefined;
}

/** Opens the store of a client. The client need not exist. */
export function openClientStore(context: Context, clientId: string): ClientStore {
  const store = context.store(STORE_NAME);
  const prefix = clientPrefix(clientId);
  const path = (key: Uint8Array): Uint8Array => concat(prefix, key);
  const stateAt = (key: Uint8Array): ConsensusState | undefined => readConsensusState(store, path(key));
  return {
    clientState: () => readClientState(store, path(CLIENT_STATE)),
    setClientState: (client) => store.set(path(CLIENT_STATE), encodeClientState(client)),
    consensusState: (height) => stateAt(consensusStateKey(height)),
    setConsensusState: (height, state, processed) => {
      store.set(path(consensusStateKey(height)), encodeConsensusState(state));
      const { timeNs, height: own } = processed ?? { timeNs: context.timeNs, height: selfHeight(context) };
      store.set(path(processedTimeKey(height)), uint64BigEndian(timeNs));
      store.set(path(processedHeightKey(height)), utf8(formatHeight(own)));
      store.set(path(iterationKey(height)), consensusStateKey(height));
    },
    processed: (height) => readProcessed(store, path, height),
    deleteConsensusState: (height) => {
      store.delete(path(consensusStateKey(height)));
      store.delete(path(processedTimeKey(height)));
      store.delete(path(processedHeightKey(height)));
      store.delete(path(iterationKey(height)));
    },
    earliestHeight: () => {
      const key = firstOf(store.iterate(...fullRange(path, {})))?.[0];
      return key === undefined ? undefined : heightOfIterationKey(key.subarray(prefix.length));
    },
    previousConsensusState: (height) => {
      const entry = firstOf(store.iterateReverse(...fullRange(path, { below: height })));
      return entry === undefined ? undefined : stateAt(entry[1]);
    },
    nextConsensusState: (height) => {
      // The range includes its start, so that it must begin one height above.
      const above: Height = { ...height, revisionHeight: height.revisionHeight + 1n };
      const entry = firstOf(store.iterate(...fullRange(path, { from: above })));
      return entry === undefined ? undefined : stateAt(entry[1]);
    },
  };
}

function fullRange(
  path: (key: Uint8Array) => Uint8Array,
  bounds: { readonly from?: Height; readonly below?: Height },
): [start: Uint8Array, end: Uint8Array] {
  const { start, end } = iterationRange(bounds);
  return [path(start), path(end)];
}

function firstOf<T>(entries: IterableIterator<T>): T | undefined {
  for (const entry of entries) return entry;
  return undefined;
}

function readClientState(store: KVStore, key: Uint8Array): StoredClient | undefined {
  const bytes = store.get(key);
  return bytes === undefined ? undefined : unpackClientState(Any.decode(bytes));
}

function readConsensusState(store: KVStore, key: Uint8Array): ConsensusState | undefined {
  const bytes = store.get(key);
  return bytes === undefined ? undefined : unpackConsensusState(Any.decode(bytes));
}

function readProcessed(
  store: KVStore,
  path: (key: Uint8Array) => Uint8Array,
  height: Height,
): Processed | undefined {
  const time = store.get(path(processedTimeKey(height)));
  const own = store.get(path(processedHeightKey(height)));
  const ownHeight = own === undefined ? undefined : parseHeight(fromUtf8(own));
  if (time === undefined || ownHeight === undefined) return undefined;
  return { timeNs: readUint64BigEndian(time), height: ownHeight };
}
