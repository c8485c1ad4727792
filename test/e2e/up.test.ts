import { afterAll, describe, expect, it } from "vitest";
import { getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { deep, localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";

/** `up` stops within two seconds. The test allows twice as much for a busy machine. */
const STOP_MS = 4_000;

describe("relaywatch up", async () => {
  const home = await openCliHome();
  const localnet = localnetEndpoints(home.portOffset);
  afterAll(home.close);

  it("exits with 0 after the first proven result and a success rate", async () => {
    const { code, stdout, stderr } = await home.run("up", "--until-first-result", "$PORTS");
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^local-1 REST +${localnet.rest}$`, "m"));
    expect(stdout).toMatch(
      /[1-9]\d* results?, 0 backing off {2}\| {2}oracle: [\d.]+ % of \d+ blocks?, too early for a tier\n$/,
    );
  });

  it("serves the result and the rate while it runs, and stops after SIGINT", async ({ annotate }) => {
    const up = home.start("up", "$PORTS");
    await up.printed(/oracle-watchdog +http/);
    const result = await until("a result", () =>
      localnet.read("/neutron/interchainqueries/query_result?query_id=1", "result"),
    );
    expect(result).toMatchObject({ kv_results: [{ storage_prefix: "bank", Proof: null }], revision: "1" });
    // On a busy machine oracle calls can time out, so the first block need not be good and the rate need not be 100 %.
    const status = await until("a good block", async () => {
      const current = await getJson(`${localnet.watchdog}/api/status`);
      return Number(deep(current, ["blocks", "good"])) > 0 ? current : undefined;
    });
    expect(status).toMatchObject({ chain_id: "local-1", tier: expect.stringMatching(/./) });
    expect(Number(deep(status, ["success_rate_percent"]))).toBeGreaterThan(0);
    const signalledMs = performance.now();
    up.kill("SIGINT");
    expect(await up.exited).toBe(0);
    const tookMs = performance.now() - signalledMs;
    await annotate(`stopped ${tookMs.toFixed(0)} ms after SIGINT`);
    expect(tookMs).toBeLessThan(STOP_MS);
    expect(up.stderr()).not.toMatch(/"level":"(?:error|fatal)"/);
  });
});
