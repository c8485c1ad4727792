import { describe, expect, it } from "vitest";
import { type CampaignRun, inputNumbers, runCampaign } from "./campaign.ts";
import { CAMPAIGNS } from "./campaigns.ts";

describe("with its least number of inputs", () => {
  it.each(Object.entries(CAMPAIGNS))(
    "the campaign %s finds nothing",
    async (_name, campaign) => {
      const budget = { inputs: campaign.minInputs, seconds: Number.POSITIVE_INFINITY };
      const { inputs, failures } = await runCampaign(campaign, 1, budget);
      expect(failures).toEqual([]);
      expect(inputs).toBe(campaign.minInputs);
    },
    300_000,
  );
});

describe("a campaign", () => {
  const run: CampaignRun = async (seed, budget) => ({
    inputs: [...inputNumbers(budget, [])].length,
    failures: seed === 2 ? ["input 0: no answer"] : [],
  });
  const campaign = { run, minInputs: 2 };

  it("fails and says it when it ends with fewer inputs than its minimum", async () => {
    expect(await runCampaign(campaign, 1, { seconds: 0 })).toEqual({
      inputs: 0,
      failures: ["0 inputs in 0 s are too few: at least 2"],
    });
    expect(await runCampaign(campaign, 1, { seconds: 60, inputs: 2 })).toEqual({ inputs: 2, failures: [] });
  });

  it("may have as few inputs as were asked for, and as its failures left it", async () => {
    expect(await runCampaign(campaign, 1, { seconds: 60, inputs: 1 })).toEqual({ inputs: 1, failures: [] });
    expect((await runCampaign(campaign, 2, { seconds: 0 })).failures).toEqual(["input 0: no answer"]);
  });
});
