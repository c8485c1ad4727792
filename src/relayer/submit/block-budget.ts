import { createAdaptiveShare } from "./adaptive-share.ts";
import type { BlockBudgetStatus } from "./submitter-status.ts";

/** What the local chain allows in one block. */
export interface BlockLimits {
  /** Gas that the transactions of a block may use (`max_block_utilization`); undefined without a fee market. */
  readonly utilization: bigint | undefined;
  /** Sum of the gas limits in a block (`max_gas`); undefined: no limit. */
  readonly gas: bigint | undefined;
  /** `max_bytes`; undefined: no limit of the parameters. */
  readonly bytes: bigint | undefined;
}

/** What the transactions in flight may use of one block together. */
export interface BlockBudget {
  /** Expected gas used. */
  readonly gas: () => bigint;
  readonly bytes: () => number;
  /** Stores the limits that were read from the chain. */
  readonly setLimits: (limits: BlockLimits) => void;
  /** Takes a quarter off. Call it when a block had no room for a transaction. */
  readonly shrink: () => void;
  /** Gives back 1/32 of the configured share. Call it when a block took all that was sent. */
  readonly grow: () => void;
  readonly status: () => BlockBudgetStatus;
}

export interface BlockBudgetOptions {
  /** Share of a block in per mille. Other senders use the same blocks. */
  readonly blockSharePermille: bigint;
  /** Gas limit of a transaction = expected gas × this / 1000. */
  readonly gasAdjustmentPermille: bigint;
}

/** The fee market's cap on the deployed chain. Used until the limits were read. */
const DEFAULT_LIMITS: BlockLimits = { utilization: 30_000_000n, gas: undefined, bytes: undefined };
/** CometBFT's maximum (`MaxBlockSizeBytes`), also for `max_bytes: -1`. */
const MAX_BLOCK_BYTES = 104_857_600n;

/** Creates a budget with the configured share of a block. */
export function createBlockBudget(options: BlockBudgetOptions): BlockBudget {
  let limits = DEFAULT_LIMITS;
  const taken = createAdaptiveShare({ kept: [3n, 4n], growth: 32n, floor: 32n });
  const chainGas = (): bigint => {
    const wanted =
      limits.gas === undefined ? undefined : (limits.gas * 1_000n) / options.gasAdjustmentPermille;
    const { utilization = wanted ?? MAX_GAS } = limits;
    return wanted !== undefined && wanted < utilization ? wanted : utilization;
  };
  const share = (of: bigint): bigint => taken.of(of * options.blockSharePermille) / 1_000n;
  const gas = (): bigint => share(chainGas());
  const bytes = (): number => Number(share(limits.bytes ?? MAX_BLOCK_BYTES));
  return {
    gas,
    bytes,
    setLimits: (read) => {
      limits = read;
    },
    shrink: taken.shrink,
    grow: taken.grow,
    status: () => ({
      gas: gas(),
      bytes: bytes(),
      chainGas: chainGas(),
      sharePermille: Number(taken.of(options.blockSharePermille)),
    }),
  };
}

/** Assumed for a chain without any limit of gas. */
const MAX_GAS = 30_000_000n;
