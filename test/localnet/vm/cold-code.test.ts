import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../src/platform/base/bytes.ts";
import type { EntryPoint } from "../../../src/localnet/vm/host.ts";
import { createVm } from "../../../src/localnet/vm/vm.ts";
import { type Attack, ATTACK_NAMES, buildHostileContract } from "../../support/vm/hostile-contracts.ts";
import { MemoryHost, runContract } from "../../support/vm/memory-host.ts";

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

/** Records what a call does in the host, in order. */
class RecordingHost extends MemoryHost {
  readonly log: string[] = [];

  override get(key: Uint8Array) {
    this.log.push(`get ${toHex(key)}`);
    return super.get(key);
  }

  override set(key: Uint8Array, value: Uint8Array) {
    this.log.push(`set ${toHex(key)}`);
    return super.set(key, value);
  }

  override scan(...range: Parameters<MemoryHost["scan"]>) {
    this.log.push("scan");
    return super.scan(...range);
  }
}

const GAS = 10n ** 10n;

function run(attack: Attack, entryPoint: EntryPoint, coldGas: bigint, vm = createVm({ coldGas })) {
  const host = new RecordingHost();
  const outcome = runContract(buildHostileContract(attack), { vm, host, entryPoint, gasLimit: GAS });
  return { outcome, log: host.log, entries: host.entries.size };
}

const CALLS = ATTACK_NAMES.map((attack) => [attack, "execute"] as const);

describe("a call that starts again for optimized code", () => {
  it.each<readonly [Attack, EntryPoint]>([...CALLS, ["loop", "instantiate"]])(
    "has the outcome, the gas and the effects of one that does not (%s, %s)",
    (attack, entryPoint) => {
      const once = run(attack, entryPoint, GAS);
      for (const part of [1n, 7n, 1_000n, 10n ** 9n])
        expect(run(attack, entryPoint, GAS / part)).toEqual(once);
      expect(run(attack, entryPoint, 0n)).toEqual(once);
    },
  );

  it("starts again once per module", () => {
    const vm = createVm({ coldGas: 1_000n });
    const counts = [1, 2, 3].map(() => {
      created = 0;
      run("loop", "execute", 0n, vm);
      return created;
    });
    expect(counts).toEqual([2, 1, 1]);
  });
});
