import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { describe, expect, it } from "vitest";
import { concat, fromHex, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { reportedText, VmError } from "../../../src/localnet/vm/errors.ts";
import { GAS_COSTS, type GasCosts } from "../../../src/localnet/vm/gas.ts";
import { hostFunctionType } from "../../../src/localnet/vm/host-functions.ts";
import { OP } from "../../../src/localnet/vm/operators.ts";
import { encodeSections } from "../../../src/localnet/vm/regions.ts";
import { type HostFunctionName, SUPPORTED_IMPORTS } from "../../../src/localnet/vm/static-checks.ts";
import type { CallOutcome } from "../../../src/localnet/vm/vm.ts";
import { MemoryHost, runContract, type RunOptions } from "../../support/vm/memory-host.ts";
import { buildContract, buildModule, call, i32, regionBytes, store } from "../../support/vm/wasm-builder.ts";

type Argument = Uint8Array | number | { readonly capacity: number };

/** Where the code of a host function goes: the result is the region of 8 bytes with it, or the region that it points to. */
const CODE = 2000;

/**
 * A contract that calls one host function with regions of these bytes, numbers as they are, or empty regions to write to. Its result is
 * the returned code in 8 bytes, and with `reads`, that region.
 */
function contractOf(
  name: HostFunctionName,
  args: readonly Argument[],
  reads?: number | "returned",
): Uint8Array {
  const { results } = hostFunctionType(name);
  const data: [number, Uint8Array][] = [[CODE, regionBytes(CODE + 16, 8, 8)]];
  let heap = 8192;
  const values = args.map((argument, at) => {
    if (typeof argument === "number") return argument;
    const [bytes, capacity] =
      argument instanceof Uint8Array ? [argument, argument.length] : [new Uint8Array(), argument.capacity];
    data.push([4096 + 16 * at, regionBytes(heap, capacity, bytes.length)], [heap, bytes]);
    heap += capacity + 16;
    return 4096 + 16 * at;
  });
  const result = reads === undefined ? CODE : reads === "returned" ? undefined : 4096 + 16 * reads;
  const keep = results[0] === 0x7e ? [0x37, 3, 0] : store(0);
  const run = [...i32(CODE + 16), ...values.flatMap((value) => i32(value)), ...call(0)];
  const body = results.length === 0 ? [...run.slice(i32(CODE + 16).length), ...i32(CODE)] : [...run, ...keep];
  const returned = result === undefined ? [...i32(CODE + 16), 0x28, 2, 0] : i32(result);
  const entry = { results: [0x7f], body: results.length === 0 ? body : [...body, ...returned] };
  return buildModule({
    imports: [{ name, ...hostFunctionType(name) }],
    memory: [200],
    functions: [
      { params: [0x7f], results: [0x7f], body: allocator(heap), exportAs: "allocate" },
      { params: [0x7f], body: [], exportAs: "deallocate" },
      { ...entry, params: [0x7f, 0x7f, 0x7f], exportAs: "execute" },
      { ...entry, params: [0x7f, 0x7f], exportAs: "query" },
    ],
    data,
    exports: [["memory", 2, 0]],
  });
}

/** `allocate` that always gives out one region at `heap`, with room for an answer. */
function allocator(heap: number): number[] {
  return [
    ...i32(heap),
    ...i32(heap + 16),
    ...store(0),
    ...i32(heap),
    ...i32(1_000_000),
    ...store(4),
    ...i32(heap),
    ...i32(0),
    ...store(8),
    ...i32(heap),
  ];
}

/** Code that a host function returned. */
function codeOf(name: HostFunctionName, args: readonly Argument[], options?: RunOptions): number {
  const { result } = runContract(contractOf(name, args), options);
  return result instanceof VmError ? -1 : new DataView(result.buffer).getUint32(0, true);
}

function textOf({ result }: CallOutcome): string {
  return result instanceof VmError ? reportedText(result) : toHex(result);
}

const PREFIX = "Error calling the VM: Error executing Wasm: Wasmer runtime error: RuntimeError: ";
const hash = createHash("sha256").update("message").digest();
const secret = new Uint8Array(32).fill(7);
const ecdsa = (curve: typeof secp256k1) => ({
  signature: curve.sign(hash, secret, { prehash: false, lowS: true }),
  key: curve.getPublicKey(secret, true),
});
const ed25519 = generateKeyPairSync("ed25519");
const edKey = new Uint8Array(ed25519.publicKey.export({ format: "der", type: "spki" }).subarray(-32));
const edSignature = new Uint8Array(sign(null, hash, ed25519.privateKey));
const g1 = bls12_381.G1.Point.BASE.toBytes(true);
const g2 = bls12_381.G2.Point.BASE.toBytes(true);
const k1 = ecdsa(secp256k1);
const r1 = ecdsa(p256);
const zeros = (length: number): Uint8Array => new Uint8Array(length);

/** A call of each host function, and the costs that it must contain. */
const CALLS: Readonly<
  Record<HostFunctionName, readonly [args: readonly Argument[], costs: readonly (keyof GasCosts)[]]>
> = {
  abort: [[utf8("stop")], ["regionBase", "regionByte", "stringBase", "stringByte"]],
  db_read: [[utf8("key")], ["regionBase", "regionByte"]],
  db_write: [
    [utf8("key"), utf8("value")],
    ["regionBase", "regionByte"],
  ],
  db_remove: [[utf8("key")], ["regionBase", "regionByte"]],
  addr_validate: [[utf8("addr1")], ["stringBase", "stringByte", "addrValidate"]],
  addr_canonicalize: [
    [utf8("addr1"), { capacity: 64 }],
    ["stringBase", "stringByte", "addrCanonicalize"],
  ],
  addr_humanize: [
    [utf8("1"), { capacity: 64 }],
    ["regionBase", "addrHumanize"],
  ],
  bls12_381_aggregate_g1: [
    [g1, { capacity: 48 }],
    ["blsG1Base", "blsG1Point"],
  ],
  bls12_381_aggregate_g2: [
    [g2, { capacity: 96 }],
    ["blsG2Base", "blsG2Point"],
  ],
  bls12_381_pairing_equality: [
    [g1, g2, g1, g2],
    ["blsPairingBase", "blsPairingPair"],
  ],
  bls12_381_hash_to_g1: [[0, utf8("m"), utf8("tag"), { capacity: 48 }], ["blsHashG1"]],
  bls12_381_hash_to_g2: [[0, utf8("m"), utf8("tag"), { capacity: 96 }], ["blsHashG2"]],
  secp256k1_verify: [[hash, k1.signature, k1.key], ["secp256k1Verify"]],
  secp256k1_recover_pubkey: [[hash, k1.signature, 0], ["secp256k1Recover"]],
  secp256r1_verify: [[hash, r1.signature, r1.key], ["secp256r1Verify"]],
  secp256r1_recover_pubkey: [[hash, r1.signature, 0], ["secp256r1Recover"]],
  ed25519_verify: [[hash, edSignature, edKey], ["ed25519Verify"]],
  ed25519_batch_verify: [
    [encodeSections([hash]), encodeSections([edSignature]), encodeSections([edKey])],
    ["ed25519OneKeyBase", "ed25519OneKeyItem"],
  ],
  debug: [[utf8("text")], []],
  query_chain: [[utf8("{}")], ["regionBase", "regionByte"]],
  db_scan: [[0, 0, 1], []],
  db_next: [[0], []],
  db_next_key: [[0], []],
  db_next_value: [[0], []],
};

/** A host with an entry and an iterator over it. */
function hostWithIterator(): MemoryHost {
  const host = new MemoryHost();
  host.set(utf8("key"), utf8("value"));
  host.scan(undefined, undefined, false);
  return host;
}

describe("costs of host functions", () => {
  const table = SUPPORTED_IMPORTS.flatMap((name) => {
    const [args, costs] = CALLS[name];
    return [...costs, "hostCall" as const].map((cost) => ({ name, args, cost }));
  });

  it("are tried for every host function", () =>
    expect(table.length).toBeGreaterThan(SUPPORTED_IMPORTS.length));

  it.each(table)("$name pays $cost", ({ name, args, cost }) => {
    const code = contractOf(name, args);
    const run = (costs: GasCosts): bigint => runContract(code, { costs, host: hostWithIterator() }).gasUsed;
    expect(run({ ...GAS_COSTS, [cost]: GAS_COSTS[cost] + 1n })).toBeGreaterThan(run(GAS_COSTS));
  });

  it("are the deployed ones", () =>
    expect(Object.values(GAS_COSTS).map(Number)).toEqual([
      18_000, 200_000, 115, 520, 28_700, 1400, 1_260_000, 560_000, 700_000, 96e6, 194e6, 279e6, 592e6, 35e6,
      24e6, 21e6, 36e6, 10e6, 68e6, 12e6, 103.5e6, 24.5e6, 2112e6, 163e6, 563e6, 871e6, 140_000,
    ]));

  it("of a batch with several keys are others than with one", () => {
    const two = [
      [hash, hash],
      [edSignature, edSignature],
      [edKey, edKey],
    ].map((list) => encodeSections(list));
    const one = [[hash, hash], [edSignature, edSignature], [edKey]].map((list) => encodeSections(list));
    const free = { ...GAS_COSTS, regionBase: 0n, regionByte: 0n };
    const used = (args: readonly Uint8Array[]) =>
      Number(runContract(contractOf("ed25519_batch_verify", args), { costs: free }).gasUsed);
    expect(used(two) - used(one)).toBe(24e6 + 2 * 21e6 - 36e6 - 2 * 10e6);
  });

  it("of a region over 8,000,000 bytes are by its whole length, and come before its limit", () => {
    const region = (length: number) => {
      const code = contractOf("db_read", [{ capacity: 9_000_000 }]);
      const at = code.findIndex(
        (_, index) =>
          toHex(code.subarray(index, index + 8)) ===
          toHex(new Uint8Array(Uint32Array.of(9_000_000, 0).buffer)),
      );
      code.set(new Uint8Array(Uint32Array.of(9_000_000, length).buffer), at);
      return runContract(code);
    };
    const base = Number(region(65_537).gasUsed) - (200_000 + 115 * 65_537);
    expect(Number(region(8_000_000).gasUsed) - base).toBe(200_000 + 115 * 8_000_000);
    expect(Number(region(8_000_001).gasUsed) - base).toBe(520 * 8_000_001);
    expect(textOf(region(8_000_001))).toBe(
      `${PREFIX}Error in guest/host communication: Region length too big. Got 8000001, limit 65536`,
    );
  });
});

describe("codes of cryptography", () => {
  const highS = (signature: Uint8Array) => {
    const { r, s } = secp256k1.Signature.fromBytes(signature, "compact");
    return new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s).toBytes("compact");
  };
  it.each([
    ["secp256k1_verify", [hash, k1.signature, k1.key], 0],
    ["secp256k1_verify", [hash, highS(k1.signature), k1.key], 0],
    ["secp256k1_verify", [hash, k1.signature, secp256k1.getPublicKey(secret, false)], 0],
    ["secp256k1_verify", [zeros(32), k1.signature, k1.key], 1],
    ["secp256k1_verify", [zeros(31), k1.signature, k1.key], 3],
    ["secp256k1_verify", [hash, zeros(63), k1.key], 4],
    ["secp256k1_verify", [hash, k1.signature, k1.key.subarray(1)], 5],
    ["secp256k1_verify", [hash, zeros(64), k1.key], 10],
    ["secp256r1_verify", [hash, r1.signature, r1.key], 0],
    ["secp256r1_verify", [hash, r1.signature, concat(Uint8Array.of(2), zeros(32).fill(255))], 10],
    ["ed25519_verify", [hash, edSignature, edKey], 0],
    ["ed25519_verify", [zeros(32), edSignature, edKey], 1],
    ["ed25519_verify", [hash, zeros(63), edKey], 4],
    ["ed25519_verify", [hash, edSignature, zeros(31)], 5],
    ["ed25519_batch_verify", [zeros(0), zeros(0), zeros(0)], 0],
    [
      "ed25519_batch_verify",
      [encodeSections([hash, hash]), encodeSections([edSignature]), encodeSections([edKey])],
      7,
    ],
    ["bls12_381_aggregate_g1", [zeros(0), { capacity: 48 }], 14],
    ["bls12_381_aggregate_g1", [zeros(47), { capacity: 48 }], 15],
    ["bls12_381_aggregate_g1", [zeros(48), { capacity: 48 }], 8],
    ["bls12_381_pairing_equality", [g1, g2, g1, g2], 0],
    ["bls12_381_pairing_equality", [zeros(0), zeros(0), g1, g2], 1],
    ["bls12_381_pairing_equality", [zeros(47), g2, g1, g2], 11],
    ["bls12_381_pairing_equality", [g1, zeros(95), g1, g2], 12],
    ["bls12_381_pairing_equality", [concat(g1, g1), g2, g1, g2], 13],
    ["bls12_381_pairing_equality", [g1, g2, zeros(47), g2], 8],
    ["bls12_381_hash_to_g1", [1, zeros(0), zeros(1), { capacity: 48 }], 9],
  ] as const)("%s %#", (name, args, code) => expect(codeOf(name, args)).toBe(code));

  it.each([
    ["secp256k1_recover_pubkey", 2],
    ["secp256k1_recover_pubkey", 256],
    ["secp256r1_recover_pubkey", 4],
  ] as const)("%s refuses the parameter %i in the upper half", (name, parameter) => {
    const { signature } = name.startsWith("secp256k1") ? k1 : r1;
    expect(textOf(runContract(contractOf(name, [hash, signature, parameter])))).toBe("0000000006000000");
  });

  it("recovers the key that signed", () => {
    const keys = [0, 1].map((parameter) =>
      textOf(
        runContract(contractOf("secp256k1_recover_pubkey", [hash, k1.signature, parameter], "returned")),
      ),
    );
    expect(keys).toContain(toHex(secp256k1.getPublicKey(secret, false)));
  });

  it("reads any point with the flag of infinity as infinity", () =>
    expect(
      textOf(runContract(contractOf("bls12_381_aggregate_g1", [zeros(48).fill(255), { capacity: 48 }], 1))),
    ).toBe(`c0${"00".repeat(47)}`));

  it("multiplies the pairings of a long list", () => {
    const many = (point: Uint8Array): Uint8Array => concat(...Array.from({ length: 20 }, () => point));
    const sum = bls12_381.G1.Point.BASE.multiply(20n).toBytes(true);
    expect(codeOf("bls12_381_pairing_equality", [many(g1), many(g2), sum, g2])).toBe(0);
    expect(codeOf("bls12_381_pairing_equality", [many(g1), many(g2), g1, g2])).toBe(1);
  });

  it("hashes to the curve as RFC 9380, appendix J.9.1", () => {
    const tag = utf8("QUUX-V01-CS02-with-BLS12381G1_XMD:SHA-256_SSWU_RO_");
    const point = bls12_381.G1.hashToCurve(utf8("abc"), { DST: tag }).toBytes(true);
    const code = contractOf("bls12_381_hash_to_g1", [0, utf8("abc"), tag, { capacity: 48 }], 3);
    expect(textOf(runContract(code))).toBe(toHex(point));
  });

  it("hashes with an empty tag, which the deployed chain takes", () =>
    expect(codeOf("bls12_381_hash_to_g2", [0, utf8("abc"), zeros(0), { capacity: 96 }])).toBe(0));
});

