import { OP } from "./operators.ts";

/** VM gas per unit of the chain's gas. */
export const GAS_MULTIPLIER = 140_000n;

/** VM gas for an operator that does not end a basic block. */
export const OPERATOR_COST = 115;
/** VM gas for an operator that ends a basic block, such as a branch. */
export const ACCOUNTING_COST = 14 * OPERATOR_COST;

const ACCOUNTING: ReadonlySet<number> = new Set([
  OP.loop,
  OP.if,
  OP.else,
  OP.end,
  OP.br,
  OP.brIf,
  OP.brTable,
  OP.return,
  OP.call,
  OP.callIndirect,
]);

const IS_ACCOUNTING = Uint8Array.from({ length: 256 }, (_, opcode) => (ACCOUNTING.has(opcode) ? 1 : 0));

/** Returns true if an operator is a branch source or target, and thus ends a basic block. */
export function isAccounting(opcode: number): boolean {
  return IS_ACCOUNTING[opcode] === 1;
}

/** VM gas for the host's work for a contract, as in cosmwasm-vm 2.1.6 (`GasConfig`) and, for addresses, wasmd 0.53. */
export const GAS_COSTS = {
  hostCall: 18_000n,
  regionBase: 200_000n,
  regionByte: 115n,
  /** Cost per byte of a region larger than 8,000,000 bytes, instead of `regionBase` and `regionByte`. */
  largeRegionByte: 520n,
  stringBase: 28_700n,
  stringByte: 1_400n,
  addrValidate: 9n * GAS_MULTIPLIER,
  addrCanonicalize: 4n * GAS_MULTIPLIER,
  addrHumanize: 5n * GAS_MULTIPLIER,
  secp256k1Verify: 96_000_000n,
  secp256k1Recover: 194_000_000n,
  secp256r1Verify: 279_000_000n,
  secp256r1Recover: 592_000_000n,
  ed25519Verify: 35_000_000n,
  ed25519BatchBase: 24_000_000n,
  ed25519BatchItem: 21_000_000n,
  /** Base cost of verifying an ed25519 batch with exactly one public key. */
  ed25519OneKeyBase: 36_000_000n,
  ed25519OneKeyItem: 10_000_000n,
  blsG1Base: 68_000_000n,
  blsG1Point: 12_000_000n,
  blsG2Base: 103_500_000n,
  blsG2Point: 24_500_000n,
  blsPairingBase: 2_112_000_000n,
  blsPairingPair: 163_000_000n,
  blsHashG1: 563_000_000n,
  blsHashG2: 871_000_000n,
  /** Cost per byte for decoding the call's result. */
  resultByte: GAS_MULTIPLIER,
};

export type GasCosts = Readonly<typeof GAS_COSTS>;

/** Maximum size in bytes of regions for which `regionBase` and `regionByte` apply. */
const LARGE_REGION = 8_000_000;

/** Returns the VM gas for reading a region of `length` bytes. */
export function regionCost(costs: GasCosts, length: number): bigint {
  return length <= LARGE_REGION
    ? costs.regionBase + costs.regionByte * BigInt(length)
    : costs.largeRegionByte * BigInt(length);
}
