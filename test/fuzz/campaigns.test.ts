import { describe, expect, it } from "vitest";
import { CAMPAIGNS } from "./campaigns.ts";

/** Seeds that failed once, by campaign. */
const KEPT_SEEDS: Readonly<Record<string, readonly number[]>> = {};
/** A campaign stops at the first of the two limits. */
const BUDGET = { inputs: 3_000, seconds: 3 };

describe.each(Object.entries(CAMPAIGNS))("the campaign %s", (name, run) => {
  it.each([1, ...(KEPT_SEEDS[name] ?? [])])(
    "finds nothing with seed %i",
    async (seed) => {
      const { inputs, failures } = await run(seed, BUDGET);
      expect(failures).toEqual([]);
      expect(inputs).toBeGreaterThan(0);
    },
    60_000,
  );
});
