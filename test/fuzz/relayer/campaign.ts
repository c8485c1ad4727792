import { type CampaignRun, inputNumbers } from "../campaign.ts";
import { problemsOf } from "./simulate.ts";

type Simulation = (seed: number) => Promise<readonly string[]>;

/**
 * Simulates a relayer between chains with random faults. An input is a seed: the given one, and each one after it. So
 * `npm run fuzz -- --seed 1 --inputs 1000 relayer` runs the seeds 1 to 1,000.
 */
export const fuzzRelayer = campaignOf((seed) => problemsOf(seed));

/** As {@link fuzzRelayer}, while another relayer submits results of the same queries. */
export const fuzzRelayerBesideAnother = campaignOf((seed) => problemsOf(seed, { besideAnother: true }));

/** As both, with remote values that change rarely, and unchanged ones that are skipped. */
export const fuzzRelayerSkipping = campaignOf((seed) =>
  problemsOf(seed, { besideAnother: seed % 2 === 0, skipUnchanged: 20n }),
);

function campaignOf(simulate: Simulation): CampaignRun {
  return async (seed, budget) => {
    const failures: string[] = [];
    let inputs = 0;
    for (const input of inputNumbers(budget, failures)) {
      inputs += 1;
      const problems = await simulate(seed + input);
      if (problems.length > 0) failures.push(`seed ${seed + input}: ${problems.slice(0, 5).join("; ")}`);
    }
    return { inputs, failures };
  };
}
