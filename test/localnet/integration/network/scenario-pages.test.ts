import { afterEach, describe, expect, it } from "vitest";
import type { FaultName } from "../../../../src/localnet/sidecar/faults.ts";
import type { OracleFaultName } from "../../../../src/localnet/node/oracle/oracle-client.ts";
import { restartMisses } from "../../../../src/watchdog/policy/what-if.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { createSimulatedValidator } from "../../../support/localnet/simulated-validator.ts";
import { parsePrometheusText } from "../../../support/watchdog/prometheus-page.ts";

const START = Date.UTC(2026, 10, 21, 12);
let stop = new AbortController();

afterEach(() => {
  stop.abort(new Error("test over"));
  stop = new AbortController();
});

/** What the three pages show, as growth over one minute. */
interface Minute {
  /** Pairs of the prices response; undefined for any other response. */
  readonly pairs: number | undefined;
  readonly pricesStatus: number | undefined;
  /** Age of the timestamp of the prices, ms. */
  readonly ageMs: number | undefined;
  readonly systemUpdates: number | undefined;
  readonly tickerUpdates: number | undefined;
  readonly reads: number | undefined;
  readonly success: number;
  readonly failure: number;
  readonly blocks: number;
  readonly latencyInf: number;
  readonly missingOnChain: number;
  readonly absentOnChain: number;
}

function start() {
  const clock = createManualClock(START);
  const validator = createSimulatedValidator(clock, stop.signal);
  const sums = async (
    port: 8002 | 26660,
  ): Promise<((name: string, labels?: string) => number) | undefined> => {
    const page = await validator.page(port);
    if (page === undefined) return undefined;
    const { samples } = parsePrometheusText(new TextEncoder().encode(page.text));
    return (name, wanted = "") =>
      samples
        .filter(
          (sample) => sample.name === name && (wanted === "" || [...sample.labels.values()].includes(wanted)),
        )
        .reduce((sum, { value }) => sum + value, 0);
  };
  /** Runs for one minute. An absent counter is treated as zero, and a page that is gone as undefined. */
  const minute = async (): Promise<Minute> => {
    const [nodeBefore, sidecarBefore, from] = [await sums(26660), await sums(8002), validator.height()];
    await clock.advance(60_000);
    const [node, sidecar, to] = [await sums(26660), await sums(8002), validator.height()];
    const ofNode = (name: string, label?: string) =>
      (node?.(name, label) ?? 0) - (nodeBefore?.(name, label) ?? 0);
    const ofSidecar = (name: string, label?: string) =>
      sidecar && sidecar(`side_car_${name}`, label) - (sidecarBefore?.(`side_car_${name}`, label) ?? 0);
    // A slow response needs time, which passes on the manual clock only.
    const pricesReply = validator.page(8080, "/slinky/oracle/v1/prices");
    await clock.advance(3_000);
    const prices = await pricesReply;
    const body: { prices?: object; timestamp?: string } | undefined =
      prices?.status === 200 ? JSON.parse(prices.text) : undefined;
    return {
      pricesStatus: prices?.status,
      pairs: body && Object.keys(body.prices ?? {}).length,
      ageMs: body && clock.nowMs() - Date.parse(body.timestamp ?? ""),
      systemUpdates: ofSidecar("health_check_system_updates_total"),
      tickerUpdates: ofSidecar("health_check_ticker_updates_total", "btc/usd"),
      reads: ofSidecar("web_socket_connection_status", "read_success"),
      success: ofNode("app_oracle_responses", "Success"),
      failure: ofNode("app_oracle_responses", "Failure"),
      blocks: to - from,
      latencyInf:
        ofNode("app_oracle_response_latency_bucket", "+Inf") -
        ofNode("app_oracle_response_latency_bucket", "512"),
      missingOnChain: ofNode("app_report_status_per_validator", "missing_price"),
      absentOnChain: ofNode("app_report_status_per_validator", "absent"),
    };
  };
  return { clock, validator, minute };
}

async function minuteWith(fault: FaultName | OracleFaultName, afterMs = 0): Promise<Minute> {
  const { clock, validator, minute } = start();
  await clock.advance(30_000);
  validator.setFault(fault, true);
  await clock.advance(afterMs);
  return minute();
}

