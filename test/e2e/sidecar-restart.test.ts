import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { deep } from "../support/e2e/localnet-endpoints.ts";

const whatIf = z.object({ validators: z.tuple([z.object({ misses: z.string() })]) });

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
    await until("a known block time", async () => {
      const status = await getJson(`http://127.0.0.1:${ports.watchdog}/api/status`);
      return deep(status, ["assessment", "block_time_seconds"]) ?? undefined;
    });
    const predict = async (): Promise<number> => {
      const { stdout } = await home.run("what-if", "--sidecar-restart", "25s", "--json", "$PORTS");
      return Number(whatIf.parse(JSON.parse(stdout)).validators[0].misses);
    };
    const before = await predict();
    const failedBefore = await calls("Failure");
    const { stdout, code } = await home.run("localnet", "fault", "sidecar-down", "--for", "25s", "$PORTS");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^sidecar-down {2}on until /)]);
    await until("ten failures", async () => ((await calls("Failure")) > failedBefore + 9 ? true : undefined));
    // Only now: until the command had started, prices still came.
    const good = await calls("Success");
    await until("the first success after it", async () =>
      (await calls("Success")) > good ? true : undefined,
    );
    const cost = (await calls("Failure")) - failedBefore;
    // The block time follows what else the machine does. It was between the two in the meantime.
    const after = await predict();
    await annotate(`what-if said ${before}, it cost ${cost}, what-if says ${after}`);
    expect(cost).toBeGreaterThanOrEqual(Math.min(before, after) * 0.9);
    expect(cost).toBeLessThanOrEqual(Math.max(before, after) * 1.1);
  });
});
