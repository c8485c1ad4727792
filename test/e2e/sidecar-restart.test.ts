import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { openCliHome, until } from "../support/e2e/cli-process.ts";

const whatIf = z.object({ validators: z.tuple([z.object({ misses: z.string().nullable() })]) });

describe("a planned restart of the sidecar", async () => {
  const home = await openCliHome();
  const ports = portsAt(home.portOffset);
  afterAll(home.close);

  const calls = async (status: "Success" | "Failure"): Promise<number> => {
    const page = await (await fetch(`http://127.0.0.1:${ports.localMetrics}/metrics`)).text();
    return Number(
      new RegExp(`^app_oracle_responses\\{.*status="${status}"\\} (\\d+)`, "m").exec(page)?.[1] ?? 0,
    );
  };

  it("costs what what-if said, within a tenth", { timeout: 180_000 }, async ({ annotate }) => {
    const up = home.start("up", "$PORTS");
    await up.printed(/oracle-watchdog +http/);
    const predicted = await until("a known block time", async () => {
      const { stdout } = await home.run("what-if", "--sidecar-restart", "25s", "--json", "$PORTS");
      const [validator] = whatIf.parse(JSON.parse(stdout)).validators;
      return validator.misses === null ? undefined : Number(validator.misses);
    });
    const [failedBefore, goodBefore] = [await calls("Failure"), await calls("Success")];
    const { stdout, code } = await home.run("localnet", "fault", "sidecar-down", "--for", "25s", "$PORTS");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^sidecar-down {2}on until /)]);
    await until("ten failures", async () => ((await calls("Failure")) > failedBefore + 9 ? true : undefined));
    await until("the first success after it", async () =>
      (await calls("Success")) > goodBefore + 3 ? true : undefined,
    );
    const cost = (await calls("Failure")) - failedBefore;
    await annotate(`what-if said ${predicted}, it cost ${cost}`);
    expect(Math.abs(cost - predicted) / predicted).toBeLessThanOrEqual(0.1);
  });
});
