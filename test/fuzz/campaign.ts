import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How long a campaign runs: until one of the limits is reached. */
export interface CampaignBudget {
  readonly seconds: number;
  /** Absent: no limit. With it, equal seeds make equal inputs, whatever the machine is. */
  readonly inputs?: number;
}

export interface CampaignReport {
  /** Number of inputs that were sent. */
  readonly inputs: number;
  /** What was violated, each with the number of its input; empty when all is well. */
  readonly failures: readonly string[];
  /** Most processor time that one input took, in ms; only of campaigns that measure it. */
  readonly slowestMs?: number;
}

/**
 * Sends hostile inputs to a part of the program in this process. The part must not exit, answers at once, and works as before
 * when the inputs are over. Resolves also when the part fails; stops at the first failures.
 */
export type CampaignRun = (seed: number, budget: CampaignBudget) => Promise<CampaignReport>;

export interface Campaign {
  readonly run: CampaignRun;
  /** Fewer inputs show nothing. The tests send as many. */
  readonly minInputs: number;
}

/** Runs a campaign. One that ends with too few inputs has failed, unless fewer were asked for. */
export async function runCampaign(
  { run, minInputs }: Campaign,
  seed: number,
  budget: CampaignBudget,
): Promise<CampaignReport> {
  const report = await run(seed, budget);
  const { inputs, failures } = report;
  const least = Math.min(minInputs, budget.inputs ?? minInputs);
  if (inputs >= least || failures.length > 0) return report;
  return { inputs, failures: [`${inputs} inputs in ${budget.seconds} s are too few: at least ${least}`] };
}

/** Largest number of failures that a campaign collects before it stops. */
const MAX_FAILURES = 10;

/** Yields the numbers of the inputs, from 0, until the budget is used or `failures` has enough entries. */
export function* inputNumbers(
  { seconds, inputs = Number.POSITIVE_INFINITY }: CampaignBudget,
  failures: readonly string[],
): Generator<number> {
  const endMs = performance.now() + seconds * 1_000;
  for (let input = 0; input < inputs && performance.now() < endMs; input++) {
    if (failures.length >= MAX_FAILURES) return;
    yield input;
  }
}

/** CPU time of this process in ms. Unlike wall time, it does not depend on what else the machine does. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Collects garbage and returns the used heap in bytes. */
export function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") collect();
}
