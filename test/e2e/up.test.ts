import { afterAll, describe, expect, it } from "vitest";
import { getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { deep, localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";

/** Two seconds are promised; the rest is for a machine that is busy with other things. */
const STOP_MS = 4_000;

describe("relaywatch up", () => {
  const home = openCliHome(5_000);
  const faces = localnetEndpoints(home.portOffset);
  afterAll(home.close);

  it("ends with 0 as soon as there are a proven result and a success rate", async () => {
    const { code, stdout, stderr } = await home.run("up", "--until-first-result", "$PORTS");
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^local-1 REST +http:\/\/127\.0\.0\.1:6317$/m);
    expect(stdout).toMatch(/[1-9]\d* results, 0 held back {2}\| {2}oracle: [\d.]+ %, tier full\n$/);
  });

  it("shows the result and the rate while it runs, and stops when asked", async ({ annotate }) => {
    const up = home.start("up", "$PORTS");
    await up.printed(/oracle-watchdog +http/);
    const result = await until("a result", () =>
      faces.read("/neutron/interchainqueries/query_result?query_id=1", "result"),
    );
    expect(result).toMatchObject({ kv_results: [{ storage_prefix: "bank", Proof: null }], revision: "1" });
    const status = await until("a success rate", async () => {
      const seen = await getJson(`${faces.watchdog}/api/status`);
      return deep(seen, ["success_rate_percent"]) === null ? undefined : seen;
    });
    expect(status).toMatchObject({ chain_id: "local-1", success_rate_percent: "100.0000", tier: "full" });
    const askedMs = performance.now();
    up.kill("SIGINT");
    expect(await up.exited).toBe(0);
    const tookMs = performance.now() - askedMs;
    await annotate(`stopped ${tookMs.toFixed(0)} ms after it was asked to`);
    expect(tookMs).toBeLessThan(STOP_MS);
    expect(up.stderr()).not.toMatch(/"level":"(?:error|fatal)"/);
  });
});
