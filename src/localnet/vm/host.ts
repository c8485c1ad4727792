import type { Result } from "../../platform/base/errors.ts";

/** Entry points that a chain calls, and the number of their arguments: 3 (env, info and message) or 2 (env and message). */
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

/** A value from the host, and the VM gas that was used outside the VM to produce this value. The contract pays for this gas. */
export interface Metered<T> {
  readonly value: T;
  readonly gas: bigint;
}

export type StorageEntry = readonly [key: Uint8Array, value: Uint8Array];

/** Remaining gas and native stack for a contract's query. */
export interface QueryLimits {
  /** VM gas that the query may still use. */
  readonly gas: bigint;
  /** Native stack bytes available for calls to other contracts on the same stack. */
  readonly stack: number;
}

/**
 * Requests from the VM to the chain during a call. All methods are synchronous and depend only on the chain's state. Methods throw
 * `HostError` for failures that end the call. Any exception except `HostError` is a bug and propagates through the VM.
 */
export interface Host {
  get(key: Uint8Array): Metered<Uint8Array | undefined>;
  /** Stores a value and returns the VM gas used. */
  set(key: Uint8Array, value: Uint8Array): bigint;
  /** Removes a key and returns the VM gas used. */
  remove(key: Uint8Array): bigint;
  /** Opens an iterator over keys from `start` to `end` (exclusive). Returns the iterator's id, which counts from 0 in each call. */
  scan(start: Uint8Array | undefined, end: Uint8Array | undefined, isDescending: boolean): Metered<number>;
  /** Advances an iterator and returns the next entry, or undefined after the last entry. */
  next(iterator: number): Metered<StorageEntry | undefined>;
  /** Returns the encoded response to an encoded query, in the format that contracts receive. */
  query(request: Uint8Array, limits: QueryLimits): Metered<Uint8Array>;
  /** Returns the reason why a string is not an address, or undefined if the string is an address. */
  validateAddress(text: string): string | undefined;
  canonicalizeAddress(text: string): Result<Uint8Array, string>;
  humanizeAddress(canonical: Uint8Array): Result<string, string>;
}

/** Recorded replies from one host method, in call order. */
class Replies<T> {
  private list: T[] | undefined;
  private at = 0;

  /** Returns the next recorded reply, or undefined if the caller must ask the host. */
  next(): T | undefined {
    return this.list?.[this.at++];
  }

  add(reply: T): T {
    this.list ??= [];
    this.at = this.list.push(reply);
    return reply;
  }

  rewind(): void {
    this.at = 0;
  }
}

/** Records a host's replies and repeats them after `rewind`, so that a second run does not access the chain again. */
export class RecordedHost implements Host {
  private readonly host: Host;
  private readonly gets = new Replies<Metered<Uint8Array | undefined>>();
  private readonly sets = new Replies<bigint>();
  private readonly removals = new Replies<bigint>();
  private readonly scans = new Replies<Metered<number>>();
  private readonly entries = new Replies<Metered<StorageEntry | undefined>>();
  private readonly queries = new Replies<Metered<Uint8Array>>();

  constructor(host: Host) {
    this.host = host;
  }

  rewind(): void {
    const { gets, sets, removals, scans, entries, queries } = this;
    for (const replies of [gets, sets, removals, scans, entries, queries]) replies.rewind();
  }

  get(key: Uint8Array): Metered<Uint8Array | undefined> {
    return this.gets.next() ?? this.gets.add(this.host.get(key));
  }

  set(key: Uint8Array, value: Uint8Array): bigint {
    return this.sets.next() ?? this.sets.add(this.host.set(key, value));
  }

  remove(key: Uint8Array): bigint {
    return this.removals.next() ?? this.removals.add(this.host.remove(key));
  }

  scan(...range: Parameters<Host["scan"]>): Metered<number> {
    return this.scans.next() ?? this.scans.add(this.host.scan(...range));
  }

  next(iterator: number): Metered<StorageEntry | undefined> {
    return this.entries.next() ?? this.entries.add(this.host.next(iterator));
  }

  query(request: Uint8Array, limits: QueryLimits): Metered<Uint8Array> {
    return this.queries.next() ?? this.queries.add(this.host.query(request, limits));
  }

  validateAddress(text: string): string | undefined {
    return this.host.validateAddress(text);
  }

  canonicalizeAddress(text: string): Result<Uint8Array, string> {
    return this.host.canonicalizeAddress(text);
  }

  humanizeAddress(canonical: Uint8Array): Result<string, string> {
    return this.host.humanizeAddress(canonical);
  }
}
