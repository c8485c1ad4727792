import type { ChainClient, LightBlockBytes } from "../../cosmos/client/chain-client.ts";
import type { WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import { BLOCK_ID_FLAG } from "../../cosmos/comet/block-types.ts";
import type { TrustLevel } from "../../cosmos/comet/verify-commit.ts";
import type { LightClientState } from "../../cosmos/light-client/client-queries.ts";
import { headerAny, type Trust, updateClientMessage } from "../../cosmos/light-client/client-update.ts";
import { SignedHeader } from "../../cosmos/proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../../cosmos/proto/gen/tendermint/types/validator.ts";
import { withTimeout } from "../../platform/base/abort.ts";
import { toHex } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { createMutex } from "../../platform/base/waits.ts";
import { RelayError } from "../chain/relay-error.ts";

export interface IntermediateHeadersDeps {
  readonly remote: Pick<ChainClient, "lightBlock">;
  readonly clock: Pick<Clock, "sleep">;
  readonly signer: string;
  /** Broadcasts client updates in the given order, and resolves once blocks include all of them. */
  readonly send: (updates: readonly WireMessage[], signal: AbortSignal) => Promise<void>;
}

/**
 * Returns a trusted height from which the header of `block` can be verified: `trust` itself, or a height between `trust` and
 * `block`.
 *
 * If too little of the voting power trusted at `trust` signed `block`, the function updates the client through intermediate
 * headers. Throws `RelayError` "validators-changed" if the intermediate headers do not reach far enough. The next cycle then
 * continues from the last intermediate header.
 */
export type IntermediateHeaders = (block: LightBlockBytes, trust: Trust) => Promise<Trust>;

/**
 * Maximum number of blocks read for one path. If all validators change once within a million blocks, a path takes about forty
 * reads. If a path needs more reads, the relayer sends the known part, and the next cycle continues from its end.
 */
const MAX_READS = 100;
/** Maximum time for reading a path's blocks, after which the relayer sends the client updates that it could build so far. */
const READ_MS = 30_000;

/** Creates one cycle's {@link IntermediateHeaders} function. `signal` aborts the function's requests. */
export function createIntermediateHeaders(
  deps: IntermediateHeadersDeps,
  client: LightClientState,
  signal: AbortSignal,
): IntermediateHeaders {
  // Several headers may need the same updates. The first call sends these updates, and later calls use the new trusted heights.
  const mutex = createMutex();
  let reached: readonly Trust[] = [];
  const nearest = (block: LightBlockBytes, trust: Trust): Trust =>
    reached
      .filter(({ height }) => height.height < block.height)
      .reduce((best, one) => (one.height.height > best.height.height ? one : best), trust);
  const build = async (block: LightBlockBytes, before: Trust): Promise<Trust> => {
    const from = nearest(block, before);
    if (isVerifiable(block, from, client)) return from;
    const steps = await readSteps(deps, { block, from, client }, signal);
    await deps.send(
      steps.map(({ update }) => update),
      signal,
    );
    reached = [...reached, ...steps.map(({ trust }) => trust)];
    const last = nearest(block, from);
    if (isVerifiable(block, last, client)) return last;
    throw changed(
      { block, from, client },
      `the client was updated to height ${last.height.height} in between`,
    );
  };
  return async (block, trust) =>
    isVerifiable(block, trust, client) ? trust : mutex.runExclusive(() => build(block, trust), signal);
}

function isVerifiable(block: LightBlockBytes, trust: Trust, { trustLevel }: LightClientState): boolean {
  if (block.height === trust.height.height + 1n) return true;
  return isTrusted(powersOf(trust.validatorSet), signedBlock(block), trustLevel);
}

interface Way {
  readonly block: LightBlockBytes;
  readonly from: Trust;
  readonly client: LightClientState;
}

/** A client update, and the height that the client trusts after the update. */
interface Step {
  readonly update: WireMessage;
  readonly trust: Trust;
}

interface HeadersOnTheWay {
  readonly blocks: Map<bigint, LightBlockBytes>;
  /** Heights whose headers can each be verified from the previous height. The last height may be far below the target block. */
  heights: readonly bigint[];
}

/** Returns the updates that must precede the block's own update, up to the last block that could be read in time. */
async function readSteps(
  deps: IntermediateHeadersDeps,
  way: Way,
  signal: AbortSignal,
): Promise<readonly Step[]> {
  const headers: HeadersOnTheWay = { blocks: new Map([[way.block.height, way.block]]), heights: [] };
  await withTimeout(READ_MS, deps.clock, signal, (inner) => readHeaders(deps, way, headers, inner));
  const steps = toSteps(way, headers, deps.signer);
  if (steps.length === 0) throw changed(way, "the headers between them could not be read in time");
  return steps;
}

/** Reads at most {@link MAX_READS} blocks until the path is known. */
async function readHeaders(
  { remote }: IntermediateHeadersDeps,
  { block, from, client }: Way,
  headers: HeadersOnTheWay,
  signal: AbortSignal,
): Promise<void> {
  const ends = { from: from.height.height, to: block.height };
  const signed = new Map([[block.height, signedBlock(block)]]);
  for (let reads = 0; reads <= MAX_READS; reads++) {
    const path = planHeaderPath(ends, signed, client.trustLevel);
    // Trusting a height requires the validators of the next block.
    if (path.kind === "known" || path.height !== nextOf(path.heights)) headers.heights = path.heights;
    if (path.kind === "known" || reads === MAX_READS) return;
    const read = await remote.lightBlock(path.height, signal);
    headers.blocks.set(path.height, read);
    signed.set(path.height, signedBlock(read));
  }
}

function nextOf(heights: readonly bigint[]): bigint | undefined {
  const last = heights.at(-1);
  return last === undefined ? undefined : last + 1n;
}

function toSteps(
  { from, client }: Way,
  { heights, blocks }: HeadersOnTheWay,
  signer: string,
): readonly Step[] {
  const steps: Step[] = [];
  let trusted = from;
  for (const height of heights) {
    const [block, next] = [blocks.get(height), blocks.get(height + 1n)];
    // Stop if a block was not read. The block after the target is never read.
    if (block === undefined || next === undefined) break;
    const trust = { height: { ...from.height, height }, validatorSet: next.validatorSet };
    const update = updateClientMessage(client.clientId, headerAny(block, trusted), signer);
    steps.push({ update, trust });
    trusted = trust;
  }
  return steps;
}

function changed({ block, from, client: { clientId } }: Way, what: string): RelayError {
  const facts = { code: "validators-changed", clientId, from: from.height.height, to: block.height } as const;
  return new RelayError(
    facts,
    `too few validators trusted by ${clientId} at height ${facts.from} signed block ${facts.to}; ${what}`,
  );
}

/** Creates an {@link IntermediateHeaders} function that collects the updates instead of sending them, for use in a dry run. */
export function createDryIntermediateHeaders(
  deps: Omit<IntermediateHeadersDeps, "send">,
  client: LightClientState,
  signal: AbortSignal,
) {
  const updates: WireMessage[] = [];
  const send = async (between: readonly WireMessage[]): Promise<void> => void updates.push(...between);
  return {
    intermediate: createIntermediateHeaders({ ...deps, send }, client, signal),
    updates: (): readonly WireMessage[] => updates,
  };
}

/** Voting power by validator address (hex). */
export type Powers = ReadonlyMap<string, bigint>;

/** The facts about a block from which {@link planHeaderPath} plans a path of headers. */
export interface SignedBlock {
  /** Addresses (hex) of the validators that signed the block. */
  readonly signers: ReadonlySet<string>;
  readonly validators: Powers;
}

/** The next step in planning a path of headers: a block to read, or the heights of the known path. */
export type HeaderPath =
  /** Read the block at this height and plan again. `heights` already form a path to a lower height. */
  | { readonly kind: "read"; readonly height: bigint; readonly heights: readonly bigint[] }
  /** Update the client to these heights in order. Each header can be verified from the previous header. */
  | { readonly kind: "known"; readonly heights: readonly bigint[] };

/** Maximum number of headers in one path. The next path continues after the last header. */
export const MAX_HEADERS = 16;

/**
 * Plans client updates from the trusted height `from` to `to` by bisection, as CometBFT's light client does. A single update fails
 * if too little of the voting power trusted at `from` signed block `to`. A path always exists, because each block can be verified
 * from the block before it. A path that needs more than {@link MAX_HEADERS} headers ends below `to`.
 *
 * Call this function again after each block read. For each trusted height, the plan also needs the next block, whose validators the
 * light client trusts.
 */
export function planHeaderPath(
  { from, to }: { readonly from: bigint; readonly to: bigint },
  blocks: ReadonlyMap<bigint, SignedBlock>,
  level: TrustLevel,
): HeaderPath {
  let heights: readonly bigint[] = [];
  // Heights that the path must still reach, farthest first.
  let goals: readonly bigint[] = [to];
  for (;;) {
    const [trusted = from, nearest] = [heights.at(-1), goals.at(-1)];
    if (nearest === undefined) return { kind: "known", heights };
    if (!blocks.has(trusted + 1n)) return { kind: "read", height: trusted + 1n, heights };
    if (heights.length === MAX_HEADERS) return { kind: "known", heights };
    if (!blocks.has(nearest)) return { kind: "read", height: nearest, heights };
    const [goal] = goals.filter((height) => isStepVerifiable(trusted, height, blocks, level));
    if (goal === undefined) goals = [...goals, (trusted + nearest) / 2n];
    else {
      goals = goals.filter((height) => height > goal);
      // Drop the intermediate heights that the path does not need.
      const path = [from, ...heights];
      const start = path.findIndex((height) => isStepVerifiable(height, goal, blocks, level));
      heights = [...path.slice(1, start + 1), goal];
    }
  }
}

function isStepVerifiable(
  trusted: bigint,
  height: bigint,
  blocks: ReadonlyMap<bigint, SignedBlock>,
  level: TrustLevel,
): boolean {
  if (height === trusted + 1n) return true;
  const [next, block] = [blocks.get(trusted + 1n), blocks.get(height)];
  return next !== undefined && block !== undefined && isTrusted(next.validators, block, level);
}

/**
 * Returns true if validators with more than the fraction `level` of the trusted power signed the block. This check only predicts
 * which headers the chain accepts, because the chain also verifies the signatures.
 */
export function isTrusted(
  trusted: Powers,
  { signers }: Pick<SignedBlock, "signers">,
  { numerator, denominator }: TrustLevel,
): boolean {
  let [total, signed] = [0n, 0n];
  for (const [address, power] of trusted) {
    total += power;
    if (signers.has(address)) signed += power;
  }
  return signed > (total * numerator) / denominator;
}

export function signedBlock({ signedHeader, validatorSet }: LightBlockBytes): SignedBlock {
  const { signatures = [] } = SignedHeader.decode(signedHeader).commit ?? {};
  const signed = signatures.filter(({ blockIdFlag }) => blockIdFlag === BLOCK_ID_FLAG.commit);
  return {
    signers: new Set(signed.map(({ validatorAddress }) => toHex(validatorAddress))),
    validators: powersOf(validatorSet),
  };
}

function powersOf(validatorSet: Uint8Array): Powers {
  const { validators } = ValidatorSet.decode(validatorSet);
  return new Map(validators.map(({ address, votingPower }) => [toHex(address), votingPower]));
}
