import { fromHex, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { bad, good } from "../../../src/platform/base/errors.ts";
import { HostError } from "../../../src/localnet/vm/errors.ts";
import { recordCalls } from "../../../src/workbench/profile/gas-recorder.ts";
import type { GasRecorder } from "../../../src/workbench/profile/gas-recorder.ts";
import { GAS_MULTIPLIER } from "../../../src/localnet/vm/gas.ts";
import type { EntryPoint, Host, Metered, QueryLimits, StorageEntry } from "../../../src/localnet/vm/host.ts";
import { type CallOutcome, createVm, type Vm, type VmOptions } from "../../../src/localnet/vm/vm.ts";

const NOTHING = new Uint8Array();
/** Bytes before each key in the chain's store: a prefix and the contract's address. */
const KEY_PREFIX = 33;

/** A contract's storage in memory, with the deployed chain's gas. Addresses begin with `addr`. */
export class MemoryHost implements Host {
  readonly entries: Map<string, Uint8Array>;
  onQuery: (request: Uint8Array, limits: QueryLimits) => Uint8Array = () => utf8("{}");
  private readonly iterators: StorageEntry[][] = [];

  constructor(entries = new Map<string, Uint8Array>()) {
    this.entries = entries;
  }

  private static gas(flat: number, perByte: number, key: Uint8Array, value: Uint8Array = NOTHING): bigint {
    return BigInt(flat + perByte * (KEY_PREFIX + key.length + value.length)) * GAS_MULTIPLIER;
  }

  get(key: Uint8Array): Metered<Uint8Array | undefined> {
    const value = this.entries.get(toHex(key));
    return { value, gas: MemoryHost.gas(1000, 3, key, value) };
  }

  set(key: Uint8Array, value: Uint8Array): bigint {
    if (key.length === 0) throw new HostError({ kind: "panic" });
    this.entries.set(toHex(key), value);
    return MemoryHost.gas(2000, 30, key, value);
  }

  remove(key: Uint8Array): bigint {
    this.entries.delete(toHex(key));
    return 1000n * GAS_MULTIPLIER;
  }

  scan(start: Uint8Array | undefined, end: Uint8Array | undefined, isDescending: boolean): Metered<number> {
    const [from, to] = [toHex(start ?? NOTHING), end === undefined ? "g" : toHex(end)];
    const keys = [...this.entries.keys()].filter((key) => key >= from && key < to).toSorted();
    if (isDescending) keys.reverse();
    const entries = keys.map((key): StorageEntry => [fromHex(key), this.entries.get(key) ?? NOTHING]);
    this.iterators.push(entries);
    const [first] = entries;
    const gas = first === undefined ? 30n * GAS_MULTIPLIER : MemoryHost.gas(30, 3, ...first);
    return { value: this.iterators.length - 1, gas };
  }

  next(iterator: number): Metered<StorageEntry | undefined> {
    const entries = this.iterators[iterator];
    if (entries === undefined) throw new HostError({ kind: "no-iterator", id: iterator });
    const value = entries.shift();
    return { value, gas: value === undefined ? 0n : MemoryHost.gas(30, 3, ...value) };
  }

  query(request: Uint8Array, limits: QueryLimits): Metered<Uint8Array> {
    return { value: this.onQuery(request, limits), gas: 0n };
  }

  validateAddress(text: string): string | undefined {
    return text.startsWith("addr") ? undefined : "no address";
  }

  canonicalizeAddress(text: string): ReturnType<Host["canonicalizeAddress"]> {
    return text.startsWith("addr") ? good(utf8(text.slice(4))) : bad("no address");
  }

  humanizeAddress(canonical: Uint8Array): ReturnType<Host["humanizeAddress"]> {
    return canonical.length === 0 ? bad("empty") : good(`addr${toHex(canonical)}`);
  }
}

export interface RunOptions extends VmOptions {
  readonly entryPoint?: EntryPoint;
  readonly gasLimit?: bigint;
  readonly host?: Host;
  readonly message?: Uint8Array;
  /** All arguments of the entry point, in place of empty ones and `message`. */
  readonly args?: readonly Uint8Array[];
  readonly stackLimit?: number;
  readonly vm?: Vm;
  readonly recorder?: GasRecorder;
  readonly interrupt?: () => void;
}

/** Calls a contract once with empty arguments but the message. */
export function runContract(code: Uint8Array, options: RunOptions = {}): CallOutcome {
  const {
    entryPoint = "execute",
    gasLimit = 10n ** 13n,
    host = new MemoryHost(),
    message = NOTHING,
  } = options;
  const before = entryPoint === "execute" || entryPoint === "instantiate" ? [NOTHING, NOTHING] : [NOTHING];
  return (options.vm ?? createVm(options)).call({
    checksum: "code",
    code: () => code,
    entryPoint,
    args: options.args ?? [...before, message],
    gasLimit,
    host,
    trace: options.recorder && recordCalls(options.recorder),
    interrupt: options.interrupt,
    ...(options.stackLimit !== undefined && { stackLimit: options.stackLimit }),
  });
}
