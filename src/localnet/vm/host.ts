import type { Result } from "../../platform/base/errors.ts";

/** Entry points that a chain calls, with their number of arguments: env, info and message; or env and message. */
export const ENTRY_POINTS = {
  instantiate: 3,
  execute: 3,
  migrate: 2,
  sudo: 2,
  reply: 2,
  query: 2,
  ibc_channel_open: 2,
  ibc_channel_connect: 2,
  ibc_channel_close: 2,
  ibc_packet_receive: 2,
  ibc_packet_ack: 2,
  ibc_packet_timeout: 2,
} as const;

export type EntryPoint = keyof typeof ENTRY_POINTS;

/** A value, and the VM gas used outside the VM to obtain it. This gas is deducted from what the contract may still use. */
export interface Metered<T> {
  readonly value: T;
  readonly gas: bigint;
}

/** An entry in a contract's storage. */
export type StorageEntry = readonly [key: Uint8Array, value: Uint8Array];

/** Limits on what a contract may still use when it queries the chain. */
export interface QueryLimits {
  /** VM gas. */
  readonly gas: bigint;
  /** Native stack bytes available for calls to other contracts on the same stack. */
  readonly stack: number;
}

/**
 * What the VM asks of the chain during one call. All methods are synchronous and depend only on the chain's state. They throw
 * `HostError` for failures that end the call; any other exception is a bug and passes through the VM.
 */
export interface Host {
  get(key: Uint8Array): Metered<Uint8Array | undefined>;
  /** Returns the VM gas used. */
  set(key: Uint8Array, value: Uint8Array): bigint;
  /** Returns the VM gas used. */
  remove(key: Uint8Array): bigint;
  /** Returns a new iterator over keys from `start` to `end` (exclusive). Contracts see its id; ids count from 0 in each call. */
  scan(start: Uint8Array | undefined, end: Uint8Array | undefined, isDescending: boolean): Metered<number>;
  /** Advances an iterator and returns the entry that it leaves, or undefined after the last entry. */
  next(iterator: number): Metered<StorageEntry | undefined>;
  /** Returns the encoded response to an encoded query, as the contract receives it. */
  query(request: Uint8Array, limits: QueryLimits): Metered<Uint8Array>;
  /** Returns why a text is not an address, in words for the contract; undefined if it is one. */
  validateAddress(text: string): string | undefined;
  canonicalizeAddress(text: string): Result<Uint8Array, string>;
  humanizeAddress(canonical: Uint8Array): Result<string, string>;
}

/**
 * Returns a host that records its replies. After `rewind`, it repeats them in order before it asks again, so a call that runs a
 * second time accesses the chain only once.
 */
export function recordHost(host: Host): { readonly host: Host; readonly rewind: () => void } {
  const rewinds: (() => void)[] = [];
  const record = <A extends readonly unknown[], T>(method: (...args: A) => T): ((...args: A) => T) => {
    const replies: T[] = [];
    let at = 0;
    rewinds.push(() => (at = 0));
    return (...args) => {
      const known = replies[at++];
      if (known !== undefined) return known;
      const reply = method(...args);
      replies.push(reply);
      return reply;
    };
  };
  const recorded: Host = {
    get: record((key) => host.get(key)),
    set: record((key, value) => host.set(key, value)),
    remove: record((key) => host.remove(key)),
    scan: record((start, end, isDescending) => host.scan(start, end, isDescending)),
    next: record((iterator) => host.next(iterator)),
    query: record((request, limits) => host.query(request, limits)),
    // These depend only on their arguments.
    validateAddress: (text) => host.validateAddress(text),
    canonicalizeAddress: (text) => host.canonicalizeAddress(text),
    humanizeAddress: (canonical) => host.humanizeAddress(canonical),
  };
  return { host: recorded, rewind: () => rewinds.forEach((rewind) => rewind()) };
}
