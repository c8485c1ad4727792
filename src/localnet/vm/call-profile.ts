import type { ByteWriter } from "./byte-writer.ts";
import { demangle } from "./demangle.ts";
import type { GasRecorder } from "./gas-recorder.ts";
import { I32, OP } from "./operators.ts";

/** Node's `WebAssembly`, which the types of this project do not include. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: { readonly enter: () => void; readonly leave: () => void } };
};

/** The two hooks of a module that is compiled for a profile: each function calls one when it begins and one when it ends. */
export interface Hooks {
  readonly enter: () => void;
  readonly leave: () => void;
}

/**
 * A table takes functions of WebAssembly only, so that the hooks pass through this module. An import in the contract itself would
 * change the indices of all functions.
 *
 * ```wat
 * (module
 *   (import "" "enter" (func (param i32))) (import "" "leave" (func))
 *   (export "enter" (func 0)) (export "leave" (func 1)))
 * ```
 */
const BRIDGE = Uint8Array.of(
  0x00,
  0x61,
  0x73,
  0x6d,
  0x01,
  0x00,
  0x00,
  0x00,
  0x01,
  0x08,
  0x02,
  0x60,
  0x01,
  0x7f,
  0x00,
  0x60,
  0x00,
  0x00,
  0x02,
  0x13,
  0x02,
  0x00,
  0x05,
  0x65,
  0x6e,
  0x74,
  0x65,
  0x72,
  0x00,
  0x00,
  0x00,
  0x05,
  0x6c,
  0x65,
  0x61,
  0x76,
  0x65,
  0x00,
  0x01,
  0x07,
  0x11,
  0x02,
  0x05,
  0x65,
  0x6e,
  0x74,
  0x65,
  0x72,
  0x00,
  0x00,
  0x05,
  0x6c,
  0x65,
  0x61,
  0x76,
  0x65,
  0x00,
  0x01,
);

/** Creates the hooks. They report to the call that `current` returns. */
export function createHooks(current: () => CallProfile | undefined): Hooks {
  const imports = {
    "": {
      enter: (index: number) => current()?.enter(index),
      leave: () => current()?.leave(),
    },
  };
  return new WebAssembly.Instance(new WebAssembly.Module(BRIDGE), imports).exports;
}

/** Places of the hooks in their table. */
const ENTER = 0;
const LEAVE = 1;

/** Types of the hooks, in the encoding of a type section. */
export const HOOK_TYPES = [Uint8Array.of(0x60, 1, I32, 0), Uint8Array.of(0x60, 0, 0)] as const;
/** A table of two functions, in the encoding of a table section. */
export const HOOK_TABLE = Uint8Array.of(0x70, 0x01, 2, 2);

/** Where a rewritten module has the hooks: index of their table, and of the first of their two types. */
export interface HookPlaces {
  readonly table: number;
  readonly type: number;
}

/** Appends a call of the hook for the begin of a function. */
export function writeEnter(writer: ByteWriter, { table, type }: HookPlaces, functionIndex: number): void {
  writer.u8(OP.i32Const);
  writer.varSigned(functionIndex);
  writeHookCall(writer, ENTER, { table, type });
}

/** Appends a call of the hook for the end of a function. */
export function writeLeave(writer: ByteWriter, { table, type }: HookPlaces): void {
  writeHookCall(writer, LEAVE, { table, type: type + 1 });
}

function writeHookCall(writer: ByteWriter, hook: number, { table, type }: HookPlaces): void {
  writer.u8(OP.i32Const);
  writer.varSigned(hook);
  writer.u8(OP.callIndirect);
  writer.varU32(type);
  writer.varU32(table);
}

/** Puts the hooks into the table of an instance. */
export function installHooks(
  table: { set(index: number, value: unknown): void } | undefined,
  { enter, leave }: Hooks,
): void {
  table?.set(ENTER, enter);
  table?.set(LEAVE, leave);
}

/**
 * Most calls of functions in one profile: a few seconds. A transaction that uses all gas of a block may call a thousand times as many
 * without doing anything.
 */
const MAX_CALLS = 5_000_000;

/** Thrown when a transaction calls more functions than a profile may have. */
export class ProfileTooLargeError extends Error {
  constructor() {
    super(`more than ${MAX_CALLS} calls of functions: this is too much for a profile`);
  }
}

/** What the gas of a running call is read from. */
interface GasSource {
  /** VM gas used outside of the VM. */
  readonly external: bigint;
  gasLeft(): bigint;
}

/** The profile of one call of a contract. It adds the gas since the last event to the function that was running. */
export class CallProfile {
  private readonly recorder: GasRecorder;
  private readonly execution: GasSource;
  private readonly functionName: (index: number) => string | undefined;
  private readonly limit: bigint;
  /** Functions by index, and host functions by name; the innermost last. */
  private readonly running: (number | string)[] = [];
  private readonly depth: number;
  /** VM gas that was used within the VM at the last event. */
  private used = 0n;
  private failedIn: readonly (number | string)[] | undefined;

  constructor(
    recorder: GasRecorder,
    execution: GasSource,
    module: { readonly limit: bigint; readonly functionName: (index: number) => string | undefined },
  ) {
    this.recorder = recorder;
    this.execution = execution;
    this.functionName = module.functionName;
    this.limit = module.limit;
    this.depth = recorder.depth();
  }

  enter(index: number): void {
    this.recorder.calls += 1;
    if (this.recorder.calls > MAX_CALLS) throw new ProfileTooLargeError();
    this.flush();
    this.running.push(index);
    this.recorder.enterMerged("function", index, () => this.nameOf(index));
  }

  leave(): void {
    this.flush();
    this.running.pop();
    this.recorder.leaveTo(this.recorder.depth() - 1);
  }

  /** Runs a host function in a place of its own. */
  host<T>(name: string, run: () => T): T {
    const depth = this.recorder.depth();
    const { length } = this.running;
    this.flush();
    this.running.push(name);
    this.recorder.enterMerged("host", name, () => name);
    try {
      return run();
    } catch (thrown) {
      this.failedIn ??= [...this.running];
      throw thrown;
    } finally {
      this.flush();
      this.running.length = length;
      this.recorder.leaveTo(depth);
    }
  }

  /** Ends the profile. `error` is the text of the error that ended the call, if it failed. */
  end(error: string | undefined): void {
    this.flush();
    this.recorder.leaveTo(this.depth);
    if (error === undefined) return;
    const stack = (this.failedIn ?? this.running).map((one) => this.nameOf(one)).toReversed();
    this.recorder.fail({ error, stack });
  }

  private flush(): void {
    const { execution } = this;
    const used = this.limit - execution.gasLeft() - execution.external;
    this.recorder.add(used - this.used);
    this.used = used;
  }

  private nameOf(one: number | string): string {
    if (typeof one === "string") return one;
    const name = this.functionName(one);
    return name === undefined ? `func[${one}]` : demangle(name);
  }
}
