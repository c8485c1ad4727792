import type { RegisteredQuery } from "../../../src/relayer/chain/registered-query.ts";
import { toHex } from "../../../src/platform/base/bytes.ts";
import { maxInt } from "../../../src/platform/base/integers.ts";
import { createRandom } from "../random.ts";
import { applyPlan, clearFaults, drawPlan } from "./fault-plan.ts";
import { type SimWorld, startWorld } from "./sim-world.ts";

const FAULTY_SECONDS = 120;
/** Shorter than the time until the list of queries is read again anyway, which would repair what an event should have. */
const CALM_SECONDS = 50;
/** Blocks between two changes of a value, when few change. */
const CHANGE_EVERY = 17n;
/** Blocks that a result may be late: the running cycle, the next one, and the block that includes it. */
const SLACK = 6n;
/** Sleeps of an idle relayer. More of them are a leak. */
const MAX_SLEEPING = 60;

const isAnswerable = ({ type, keys }: RegisteredQuery): boolean =>
  type === "kv" && keys.every(({ path }) => path === "bank");

/** Returns the answerable KV queries whose last result is too old. `maxAge`: blocks that a result may be old while its values are unchanged. */
export function stale(world: SimWorld, connectionId?: string, maxAge = 0n): readonly string[] {
  return world.local
    .registered()
    .filter((query) => isAnswerable(query) && (connectionId ?? query.connectionId) === query.connectionId)
    .filter(
      ({ lastLocalHeight, updatePeriod }) =>
        lastLocalHeight === 0n ||
        world.local.height() - lastLocalHeight > maxInt(updatePeriod, maxAge) + SLACK,
    )
    .map(({ id, lastLocalHeight }) => `query ${id} at ${lastLocalHeight} of ${world.local.height()}`);
}

/** Returns the answerable KV queries whose last result has values that changed an update period and more than `slack` blocks ago. */
export function outdated({ local, remotes }: SimWorld, slack = SLACK): readonly string[] {
  return local.registered().flatMap((query) => {
    const remote = remotes[Number(query.connectionId.replace("connection-", ""))];
    const last = query.lastRemoteHeight?.height;
    if (!isAnswerable(query) || remote === undefined || last === undefined) return [];
    const textAt = (height: bigint): string =>
      query.keys.map(({ key }) => toHex(remote.valueAt(key, height) ?? new Uint8Array())).join();
    for (let at = last + 1n; at <= remote.height() - query.updatePeriod - slack; at++)
      if (textAt(at) !== textAt(last))
        return [`query ${query.id} of ${last} has changed at ${at} of ${remote.height()}`];
    return [];
  });
}

/** Returns the provable transactions of the remote chains that were not delivered. */
export function missingTransactions(world: SimWorld): readonly string[] {
  return world.local
    .registered()
    .filter(({ transactionsFilter }) => transactionsFilter.includes("transfer.recipient"))
    .flatMap(({ id, connectionId }) => {
      const delivered = new Set(world.local.delivered(id));
      return recipientsOrder(world, connectionId).filter(
        (hash) => !delivered.has(hash) && !world.unprovable.has(hash),
      );
    });
}

/** Returns the TX queries whose transactions were delivered in another order than that of their chain. */
function disordered(world: SimWorld): readonly string[] {
  return world.local.registered().flatMap(({ id, connectionId, type }) => {
    const order = recipientsOrder(world, connectionId);
    const positions = type === "tx" ? world.local.delivered(id).map((hash) => order.indexOf(hash)) : [];
    return positions.every((at, index) => at > (positions[index - 1] ?? -1))
      ? []
      : [`query ${id}: ${positions.join()}`];
  });
}

function recipientsOrder({ remotes }: SimWorld, connectionId: string): readonly string[] {
  return remotes[Number(connectionId.replace("connection-", ""))]?.succeeded("bob") ?? [];
}

/** What happens in a simulation besides the random faults. */
interface SeedOptions {
  /** Another relayer submits results of the same queries, now and then. */
  readonly besideAnother?: boolean;
  /** As in the configuration. The remote values change rarely then. */
  readonly skipUnchanged?: bigint;
}

interface EndedRun {
  readonly world: SimWorld;
  /** Fewest sleeps of any of the last seconds: at one instant many calls may be under way. */
  readonly sleeping: number;
}

/** Runs a world with the random faults of a seed, and then without. */
async function runSeed(seed: number, { besideAnother, skipUnchanged }: SeedOptions): Promise<EndedRun> {
  const world = await startWorld(
    seed,
    2,
    skipUnchanged === undefined ? {} : { skipUnchanged, changeEvery: CHANGE_EVERY },
  );
  const plan = drawPlan(world, FAULTY_SECONDS);
  // Numbers of its own, so that a seed makes the same faults with another relayer and without.
  const other = createRandom(seed + 1);
  await world.run(FAULTY_SECONDS, (second) => {
    applyPlan(world, plan, second);
    if (besideAnother === true)
      for (const { id, type } of world.local.registered())
        if (type === "kv" && other.chance(0.1)) world.local.submitAsOther(id);
  });
  clearFaults(world);
  await world.run(CALM_SECONDS - 15);
  world.setTraffic(false);
  let sleeping = Number.POSITIVE_INFINITY;
  await world.run(15, () => {
    sleeping = Math.min(sleeping, world.clock.sleeping());
  });
  return { world, sleeping };
}

/**
 * Returns everything that a relayer did wrong in some minutes of simulated time: rules that it broke while
 * there were faults, and what it had not caught up with afterwards.
 */
export async function problemsOf(seed: number, options: SeedOptions = {}): Promise<readonly string[]> {
  const { world, sleeping } = await runSeed(seed, options);
  const problems = [
    ...world.local.violations(),
    ...stale(world, undefined, options.skipUnchanged),
    ...outdated(world),
    ...missingTransactions(world).map((hash) => `transaction ${hash} was not delivered`),
    ...disordered(world),
    ...[...world.engine.workerErrors().values()].filter((error) => error !== undefined),
    ...unknownQueries(world),
    ...(await unendedAttempts(world)),
  ];
  if (sleeping >= MAX_SLEEPING) problems.push(`${sleeping} sleeps`);
  const stopErrors = await world.stop();
  problems.push(...stopErrors.map((error) => `stop: ${String(error)}`));
  if (world.clock.sleeping() > 0) problems.push(`${world.clock.sleeping()} sleeps after the stop`);
  return problems;
}

/** Each proven result ends as one attempt, unless it is on its way. */
async function unendedAttempts({ metrics, attempts, engine }: SimWorld): Promise<readonly string[]> {
  const values = (await metrics.getSingleMetric("relaywatch_relayer_results_proven_total")?.get())?.values;
  const proven = values?.reduce((sum, { value }) => sum + value, 0) ?? 0;
  const ended = attempts.filter(
    ({ remoteHeight, outcome }) => remoteHeight > 0n && outcome !== "unchanged",
  ).length;
  const { queued, inFlight } = engine.submitter();
  const underway = inFlight.reduce((sum, { results }) => sum + results, queued);
  return proven > 0 && proven === ended + underway
    ? []
    : [`${proven} proven results, ${ended} attempts, ${underway} under way`];
}

function unknownQueries({ registry, local }: SimWorld): readonly string[] {
  const known = new Set(registry.states().map(({ query }) => query.id));
  const registered = new Set(local.registered().map(({ id }) => id));
  return [
    ...[...registered].filter((id) => !known.has(id)).map((id) => `query ${id} is not known`),
    ...[...known].filter((id) => !registered.has(id)).map((id) => `query ${id} is known and does not exist`),
  ];
}
