import { retry } from "../../platform/base/retry.ts";
import { withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import { type BackoffOptions } from "../../platform/base/waits.ts";
import { planChannels, planTransferChannel } from "./channel-work.ts";
import {
  type ClientRefresh,
  createClientRefresh,
  createRetryBackoff,
  deliver,
  type RetryBackoff,
} from "./deliver.ts";
import { CYCLE_FAILURES, cycleFailureOf } from "./errors.ts";
import { type IbcChain, readSnapshot, type Snapshot } from "./ibc-chain.ts";
import { type PacketPlan, planPackets } from "./packet-plan.ts";
import type { IbcRelayerStatus } from "./status.ts";
import { type Work, WORK_KINDS, type WorkKind } from "./work.ts";

/** Relays packets on one connection between two chains. */
export interface IbcRelayer extends Service {
  readonly status: () => IbcRelayerStatus;
}

export interface IbcRelayerDeps {
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
}

/** Deadline for a cycle, which sends at most one transaction to each chain and waits up to 30 s for each transaction. */
const CYCLE_DEADLINE_MS = 120_000;
/** Time between polls of the chains' heights, in ms, while the IBC relayer waits for a new block. */
const POLL_MS = 200;
/** Maximum time until the next cycle if neither chain makes a new block. */
const IDLE_MS = 5_000;
const ERROR_BACKOFF: BackoffOptions = { minMs: 250, baseMs: 500, maxMs: 10_000 };

/** A chain, with the retry backoff and the counters for the IBC relayer's messages to this chain. */
interface Side {
  readonly chain: IbcChain;
  readonly backoff: RetryBackoff;
  readonly done: Record<WorkKind, number>;
  snapshot: Snapshot | undefined;
  channels: Snapshot["latest"];
  pending: number;
  /** Time at which the IBC relayer first saw each of the oldest pending packets, in wall-clock ms, keyed by packet name. */
  firstSeenMs: ReadonlyMap<string, number>;
  unreadable: number;
  lastDoneMs: number | undefined;
}

/**
 * Creates an IBC relayer between two chains. The IBC relayer stores no state, because each cycle reads the pending packets from the
 * chains. If there is no transfer channel, the relayer starts a handshake on the first chain.
 */
export function createIbcRelayer(chains: readonly [IbcChain, IbcChain], deps: IbcRelayerDeps): IbcRelayer {
  const sides = [sideOf(chains[0], deps), sideOf(chains[1], deps)] as const;
  const cycleDeps = { ...deps, refreshClients: createClientRefresh(deps) };
  let lastCycleMs: number | undefined;
  let error: string | undefined;
  const failures = countersOf(CYCLE_FAILURES);
  const recordError = (thrown: unknown): void => {
    const text = errorText(thrown);
    failures[cycleFailureOf(thrown)] += 1;
    if (text !== error) deps.logger.warn("the IBC relayer cannot relay packets", { error: text });
    error = text;
  };
  const recordCycle = (): void => {
    if (error !== undefined) deps.logger.info("the IBC relayer relays packets again");
    error = undefined;
    lastCycleMs = deps.clock.nowMs();
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    const tries = { failures: 0 };
    const runCycles = async (): Promise<void> => {
      while (!signal.aborted) {
        const seen = await withDeadline("a cycle of the IBC relayer", CYCLE_DEADLINE_MS, signal, (inner) =>
          runCycle(sides, cycleDeps, inner),
        );
        recordCycle();
        tries.failures = 0;
        if (seen !== undefined) await untilNewBlock(sides, seen, deps.clock, signal);
      }
    };
    await retry(runCycles, { ...deps, backoff: ERROR_BACKOFF, signal, tries, onError: recordError });
  };
  return {
    name: "IBC relayer",
    run,
    status: () => ({ lastCycleMs, error, failures, chains: sides.map(statusOf) }),
  };
}

/** Returns the status of an IBC relayer that has not yet read the chains. */
export function unstartedStatus(chainIds: readonly string[]): IbcRelayerStatus {
  return {
    lastCycleMs: undefined,
    error: undefined,
    failures: countersOf(CYCLE_FAILURES),
    chains: chainIds.map((chainId) => ({
      chainId,
      ...noProgress(),
      oldestPendingMs: undefined,
      refusals: 0,
      refused: [],
    })),
  };
}

/** Returns an object with a counter for each name, all starting at 0. */
function countersOf<Name extends string>(names: readonly Name[]): Record<Name, number>;
function countersOf(names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, 0]));
}

function sideOf(chain: IbcChain, { clock, random }: IbcRelayerDeps): Side {
  return {
    chain,
    backoff: createRetryBackoff(clock, random),
    snapshot: undefined,
    firstSeenMs: new Map(),
    ...noProgress(),
  };
}

function noProgress() {
  return { done: countersOf(WORK_KINDS), channels: [], pending: 0, unreadable: 0, lastDoneMs: undefined };
}