describe("the pages of a local validator", () => {
  it("healthy", async () => {
    const { clock, minute } = start();
    await clock.advance(30_000);
    const { ageMs, ...shown } = await minute();
    expect(shown).toMatchObject({
      pairs: 8,
      pricesStatus: 200,
      systemUpdates: 240,
      tickerUpdates: 240,
      failure: 0,
    });
    expect(shown.success).toBe(60);
    expect(ageMs).toBeLessThan(1000 + 3000);
  });

  it("a few pairs missing: the others stay, and so does Success", async () => {
    expect(await minuteWith("pair-missing")).toMatchObject({
      pairs: 7,
      tickerUpdates: 240,
      success: 60,
      failure: 0,
    });
  });

  it("major pairs missing: Success too", async () => {
    expect(await minuteWith("major-pairs-missing", 5_000)).toMatchObject({
      pairs: 5,
      tickerUpdates: 0,
      success: 60,
    });
  });

  it("one WebSocket flaps: nothing is lost", async () => {
    expect(await minuteWith("websocket-flap")).toMatchObject({
      pairs: 8,
      tickerUpdates: 240,
      success: 60,
      failure: 0,
    });
  });

  it("all WebSockets down: {} after two minutes, the loop goes on, Success goes on, no price on chain", async () => {
    const early = await minuteWith("websocket-providers-down");
    expect(early).toMatchObject({ pairs: 8, reads: 0, success: 60 });
    const late = await minuteWith("websocket-providers-down", 130_000);
    expect(late).toMatchObject({
      pairs: 0,
      reads: 0,
      systemUpdates: 240,
      tickerUpdates: 0,
      success: 60,
      failure: 0,
    });
    expect(late.missingOnChain).toBe(60 * 8);
  });

  it("sidecar down: refused, Failure each block, every second block is lost", async () => {
    const down = await minuteWith("sidecar-down", 60_000);
    expect(down).toMatchObject({
      pricesStatus: undefined,
      systemUpdates: undefined,
      success: 0,
      failure: 30,
      blocks: 30,
    });
    expect(down.latencyInf).toBe(30);
  });

  it("sidecar killed: connections are refused immediately", async () => {
    expect(await minuteWith("sidecar-killed")).toMatchObject({
      pricesStatus: undefined,
      success: 0,
      failure: 30,
    });
  });

  it("sidecar slow: a late 200, Failure each block", async () => {
    const slow = await minuteWith("slow");
    expect(slow).toMatchObject({
      pricesStatus: 200,
      pairs: 8,
      success: 0,
      systemUpdates: 240,
      latencyInf: 30,
    });
    expect(slow.failure).toBe(30);
  });

  it("tick loop hung: timestamp and prices are frozen, Success goes on", async () => {
    const hung = await minuteWith("timestamp-stale");
    expect(hung).toMatchObject({ pairs: 8, systemUpdates: 0, success: 60, failure: 0 });
    expect(hung.ageMs).toBeGreaterThan(60_000);
  });

  it("startup: the year 1 and {}, Success goes on", async () => {
    const startup = await minuteWith("startup");
    expect(startup).toMatchObject({ pairs: 0, success: 60, failure: 0 });
    expect(startup.ageMs).toBeGreaterThan(63e12 - 62e12);
  });

  it("node restart: the series are gone, then count from 0", async () => {
    const { clock, validator } = start();
    await clock.advance(60_000);
    validator.restartNode();
    expect((await validator.page(26660))?.text).not.toContain("app_oracle_responses{");
    await clock.advance(10_000);
    expect((await validator.page(26660))?.text).toContain(
      'app_oracle_responses{chain_id="local-1",status="Success"} 10\n',
    );
  });

  it.each([
    ["v1-only", "/connect/oracle/v2/prices", "/slinky/oracle/v1/prices"],
    ["v2-only", "/slinky/oracle/v1/prices", "/connect/oracle/v2/prices"],
  ] as const)("%s: one path is 404, and Success goes on", async (fault, hidden, served) => {
    const { clock, validator } = start();
    validator.setFault(fault, true);
    await clock.advance(10_000);
    expect([
      (await validator.page(8080, hidden))?.status,
      (await validator.page(8080, served))?.status,
    ]).toEqual([404, 200]);
    expect((await validator.page(26660))?.text).not.toContain("Failure");
  });

  it("vote extensions missing: Success for the node, absent on chain", async () => {
    expect(await minuteWith("vote-extensions-missing")).toMatchObject({
      success: 60,
      absentOnChain: 480,
      missingOnChain: 0,
    });
  });

  it("pre-block errors: neither Success nor Failure", async () => {
    expect(await minuteWith("pre-block-error")).toMatchObject({ success: 0, failure: 0, blocks: 60 });
  });

  it("malformed price: Success for the node, no price on chain", async () => {
    expect(await minuteWith("malformed-price")).toMatchObject({
      success: 60,
      failure: 0,
      missingOnChain: 480,
    });
  });
});

describe("a planned restart of the sidecar", () => {
  // The phase is the time from the last vote to the stop.
  it.each([0, 250, 500, 740, 760, 990])(
    "%i ms after a vote, of 25 s, costs what what-if says within a tenth",
    async (phaseMs) => {
      const { clock, validator } = start();
      await clock.advance(60_000 + phaseMs);
      validator.setFault("sidecar-down", true);
      await clock.advance(25_000);
      validator.setFault("sidecar-down", false);
      const calls = async (status: string): Promise<number> => {
        const text = (await validator.page(26660))?.text ?? "";
        return Number(new RegExp(`app_oracle_responses\\{.*status="${status}"\\} (\\d+)`).exec(text)?.[1]);
      };
      const success = await calls("Success");
      await clock.advance(8_000);
      // The node does not know yet that the sidecar is back.
      expect(await calls("Success")).toBe(success);
      await clock.advance(60_000);
      expect(await calls("Success")).toBeGreaterThan(success);
      const cost = await calls("Failure");
      const predicted = Number(restartMisses({ downMs: 25_000, blockTimeMs: 1000, chainWaits: true }));
      expect(predicted).toBe(22);
      expect(Math.abs(cost - predicted) / predicted).toBeLessThanOrEqual(0.1);
    },
  );

  it("that is killed costs no drain, and connecting again takes longer after a longer outage", async () => {
    const { clock, validator } = start();
    await clock.advance(60_500);
    validator.setFault("sidecar-killed", true);
    await clock.advance(35_000);
    validator.setFault("sidecar-killed", false);
    await clock.advance(60_000);
    // A real node was measured to fail for 21 blocks.
    expect((await validator.page(26660))?.text).toContain('status="Failure"} 22\n');
  });
});
