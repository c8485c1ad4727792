import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VmError } from "../../../src/localnet/vm/errors.ts";
import type { Host } from "../../../src/localnet/vm/host.ts";
import { hostFunctionType } from "../../../src/localnet/vm/host-functions.ts";
import { I32, OP } from "../../../src/localnet/vm/operators.ts";
import type { HostFunctionName } from "../../../src/localnet/vm/static-checks.ts";
import { createVm } from "../../../src/localnet/vm/vm.ts";
import { ATTACK_NAMES, buildHostileContract } from "../../support/vm/hostile-contracts.ts";
import { MemoryHost, runContract } from "../../support/vm/memory-host.ts";
import { buildContract, call, get, i32, regionBytes, set } from "../../support/vm/wasm-builder.ts";

/** Node's `WebAssembly`, which is missing from this project's types. */
declare const WebAssembly: { Instance: new (module: object) => object };

const { Instance } = WebAssembly;
let created = 0;
beforeAll(() => {
  const construct = (target: typeof Instance, args: [object]): object => {
    created++;
    return new target(...args);
  };
  WebAssembly.Instance = new Proxy(Instance, { construct });
});
afterAll(() => {
  WebAssembly.Instance = Instance;
});

const GAS = 10n ** 10n;

/** A region of four bytes, which are a key, a value and a request. */
const KEY = 4096;
const [ROUND, COUNT, ITERATOR] = [3, 4, 5];
const IMPORTS: readonly HostFunctionName[] = [
  "db_write",
  "db_read",
  "db_scan",
  "db_next",
  "query_chain",
  "db_remove",
];
const callHost = (name: HostFunctionName): number[] => call(IMPORTS.indexOf(name));
/** Does `body` until a counter has reached `end`. */
const upTo = (end: number, counter: number, body: readonly number[]): number[] => [
  ...i32(0),
  ...set(counter),
  OP.loop,
  0x40,
  ...body,
  ...get(counter),
  ...i32(1),
  0x6a, // i32.add
  ...set(counter),
  ...get(counter),
  ...i32(end),
  0x49, // i32.lt_u
  OP.brIf,
  0,
  OP.end,
];
const EVERY_ACCESS = [
  [...i32(KEY), ...i32(KEY), ...callHost("db_write")],
  [...i32(KEY), ...callHost("db_read"), OP.drop],
  [...i32(0), ...i32(0), ...i32(1), ...callHost("db_scan"), ...set(ITERATOR)],
  [...get(ITERATOR), ...callHost("db_next"), OP.drop],
  [...i32(KEY), ...callHost("query_chain"), OP.drop],
  [...i32(KEY), ...callHost("db_remove")],
];
/** Computes for a while after each kind of access, so a call can start again after any of them. */
const BUSY = buildContract(
  upTo(
    3,
    ROUND,
    EVERY_ACCESS.flatMap((access) => [...access, ...upTo(50_000, COUNT, [])]),
  ),
  {
    locals: [[3, I32]],
    imports: IMPORTS.map((name) => ({ name, ...hostFunctionType(name) })),
    data: [[KEY, regionBytes(KEY + 12, 4, 4)]],
  },
);

/** A host that lists in order what a call does. */
function recordingHost(): { readonly host: Host; readonly log: string[] } {
  const log: string[] = [];
  const host = new Proxy<Host>(new MemoryHost(), {
    get: (target, name: keyof Host) => {
      log.push(name);
      return target[name].bind(target);
    },
  });
  return { host, log };
}

function run(code: Uint8Array, coldGas: bigint, vm = createVm({ coldGas })) {
  const { host, log } = recordingHost();
  created = 0;
  const outcome = runContract(code, { vm, host, gasLimit: GAS });
  return { outcome, log, instances: created };
}

describe("a call that starts again for optimized code", () => {
  it("has the outcome, the gas and the effects of one that does not, wherever it starts again", () => {
    const once = run(BUSY, GAS);
    expect(once.outcome.result).not.toBeInstanceOf(VmError);
    expect(once.log).toHaveLength(18);
    const total = once.outcome.gasUsed + once.outcome.gasUsedExternally;
    const instances = Array.from({ length: 60 }, (_, part) => {
      const again = run(BUSY, (total * BigInt(part)) / 60n);
      expect(again).toEqual({ ...once, instances: again.instances });
      return again.instances;
    });
    expect(instances.filter((count) => count === 2).length).toBeGreaterThan(30);
  });

  it.each(ATTACK_NAMES)("ends by its gas as one that does not (%s)", (attack) => {
    const code = buildHostileContract(attack);
    const once = run(code, GAS);
    for (const coldGas of [0n, 10n, GAS / 1_000n, GAS / 7n])
      expect(run(code, coldGas)).toMatchObject({ outcome: once.outcome, log: once.log });
  });

  it("starts again once per module", () => {
    const vm = createVm({ coldGas: 1_000n });
    const counts = [1, 2, 3].map(() => run(BUSY, 0n, vm).instances);
    // The instance of the first call is used again.
    expect(counts).toEqual([2, 0, 0]);
  });
});
