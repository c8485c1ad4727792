import { fromLossyUtf8, fromUtf8, utf8 } from "../../platform/base/bytes.ts";
import * as crypto from "./crypto.ts";
import { vmError, VmError } from "./errors.ts";
import type { Execution } from "./execution.ts";
import type { FunctionType } from "./module.ts";
import { I32 } from "./operators.ts";
import { decodeSections, encodeSections } from "./regions.ts";
import { HOST_FUNCTIONS, type HostFunctionName, SUPPORTED_IMPORTS } from "./static-checks.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const BATCH_ITEMS = 256;

/** Maximum sizes of the host functions' arguments, in bytes. */
const MAX = {
  key: 64 * KIB,
  value: 128 * KIB,
  canonicalAddress: 64,
  humanAddress: 256,
  hash: 32,
  signature: 64,
  ecdsaKey: 65,
  ed25519Key: 32,
  ed25519Message: 128 * KIB,
  query: 64 * KIB,
  abort: 2 * MIB,
  points: 2 * MIB,
  blsMessage: 5 * MIB,
  blsTag: 5 * KIB,
} as const;

/** Native stack bytes reserved for the host's own frames when a query calls another contract. */
const QUERY_STACK = 24 * KIB;

type HostFunction = (execution: Execution, args: readonly number[]) => number | bigint | undefined;

/**
 * Passes an address string to `use` and returns the result. If the address is empty or not valid UTF-8, returns a pointer to a new region
 * with the error message.
 */
function addressText(execution: Execution, pointer: number, use: (text: string) => number): number {
  const source = execution.read(pointer, MAX.humanAddress);
  if (source.length === 0) return execution.allocate(utf8("Input is empty"));
  execution.charge(execution.costs.stringBase + execution.costs.stringByte * BigInt(source.length));
  let text: string;
  try {
    text = fromUtf8(source);
  } catch {
    return execution.allocate(utf8("Input is not valid UTF-8"));
  }
  return use(text);
}

function requireWritable(execution: Execution): void {
  if (execution.isReadOnly) throw vmError("write-access");
}

/** Reads a key or value to be stored. If the key or value is too long, throws "Key too big" or "Value too big". */
function readToStore(execution: Execution, pointer: number, kind: "Key" | "Value"): Uint8Array {
  const limit = kind === "Key" ? MAX.key : MAX.value;
  try {
    return execution.read(pointer, limit);
  } catch (thrown) {
    const length = /Region length too big\. Got (\d+),/.exec(
      thrown instanceof VmError ? thrown.message : "",
    )?.[1];
    if (length === undefined) throw thrown;
    throw vmError(
      "generic",
      `${kind} too big. Tried to write ${length} bytes to storage, limit is ${limit}.`,
    );
  }
}

/** Writes a result to the contract's region and returns 0, or returns `result` if it is an error code. */
function writeOrCode(execution: Execution, pointer: number, result: crypto.BytesOrCode): number {
  if (typeof result === "number") return result;
  execution.write(pointer, result);
  return 0;
}

function verifyWith(curve: crypto.EcdsaCurve): HostFunction {
  return (execution, [hashPointer = 0, signaturePointer = 0, keyPointer = 0]) => {
    const hash = execution.read(hashPointer, MAX.hash);
    const signature = execution.read(signaturePointer, MAX.signature);
    const key = execution.read(keyPointer, MAX.ecdsaKey);
    execution.charge(execution.costs[`${curve}Verify`]);
    return crypto.verifyEcdsa(curve, { hash, signature }, key);
  };
}

function inHighHalf(code: number): bigint {
  return BigInt(code) << 32n;
}

function recoverWith(curve: crypto.EcdsaCurve): HostFunction {
  return (execution, [hashPointer = 0, signaturePointer = 0, parameter = 0]) => {
    const hash = execution.read(hashPointer, MAX.hash);
    const signature = execution.read(signaturePointer, MAX.signature);
    if (parameter >>> 0 > 255) return inHighHalf(crypto.CRYPTO_CODE.recoveryParameter);
    execution.charge(execution.costs[`${curve}Recover`]);
    const key = crypto.recoverEcdsa(curve, { hash, signature }, parameter);
    return typeof key === "number" ? inHighHalf(key) : BigInt(execution.allocate(key));
  };
}

