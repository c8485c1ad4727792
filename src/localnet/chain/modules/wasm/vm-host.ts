import { bad, errorText, good, type Result } from "../../../../platform/base/errors.ts";
import { HostError } from "../../../vm/errors.ts";
import type { Host, Metered, QueryLimits, StorageEntry } from "../../../vm/host.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { ChainPanic, isOutOfGas } from "../../runtime/errors.ts";
import type { Entry, KVStore } from "../../store/kv-store.ts";

const MAX_ADDRESS_BYTES = 255;

/** Maximum iterators per call, as in the deployed VM: they exist until it ends. Open iterators share the underlying data. */
export const MAX_ITERATORS = 32_768;

/** Everything that a binary contract can access during one call. */
interface HostScope {
  readonly context: Context;
  readonly bech32Prefix: string;
  /** The contract's own entries, with unprefixed keys. */
  readonly storage: KVStore;
  /** Runs an encoded query and returns the encoded result. Throws only panics. */
  readonly query: (request: Uint8Array, limits: QueryLimits) => Uint8Array;
  /**
   * VM gas that the contract pays per unit of gas used by an access. It is 1 in IBC entry points, where wasmd does not convert
   * the gas for accesses. The chain's meter is charged in full.
   */
  readonly accessScale: bigint;
}

/** An iterator opened by a call, and its current entry. */
interface OpenIterator {
  readonly entries: IterableIterator<Entry>;
  at: Entry | undefined;
}

/** Creates the virtual machine's interface to the chain for one call. Each access is charged to the chain's meter immediately. */
export function createVmHost({ context, bech32Prefix, storage, query, accessScale }: HostScope): Host {
  const iterators: OpenIterator[] = [];
  const metered = <T>(work: () => T): Metered<T> => {
    const before = context.gas.used();
    const value = orHostError(work);
    return { value, gas: (context.gas.used() - before) * accessScale };
  };
  return {
    get: (key) => metered(() => storage.get(key)),
    set: (key, value) => metered(() => setEntry(storage, key, value)).gas,
    remove: (key) => metered(() => storage.delete(key)).gas,
    scan: (start, end, isDescending) =>
      metered(() => {
        const entries = isDescending ? storage.iterateReverse(start, end) : storage.iterate(start, end);
        const iterator = { entries, at: nextOf(entries) };
        if (iterators.length >= MAX_ITERATORS)
          throw new HostError({ kind: "user", message: `Reached iterator limit (${MAX_ITERATORS})` });
        return iterators.push(iterator) - 1;
      }),
    next: (id) => {
      const iterator = iterators[id];
      if (iterator === undefined) throw new HostError({ kind: "no-iterator", id });
      return metered(() => leave(iterator));
    },
    query: (request, limits) => metered(() => query(request, limits)),
    validateAddress: (text) => addressProblem(bech32Prefix, text),
    canonicalizeAddress: (text) => orText(() => parseAddress(bech32Prefix, text)),
    humanizeAddress: (canonical) => {
      if (canonical.length === 0) return bad("addresses cannot be empty: unknown address");
      return canonical.length > MAX_ADDRESS_BYTES
        ? bad(`address max length is ${MAX_ADDRESS_BYTES}, got ${canonical.length}: unknown address`)
        : good(formatAddress(bech32Prefix, canonical));
    },
  };
}

/** Writes an entry. For an empty key, the SDK's store panics before it consumes gas. */
function setEntry(storage: KVStore, key: Uint8Array, value: Uint8Array): void {
  if (key.length === 0) throw new HostError({ kind: "panic" });
  storage.set(key, value);
}

function nextOf(entries: IterableIterator<Entry>): Entry | undefined {
  const step = entries.next();
  return step.done === true ? undefined : step.value;
}

function leave(iterator: OpenIterator): StorageEntry | undefined {
  const left = iterator.at;
  if (left !== undefined) iterator.at = nextOf(iterator.entries);
  return left;
}

function addressProblem(prefix: string, text: string): string | undefined {
  const parsed = orText(() => parseAddress(prefix, text));
  if (!parsed.ok) return parsed.error;
  return formatAddress(prefix, parsed.value) === text ? undefined : "address not normalized";
}

function orText<T>(parse: () => T): Result<T, string> {
  try {
    return good(parse());
  } catch (error) {
    return bad(errorText(error));
  }
}

/** Converts a panic of the chain to an error with which the virtual machine ends the call. */
function orHostError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ChainPanic)) throw error;
    throw new HostError({ kind: isOutOfGas(error) ? "out-of-gas" : "panic" });
  }
}
