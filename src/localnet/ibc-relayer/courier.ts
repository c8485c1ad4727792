import { pause, withDeadline } from "../../platform/base/abort.ts";
import { backoffMs, type BackoffOptions } from "../../platform/base/backoff.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import { planChannels, planTransferChannel } from "./channel-work.ts";
import { type CourierChain, readSnapshot, type Snapshot } from "./courier-chain.ts";
import { CYCLE_FAILURES, cycleFailureOf } from "./courier-error.ts";
import type { CourierStatus } from "./courier-status.ts";
import { deliver, refreshClients } from "./deliver.ts";
import { type PacketPlan, planPackets } from "./packet-plan.ts";
import { createTroubleBook, type TroubleBook } from "./trouble-book.ts";
import { type Work, WORK_KINDS, type WorkKind } from "./work.ts";

/** Carries the packets of one connection between two chains. */
export interface Courier extends Service {
  readonly status: () => CourierStatus;
}

export interface CourierDeps {
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
}

/** A transaction is given up after 30 s; a cycle sends one to each chain. */
const CYCLE_DEADLINE_MS = 120_000;
/** Time between two looks at the heights of the chains. */
const POLL_MS = 200;
/** Longest time between two cycles without a new block. */
const IDLE_MS = 5_000;
const ERROR_BACKOFF: BackoffOptions = { minMs: 250, baseMs: 500, maxMs: 10_000 };

/** One chain during the life of the courier. */
interface Side {
  readonly chain: CourierChain;
  readonly troubles: TroubleBook;
  readonly done: Record<WorkKind, number>;
  channels: Snapshot["latest"];
  pending: number;
  /** When the courier first saw each of the oldest pending packets, by name. */
  firstSeenMs: ReadonlyMap<string, number>;
  unreadable: number;
  lastDoneMs: number | undefined;
}

/**
 * Creates the courier of two chains. It keeps no state: each cycle reads from the chains which packets are on their way. The first
 * chain begins the handshake of a channel for transfers when neither has one.
 */
export function createCourier(chains: readonly [CourierChain, CourierChain], deps: CourierDeps): Courier {
  const sides = [sideOf(chains[0], deps), sideOf(chains[1], deps)] as const;
  let lastCycleMs: number | undefined;
  let error: string | undefined;
  const failures = countersOf(CYCLE_FAILURES);
  const noteError = (thrown: unknown): void => {
    const text = errorText(thrown);
    failures[cycleFailureOf(thrown)] += 1;
    if (text !== error) deps.logger.warn("the courier cannot carry packets", { error: text });
    error = text;
  };
  const noteCycle = (): void => {
    if (error !== undefined) deps.logger.info("the courier carries packets again");
    error = undefined;
    lastCycleMs = deps.clock.nowMs();
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    let failed = 0;
    while (!signal.aborted) {
      try {
        const seen = await withDeadline("a cycle of the courier", CYCLE_DEADLINE_MS, signal, (inner) =>
          runCycle(sides, deps, inner),
        );
        noteCycle();
        failed = 0;
        if (seen !== undefined) await untilNewBlock(sides, seen, deps.clock, signal);
      } catch (thrown) {
        // The chains may stop first and break a call.
        if (signal.aborted) return;
        noteError(thrown);
        await pause(backoffMs(failed, ERROR_BACKOFF, deps.random), deps.clock, signal);
        failed += 1;
      }
    }
  };
  return {
    name: "courier",
    run,
    status: () => ({ lastCycleMs, error, failures, chains: sides.map(statusOf) }),
  };
}

/** Returns the status of a courier between these chains before it has looked at them. */
export function unstartedStatus(chainIds: readonly string[]): CourierStatus {
  return {
    lastCycleMs: undefined,
    error: undefined,
    failures: countersOf(CYCLE_FAILURES),
    chains: chainIds.map((chainId) => ({
      chainId,
      channels: [],
      pending: 0,
      oldestPendingMs: undefined,
      unreadable: 0,
      done: countersOf(WORK_KINDS),
      lastDoneMs: undefined,
      refusals: 0,
      refused: [],
    })),
  };
}