function hashWith(
  cost: "blsHashG1" | "blsHashG2",
  hash: (message: Uint8Array, tag: Uint8Array) => Uint8Array,
): HostFunction {
  return (execution, [hashFunction = 0, messagePointer = 0, tagPointer = 0, out = 0]) => {
    const message = execution.read(messagePointer, MAX.blsMessage);
    const tag = execution.read(tagPointer, MAX.blsTag);
    execution.charge(execution.costs[cost]);
    if (hashFunction !== 0) return crypto.CRYPTO_CODE.hashFunction;
    return writeOrCode(execution, out, hash(message, tag));
  };
}

function aggregateWith(group: crypto.BlsGroup): HostFunction {
  return (execution, [pointer = 0, out = 0]) => {
    const { costs } = execution;
    const points = execution.read(pointer, MAX.points);
    const count = BigInt(Math.floor(points.length / crypto.POINT_LENGTH[group]));
    execution.charge(costs[`bls${group}Base`] + costs[`bls${group}Point`] * count);
    const sum = crypto.aggregate(group, points, () => execution.checkInterrupt());
    return writeOrCode(execution, out, sum);
  };
}

/** Creates the host function that returns the next entry's key or value, or 0 after the last entry. */
function nextPart(part: 0 | 1): HostFunction {
  return (execution, [iterator = 0]) => {
    const entry = execution.ask((host) => host.next(iterator >>> 0));
    return entry === undefined ? 0 : execution.allocate(entry[part]);
  };
}

