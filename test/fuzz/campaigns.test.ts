import { describe, expect, it } from "vitest";
import { CAMPAIGNS } from "./campaigns.ts";

/** Seeds that failed once, by campaign. */
const KEPT_SEEDS: Readonly<Record<string, readonly number[]>> = {};
const INPUTS = 3_000;

describe.each(Object.entries(CAMPAIGNS))("the campaign %s", (name, run) => {
  it.each([1, ...(KEPT_SEEDS[name] ?? [])])(
    "finds nothing with seed %i",
    async (seed) => {
      const { inputs, failures } = await run(seed, { seconds: 120, inputs: INPUTS });
      expect(failures).toEqual([]);
      expect(inputs).toBe(INPUTS);
    },
    180_000,
  );
});