/** Returns a counter at 0 for each name. */
function countersOf<Name extends string>(names: readonly Name[]): Record<Name, number>;
function countersOf(names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, 0]));
}

function sideOf(chain: CourierChain, { clock, random }: CourierDeps): Side {
  return {
    chain,
    troubles: createTroubleBook(clock, random),
    done: countersOf(WORK_KINDS),
    channels: [],
    pending: 0,
    firstSeenMs: new Map(),
    unreadable: 0,
    lastDoneMs: undefined,
  };
}

function statusOf(side: Side): CourierStatus["chains"][number] {
  const { chain, channels, pending, firstSeenMs, unreadable, done, lastDoneMs, troubles } = side;
  const times = [...firstSeenMs.values()];
  return {
    chainId: chain.chainId,
    channels,
    pending,
    oldestPendingMs: times.length === 0 ? undefined : times.reduce((one, other) => Math.min(one, other)),
    unreadable,
    done,
    lastDoneMs,
    refusals: troubles.noted(),
    refused: troubles.list(),
  };
}

type Sides = readonly [Side, Side];

/** Heights of both chains. */
type Heights = readonly [bigint, bigint];

/** Looks at both chains once and sends what they need. Returns the heights that it saw, or undefined when it sent something. */
async function runCycle(sides: Sides, deps: CourierDeps, signal: AbortSignal): Promise<Heights | undefined> {
  const [first, second] = sides;
  const snapshots = await Promise.all([
    readSnapshot(first.chain, signal),
    readSnapshot(second.chain, signal),
  ]);
  const [one, other] = snapshots;
  if (one === undefined || other === undefined) return [0n, 0n];
  const [away, back] = await Promise.all([planPackets(one, other, signal), planPackets(other, one, signal)]);
  noteSeen(first, one, away, deps.clock);
  noteSeen(second, other, back, deps.clock);
  const { connectionId } = first.chain;
  const opening = planTransferChannel([...one.latest, ...other.latest], connectionId);
  const sent = await settleBoth([
    serve(first, [...opening, ...workFor(one, other), ...away.toSource, ...back.toDestination], {
      from: other,
      deps,
      signal,
    }),
    serve(second, [...workFor(other, one), ...back.toSource, ...away.toDestination], {
      from: one,
      deps,
      signal,
    }),
  ]);
  const hasWorked =
    sent.some((work) => work.length > 0) || (await refreshClients([one, other], deps, signal));
  return hasWorked ? undefined : [one.moment.height, other.moment.height];
}

function workFor(target: Snapshot, from: Snapshot): readonly Work[] {
  const { connectionId } = target.chain;
  return planChannels({ proven: from.proven, latest: target.latest, connectionId });
}

function noteSeen(
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
  readonly deps: CourierDeps;
  readonly signal: AbortSignal;
}

async function serve(
  side: Side,
  work: readonly Work[],
  { from, deps, signal }: Serving,
): Promise<readonly Work[]> {
  const { chain, troubles, done } = side;
  troubles.keep(new Set(work.map(({ name }) => name)));
  const { clock, logger } = deps;
  const sent = await deliver({ chain, troubles }, work, from, { clock, signal });
  for (const { kind } of sent) done[kind] += 1;
  if (sent.length > 0) side.lastDoneMs = clock.nowMs();
  for (const { kind, name } of sent)
    if (kind === "channel") logger.info("a step of a channel is done", { chain: chain.chainId, step: name });
  const packets = sent.filter(({ kind }) => kind !== "channel").length;
  if (packets > 0) logger.info("packets carried", { chain: chain.chainId, messages: packets });
  return sent;
}

/** Waits for both, also when one fails: a transaction that is being sent must not outlive its cycle. Throws the first error. */
async function settleBoth<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
  const results = await Promise.allSettled(work);
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

/**
 * Returns when a chain has a block after `seen`, and after {@link IDLE_MS}. Waits at least {@link POLL_MS}: a chain that is too young
 * to prove anything is read again all the same.
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