function statusOf(side: Side): IbcRelayerStatus["chains"][number] {
  const { chain, channels, pending, firstSeenMs, unreadable, done, lastDoneMs, backoff } = side;
  const times = [...firstSeenMs.values()];
  return {
    chainId: chain.chainId,
    channels,
    pending,
    oldestPendingMs: times.length === 0 ? undefined : times.reduce((one, other) => Math.min(one, other)),
    unreadable,
    done,
    lastDoneMs,
    refusals: backoff.refusals(),
    refused: backoff.list(),
  };
}

type Sides = readonly [Side, Side];

type Heights = readonly [bigint, bigint];

interface CycleDeps extends IbcRelayerDeps {
  readonly refreshClients: ClientRefresh;
}

/** Runs one relay cycle. Returns the heights at which it read the chains, or undefined if it sent a transaction. */
async function runCycle(sides: Sides, deps: CycleDeps, signal: AbortSignal): Promise<Heights | undefined> {
  const [first, second] = sides;
  const [one, other] = await Promise.all([snapshotOf(first, signal), snapshotOf(second, signal)]);
  if (one === undefined || other === undefined) return [0n, 0n];
  const [forward, backward] = await Promise.all([
    planPackets(one, other, signal),
    planPackets(other, one, signal),
  ]);
  recordPlan(first, one, forward, deps.clock);
  recordPlan(second, other, backward, deps.clock);
  const { connectionId } = first.chain;
  const opening = planTransferChannel([...one.latest, ...other.latest], connectionId);
  const sent = await awaitBoth([
    serve(first, [...opening, ...workFor(one, other), ...forward.toSource, ...backward.toDestination], {
      from: other,
      deps,
      signal,
    }),
    serve(second, [...workFor(other, one), ...backward.toSource, ...forward.toDestination], {
      from: one,
      deps,
      signal,
    }),
  ]);
  const hasWorked = sent.some((work) => work.length > 0) || (await deps.refreshClients([one, other], signal));
  return hasWorked ? undefined : [one.moment.height, other.moment.height];
}

async function snapshotOf(side: Side, signal: AbortSignal): Promise<Snapshot | undefined> {
  side.snapshot = await readSnapshot(side.chain, signal, side.snapshot);
  return side.snapshot;
}

function workFor(target: Snapshot, from: Snapshot): readonly Work[] {
  const { connectionId } = target.chain;
  return planChannels({ proven: from.proven, latest: target.latest, connectionId });
}

function recordPlan(
  side: Side,
  { latest }: Snapshot,
  { pending, oldest, unreadable }: PacketPlan,
  clock: Pick<Clock, "nowMs">,
): void {
  const nowMs = clock.nowMs();
  side.firstSeenMs = new Map(oldest.map((name) => [name, side.firstSeenMs.get(name) ?? nowMs]));
  Object.assign(side, { channels: latest, pending, unreadable });
}

interface Serving {
  readonly from: Snapshot;
  readonly deps: IbcRelayerDeps;
  readonly signal: AbortSignal;
}

async function serve(
  side: Side,
  work: readonly Work[],
  { from, deps, signal }: Serving,
): Promise<readonly Work[]> {
  const { chain, backoff, done } = side;
  backoff.retain(new Set(work.map(({ name }) => name)));
  const { clock, logger } = deps;
  const refusals = backoff.refusals();
  const sent = await deliver({ chain, backoff }, work, from, { clock, signal });
  if (backoff.refusals() > refusals) for (const one of [chain, from.chain]) one.finder.forget();
  for (const { kind } of sent) done[kind] += 1;
  if (sent.length > 0) side.lastDoneMs = clock.nowMs();
  for (const { kind, name } of sent)
    if (kind === "channel") logger.info("channel handshake step done", { chain: chain.chainId, step: name });
  const packets = sent.filter(({ kind }) => kind !== "channel").length;
  if (packets > 0) logger.info("packets relayed", { chain: chain.chainId, messages: packets });
  return sent;
}

/**
 * Waits for all promises to settle, because a pending transaction must not outlive its cycle. Rejects with the first error, if
 * any.
 */
async function awaitBoth<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
  const results = await Promise.allSettled(work);
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

/**
 * Waits until either chain's height differs from `seen`, for at least {@link POLL_MS} and at most {@link IDLE_MS}. The minimum
 * prevents fast polling while a chain has too few blocks to prove any state.
 */
async function untilNewBlock(sides: Sides, seen: Heights, clock: Clock, signal: AbortSignal): Promise<void> {
  const isNew = async (): Promise<boolean> => {
    const statuses = await Promise.all(sides.map(({ chain }) => chain.client.status(signal)));
    return statuses.some(({ latestHeight }, index) => latestHeight !== seen[index]);
  };
  const endMs = clock.monotonicMs() + IDLE_MS;
  do await clock.sleep(POLL_MS, signal);
  while (clock.monotonicMs() < endMs && !(await isNew()));
}
