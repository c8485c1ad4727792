import { describe, expect, it } from "vitest";
import { OP, SIGNATURE_OF } from "../../../src/localnet/vm/operators.ts";
import { runContract } from "../../support/vm/memory-host.ts";
import { createRandom } from "../random.ts";
import { generateModule } from "./generate-module.ts";
import { isComparable, operatorsOf } from "./modules.ts";

const MODULES = 200;
const modules = Array.from({ length: MODULES }, (_, seed) =>
  generateModule(createRandom(seed * 7919)).slice(),
);

describe("generated modules", () => {
  it("have every operator that the virtual machine accepts", () => {
    const accepted = new Set<number>(Object.values(OP));
    for (const [opcode, signature] of SIGNATURE_OF.entries())
      if (signature !== undefined) accepted.add(opcode);
    expect(accepted.size).toBeGreaterThan(180);
    const generated = new Set(modules.flatMap((code) => operatorsOf(code)));
    expect([...accepted].filter((opcode) => !generated.has(opcode))).toEqual([]);
  });

  it("mostly end well, and trap in several ways", () => {
    const results = modules.map((code) => runContract(code, { gasLimit: 10n ** 14n }).result);
    const texts = results.map((result) => (result instanceof Uint8Array ? "a result" : result.message));
    expect(texts.filter((text) => text === "a result").length).toBeGreaterThan(MODULES / 2);
    expect(new Set(texts).size).toBeGreaterThan(3);
  });

  it("without floats can be compared with plain V8 when they are mutated", () => {
    const plain = modules.map((_, seed) => generateModule(createRandom(seed), false).slice());
    expect(plain.filter((code) => !isComparable(code))).toEqual([]);
    expect(modules.filter((code) => isComparable(code)).length).toBeGreaterThan(MODULES / 5);
  });
});