describe("storage", () => {
  it("is read, written, removed and scanned", () => {
    const host = new MemoryHost();
    runContract(contractOf("db_write", [utf8("k"), utf8("v")]), { host });
    expect(textOf(runContract(contractOf("db_read", [utf8("k")], "returned"), { host }))).toBe(
      toHex(utf8("v")),
    );
    expect(codeOf("db_read", [utf8("absent")], { host })).toBe(0);
    host.scan(undefined, undefined, false);
    const next = contractOf("db_next", [0], "returned");
    expect(textOf(runContract(next, { host }))).toBe(toHex(encodeSections([utf8("k"), utf8("v")])));
    expect(textOf(runContract(next, { host }))).toBe("0000000000000000");
    expect(codeOf("db_next_key", [0], { host })).toBe(0);
    runContract(contractOf("db_remove", [utf8("k")]), { host });
    expect(host.entries.size).toBe(0);
  });

  it("takes the host's gas from the contract's, not from its own sum", () => {
    const { gasUsed, gasUsedExternally } = runContract(contractOf("db_read", [utf8("k")]));
    expect(gasUsedExternally).toBe((1000n + 3n * 34n) * 140_000n);
    expect(gasUsed).toBeLessThan(5_000_000n);
    const short = runContract(contractOf("db_read", [utf8("k")]), { gasLimit: gasUsedExternally });
    expect(textOf(short)).toBe(`${PREFIX}Ran out of gas during contract execution`);
  });

  it.each([
    [
      "a write in a query",
      "db_write",
      [utf8("k"), utf8("v")],
      "Must not call a writing storage function in this context.",
    ],
    [
      "a removal in a query",
      "db_remove",
      [utf8("k")],
      "Must not call a writing storage function in this context.",
    ],
  ] as const)("refuses %s", (_, name, args, text) =>
    expect(textOf(runContract(contractOf(name, args), { entryPoint: "query" }))).toBe(`${PREFIX}${text}`),
  );

  it.each([
    [
      "db_write",
      [zeros(65_537), zeros(1)],
      "Generic error: Key too big. Tried to write 65537 bytes to storage, limit is 65536.",
    ],
    [
      "db_write",
      [zeros(1), zeros(131_073)],
      "Generic error: Value too big. Tried to write 131073 bytes to storage, limit is 131072.",
    ],
    [
      "db_read",
      [zeros(65_537)],
      "Error in guest/host communication: Region length too big. Got 65537, limit 65536",
    ],
    ["db_scan", [0, 0, 3], "Error in guest/host communication: Got an invalid value for iteration order: 3"],
    [
      "db_scan",
      [0, 0, -1],
      "Error in guest/host communication: Got an invalid value for iteration order: -1",
    ],
    ["db_next", [5], "Error calling into the VM's backend: Iterator with ID 5 does not exist"],
    ["db_write", [zeros(0), zeros(1)], "Error calling into the VM's backend: Panic in FFI call"],
    ["abort", [utf8("hello")], "Aborted: hello"],
    ["abort", [fromHex("ffff")], "Aborted: ��"],
    [
      "addr_validate",
      [zeros(257)],
      "Error in guest/host communication: Region length too big. Got 257, limit 256",
    ],
    [
      "addr_canonicalize",
      [utf8("addr12"), { capacity: 1 }],
      "Error in guest/host communication: Region too small. Got 1, required 2",
    ],
    [
      "ed25519_batch_verify",
      [zeros(5), zeros(5), zeros(5)],
      "Error in guest/host communication: Got an invalid section: extra data outside of any section",
    ],
    [
      "ed25519_batch_verify",
      [zeros(4).fill(255), zeros(4), zeros(4)],
      "Error in guest/host communication: Got an invalid section: section length overflow",
    ],
  ] as const)("%s ends the call: %#", (name, args, text) =>
    expect(textOf(runContract(contractOf(name, args)))).toBe(`${PREFIX}${text}`),
  );
});

