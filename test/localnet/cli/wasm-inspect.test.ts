import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { inspectCode } from "../../../src/localnet/cli/contract-code.ts";
import { buildContract } from "../../support/vm/wasm-builder.ts";

describe("wasm inspect", () => {
  const code = buildContract([], { imports: [{ name: "debug", params: [0x7f] }] });
  const problems = (file: Uint8Array): (string | undefined)[] =>
    inspectCode(file).checks.map(({ problem }) => problem);

  it("finds nothing wrong with a contract, plain or compressed", () => {
    const plain = inspectCode(code);
    const packed = inspectCode(new Uint8Array(gzipSync(code)));
    expect(
      [plain, packed].flatMap(({ checks }) => checks).filter(({ problem }) => problem !== undefined),
    ).toEqual([]);
    expect([plain.instantiation, plain.checks.length, packed.checks.length]).toEqual([undefined, 10, 11]);
    expect(packed.checksum).toBe(plain.checksum);
  });

  it("shows every check, and those of the bodies if the rules hold", () => {
    const broken = inspectCode(buildContract([], { memory: [513], imports: [{ name: "nothing" }] }));
    expect(broken.checks.filter(({ problem }) => problem !== undefined).map(({ name }) => name)).toEqual([
      "memory",
      "imports",
    ]);
    expect(problems(buildContract([0x1a])).at(-1)).toContain("nothing on stack");
  });

  it("says why code that is stored cannot be called", () =>
    expect(inspectCode(buildContract([], { start: 0 })).instantiation).toBe("RuntimeError: unreachable"));

  it("reports files that are no code", () => {
    expect(problems(Uint8Array.of(0x1f, 0x8b, 8))[0]).toBeDefined();
    expect(problems(new Uint8Array(2_000_000))).toContain("2000000 bytes, at most 1677722");
    expect(problems(new Uint8Array())[1]).toContain("unexpected end-of-file");
  });
});