const FUNCTIONS: Readonly<Record<HostFunctionName, HostFunction>> = {
  abort: (execution, [pointer = 0]) => {
    const message = execution.read(pointer, MAX.abort);
    execution.charge(execution.costs.stringBase + execution.costs.stringByte * BigInt(message.length));
    throw vmError("aborted", fromLossyUtf8(message));
  },

  db_read: (execution, [pointer = 0]) => {
    const key = execution.read(pointer, MAX.key);
    const value = execution.ask((host) => host.get(key));
    return value === undefined ? 0 : execution.allocate(value);
  },

  db_write: (execution, [keyPointer = 0, valuePointer = 0]) => {
    requireWritable(execution);
    const key = readToStore(execution, keyPointer, "Key");
    const value = readToStore(execution, valuePointer, "Value");
    return execution.ask((host) => ({ value: undefined, gas: host.set(key, value) }));
  },

  db_remove: (execution, [pointer = 0]) => {
    requireWritable(execution);
    const key = execution.read(pointer, MAX.key);
    return execution.ask((host) => ({ value: undefined, gas: host.remove(key) }));
  },

  addr_validate: (execution, [pointer = 0]) =>
    addressText(execution, pointer, (text) => {
      const problem = execution.host.validateAddress(text);
      execution.charge(execution.costs.addrValidate);
      return problem === undefined ? 0 : execution.allocate(utf8(problem));
    }),

  addr_canonicalize: (execution, [pointer = 0, out = 0]) =>
    addressText(execution, pointer, (text) => {
      const canonical = execution.host.canonicalizeAddress(text);
      execution.charge(execution.costs.addrCanonicalize);
      return canonical.ok
        ? writeOrCode(execution, out, canonical.value)
        : execution.allocate(utf8(canonical.error));
    }),

  addr_humanize: (execution, [pointer = 0, out = 0]) => {
    const canonical = execution.read(pointer, MAX.canonicalAddress);
    const human = execution.host.humanizeAddress(canonical);
    execution.charge(execution.costs.addrHumanize);
    return human.ok ? writeOrCode(execution, out, utf8(human.value)) : execution.allocate(utf8(human.error));
  },

  bls12_381_aggregate_g1: aggregateWith("G1"),
  bls12_381_aggregate_g2: aggregateWith("G2"),

  bls12_381_pairing_equality: (execution, [psPointer = 0, qsPointer = 0, rPointer = 0, sPointer = 0]) => {
    const { blsPairingBase, blsPairingPair } = execution.costs;
    const ps = execution.read(psPointer, MAX.points);
    const qs = execution.read(qsPointer, MAX.points);
    const r = execution.read(rPointer, crypto.POINT_LENGTH.G1);
    const s = execution.read(sPointer, crypto.POINT_LENGTH.G2);
    execution.charge(
      blsPairingBase + blsPairingPair * BigInt(Math.floor(ps.length / crypto.POINT_LENGTH.G1) + 1),
    );
    return crypto.pairingEquality({ ps, qs, r, s }, () => execution.checkInterrupt());
  },

  bls12_381_hash_to_g1: hashWith("blsHashG1", crypto.hashToG1),
  bls12_381_hash_to_g2: hashWith("blsHashG2", crypto.hashToG2),
  secp256k1_verify: verifyWith("secp256k1"),
  secp256k1_recover_pubkey: recoverWith("secp256k1"),
  secp256r1_verify: verifyWith("secp256r1"),
  secp256r1_recover_pubkey: recoverWith("secp256r1"),

  ed25519_verify: (execution, [messagePointer = 0, signaturePointer = 0, keyPointer = 0]) => {
    const message = execution.read(messagePointer, MAX.ed25519Message);
    const signature = execution.read(signaturePointer, MAX.signature);
    const key = execution.read(keyPointer, MAX.ed25519Key);
    execution.charge(execution.costs.ed25519Verify);
    return crypto.verifyEd25519(message, signature, key);
  },

  ed25519_batch_verify: (execution, [messagesPointer = 0, signaturesPointer = 0, keysPointer = 0]) => {
    const { costs } = execution;
    const read = (pointer: number, length: number): Uint8Array =>
      execution.read(pointer, (length + 4) * BATCH_ITEMS);
    const encoded = [
      read(messagesPointer, MAX.ed25519Message),
      read(signaturesPointer, MAX.signature),
      read(keysPointer, MAX.ed25519Key),
    ];
    const [messages = [], signatures = [], keys = []] = encoded.map((bytes) => decodeSections(bytes));
    const [base, item] =
      keys.length === 1
        ? [costs.ed25519OneKeyBase, costs.ed25519OneKeyItem]
        : [costs.ed25519BatchBase, costs.ed25519BatchItem];
    execution.charge(base + item * BigInt(signatures.length));
    return crypto.verifyEd25519Batch(messages, signatures, keys);
  },

  // Ignore debug messages without reading their regions, because the deployed chain has no handler for debug messages.
  debug: () => undefined,

  query_chain: (execution, [pointer = 0]) => {
    const request = execution.read(pointer, MAX.query);
    const limits = {
      gas: execution.gasLeft(),
      stack: Math.max(0, execution.stackLeft() - QUERY_STACK),
    };
    return execution.allocate(execution.ask((host) => host.query(request, limits)));
  },

  db_scan: (execution, [startPointer = 0, endPointer = 0, order = 0]) => {
    const start = execution.readOptional(startPointer, MAX.key);
    const end = execution.readOptional(endPointer, MAX.key);
    if (order !== 1 && order !== 2)
      throw vmError("communication", `Got an invalid value for iteration order: ${order}`);
    return execution.ask((host) => host.scan(start, end, order === 2));
  },

  db_next: (execution, [iterator = 0]) => {
    const empty = new Uint8Array();
    const [key, value] = execution.ask((host) => host.next(iterator >>> 0)) ?? [empty, empty];
    return execution.allocate(encodeSections([key, value]));
  },

  db_next_key: nextPart(0),
  db_next_value: nextPart(1),
};

export function hostFunctionType(name: HostFunctionName): FunctionType {
  const [params, result] = HOST_FUNCTIONS[name];
  return {
    params: Array.from({ length: params }, () => I32),
    results: result === undefined ? [] : [result],
  };
}

/** Creates a contract's imports, each of which charges gas and then acts on the execution that `current` returns. */
export function createImports(
  current: () => Execution,
): Readonly<Record<string, (...args: number[]) => number | bigint | undefined>> {
  return Object.fromEntries(
    SUPPORTED_IMPORTS.map((name) => [
      name,
      (...args: number[]) => {
        const execution = current();
        const { trace } = execution;
        const run = () => {
          execution.enterHost();
          return FUNCTIONS[name](execution, args);
        };
        return trace === undefined ? run() : trace.host(name, run);
      },
    ]),
  );
}