describe("regions", () => {
  /** A contract whose `db_read` gets a pointer to this region. */
  const withRegion = (offset: number, capacity: number, length: number): Uint8Array => {
    const code = contractOf("db_read", [utf8("12345678")]);
    const at = code.findIndex(
      (_, index) => toHex(code.subarray(index, index + 12)) === toHex(regionBytes(8192, 8, 8)),
    );
    code.set(regionBytes(offset, capacity, length), at);
    return code;
  };

  it.each([
    [0, 8, 8, "Got an invalid region: Got a zero Wasm address in the offset"],
    [8192, 4, 5, "Got an invalid region: Region length exceeds capacity. Length 5, capacity 4"],
    [
      4_294_967_280,
      16,
      1,
      "Got an invalid region: Region exceeds address space. Offset 4294967280, capacity 16",
    ],
    [
      4_294_967_280,
      15,
      1,
      "Tried to access memory of region Region { offset: 4294967280, capacity: 15, length: 1 } in Wasm memory of size 13107200 bytes. This typically happens when the given Region pointer does not point to a proper Region struct.",
    ],
  ])("at %i with capacity %i and length %i is refused", (offset, capacity, length, text) =>
    expect(textOf(runContract(withRegion(offset, capacity, length)))).toBe(
      `${PREFIX}Error in guest/host communication: ${text}`,
    ),
  );

  const dereferencing = (pointer: number): string =>
    `Error in guest/host communication: The Wasm memory address ${pointer} provided by the contract could not be dereferenced: Could not dereference this pointer to a Region`;

  it("is refused at a pointer outside the memory", () =>
    expect(textOf(runContract(contractOf("db_read", [13_107_190])))).toBe(
      `${PREFIX}${dereferencing(13_107_190)}`,
    ));

  const READING = SUPPORTED_IMPORTS.flatMap((name) => {
    const [args] = CALLS[name];
    const pointers = [...args.keys()].filter((at) => typeof args[at] !== "number" || name === "db_scan");
    return name === "debug" ? [] : pointers.slice(0, name === "db_scan" ? 2 : 4).map((at) => ({ name, at }));
  });

  it.each(READING)("is refused at a pointer of 2^31 or more: argument $at of $name", ({ name, at }) => {
    const args: readonly Argument[] = CALLS[name][0];
    for (const pointer of [-1, -(2 ** 31)]) {
      const code = contractOf(
        name,
        args.map((argument, index) => (index === at ? pointer : argument)),
      );
      const host = hostWithIterator();
      expect(textOf(runContract(code, { host }))).toBe(`${PREFIX}${dereferencing(pointer >>> 0)}`);
    }
  });

  it("is refused at a pointer of 2^31 or more that an entry point or `allocate` returns", () => {
    const entry = (pointer: number): string => {
      const body = buildModule({
        memory: [1],
        functions: [
          { params: [0x7f], results: [0x7f], body: i32(pointer), exportAs: "allocate" },
          { params: [0x7f], body: [], exportAs: "deallocate" },
          { params: [0x7f, 0x7f, 0x7f], results: [0x7f], body: i32(0), exportAs: "execute" },
        ],
        exports: [["memory", 2, 0]],
      });
      return textOf(runContract(body));
    };
    expect(entry(-1)).toBe(`Error calling the VM: ${dereferencing(2 ** 32 - 1)}`);
    const result = textOf(runContract(buildContract([...i32(-1), OP.return])));
    expect(result).toBe(`Error calling the VM: ${dereferencing(2 ** 32 - 1)}`);
  });
});

describe("queries and debug texts", () => {
  it("pass the request, the gas and the stack that are left", () => {
    const host = new MemoryHost();
    let seen: [string, boolean, boolean] | undefined;
    host.onQuery = (request, { gas, stack }) => {
      seen = [toHex(request), gas > 0n && gas < 10n ** 13n, stack > 100_000];
      return utf8("answer");
    };
    expect(textOf(runContract(contractOf("query_chain", [utf8("?")], "returned"), { host }))).toBe(
      toHex(utf8("answer")),
    );
    expect(seen).toEqual([toHex(utf8("?")), true, true]);
  });

  it("do not read the text of debug", () =>
    expect(runContract(contractOf("debug", [0])).result).toBeInstanceOf(Uint8Array));
});
