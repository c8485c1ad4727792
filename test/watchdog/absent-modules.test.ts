import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decodeBech32, toBase64 } from "../../src/platform/base/bytes.ts";
import { lacksModule } from "../../src/watchdog/sources/chain-rest.ts";
import type { PageReader } from "../../src/watchdog/sources/page-reader.ts";
import { statusView } from "../../src/watchdog/polling/status-json.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { createReceiver, type Rig, rigConfig, startRig } from "../support/watchdog/rig.ts";
import { createWorld } from "../support/watchdog/world.ts";

const START_MS = Date.UTC(2026, 9, 10);
/** A validator of the recorded set. */
const OWN = "neutronvalcons16jsxy6n6x6xxkkdx2whumthegrfklpw7y5klld";

type Answer = readonly [status: number, body: unknown];

const PRICES = {
  prices: ["9712345000", "3345670000"].map((price, index) => ({
    price: { price, block_timestamp: new Date(START_MS).toISOString(), block_height: "1" },
    decimals: String(5 + index),
  })),
};

/** A chain with blocks of one second whose modules answer as `answers` say, by a part of the path. */
function chainWorld(clock: ManualClock, answers: Record<string, Answer>): PageReader {
  const world = createWorld(clock);
  const height = (): string => String(1 + Math.floor((clock.nowMs() - START_MS) / 1000));
  const answer = (path: string): Answer => {
    if (path.endsWith("/blocks/latest")) {
      const header = { chain_id: "test-1", height: height(), time: new Date(clock.nowMs()).toISOString() };
      const signature = {
        block_id_flag: "BLOCK_ID_FLAG_COMMIT",
        validator_address: toBase64(decodeBech32(OWN).bytes),
      };
      return [200, { block: { header, last_commit: { signatures: [signature] } } }];
    }
    if (path.endsWith("/validatorsets/latest"))
      return [200, { validators: [{ address: OWN, voting_power: "10" }] }];
    return Object.entries(answers).find(([part]) => path.includes(part))?.[1] ?? [404, {}];
  };
  return async (url, signal) => {
    const { port, pathname } = new URL(url);
    if (port !== "1317") return world.read(url, signal);
    const [status, body] = answer(pathname);
    return { status, body: bytes(JSON.stringify(body)) };
  };
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

describe("a chain without modules", () => {
  const clock = createManualClock(START_MS);
  const stateDir = mkdtempSync(join(tmpdir(), "relaywatch-absent-"));
  const ABSENT: Record<string, Answer> = {
    "/slinky/": [501, { code: 12, message: "Not Implemented" }],
    "/connect/": [404, "404 page not found"],
    "/revenue/": [500, { code: 2, message: "unknown query path: unknown request" }],
    "/slashing/": [400, { code: 12, message: "unknown service cosmos.slashing.v1beta1.Query" }],
    "/upgrade/": [404, {}],
  };
  const answers = { ...ABSENT };
  let rig: Rig;
  const start = async (): Promise<void> => {
    const [validator = expect.unreachable()] = rigConfig().validators;
    const chain = { rest: "http://chain:1317", module: "neutron", pairs: ["BTC/USD", "ETH/USD"] };
    const target = { ...validator.target, consensusAddress: OWN, chain };
    const config = rigConfig({ stateDir, validators: [{ ...validator, target }] });
    rig = await startRig(config, clock, { read: chainWorld(clock, answers) }, createReceiver());
  };
  beforeEach(start);
  afterEach(async () => {
    await rig.stop();
    rmSync(stateDir, { recursive: true, force: true });
  });

  const status = () => rig.watchdog.statuses()[0] ?? expect.unreachable();
  const reasonOf = (alert: string): string | undefined => {
    const state = status().alerts.find(({ rule }) => rule.condition.name === alert)?.state;
    return state?.phase === "firing" ? state.reason : undefined;
  };
  const page = async (): Promise<string> => (await fetch(`${rig.url}/validators/default/sources`)).text();

  it("says it once, and cannot see only what it has seen, also before a restart", async () => {
    await clock.advance(1_800_000);
    expect(status().alerts.filter(({ state }) => state?.phase === "firing")).toEqual([]);
    const lacking =
      "The chain has no price module and no revenue module and no upgrade module and no slashing module";
    const text = await page();
    expect(text.split(lacking)).toHaveLength(2);
    expect(text.split(/no (?:price|revenue|upgrade|slashing) module/)).toHaveLength(5);
    expect(text).not.toMatch(/chain-prices|[Cc]annot see/);
    expect(statusView.json(status())["sources"]).toContainEqual(
      expect.objectContaining({ name: "chain-prices", up: true, error: null, absent: true }),
    );
    // A module that fails, and one that has come.
    answers["/slinky/"] = [200, PRICES];
    answers["/revenue/"] = [500, { code: 2, message: "context deadline exceeded" }];
    await clock.advance(10_000);
    expect(await page()).toContain("The chain has no upgrade module and no slashing module");
    await rig.stop();
    answers["/slinky/"] = [501, {}];
    answers["/revenue/"] = ABSENT["/revenue/"] ?? expect.unreachable();
    await start();
    await clock.advance(600_000);
    expect(reasonOf("cannot-see-chain")).toMatch(
      /^the chain queries cannot be read: prices: the endpoint says .* no such module, although it had one/,
    );
    expect(await page()).toContain(
      "The chain has no revenue module and no upgrade module and no slashing module",
    );
    answers["/slinky/"] = [200, PRICES];
    await clock.advance(120_000);
    expect(reasonOf("cannot-see-chain")).toBeUndefined();
  });

  it("forgets a module that an upgrade removed", async () => {
    answers["/slinky/"] = [200, PRICES];
    // In 20 blocks, so that the modules disappear when the chain has passed it.
    const height = String(21 + Math.floor((clock.nowMs() - START_MS) / 1000));
    answers["/upgrade/"] = [200, { plan: { name: "v10", height, info: "" } }];
    await clock.advance(30_000);
    Object.assign(answers, ABSENT, { "/upgrade/": [200, { plan: null }] });
    await clock.advance(3_600_000);
    expect(reasonOf("cannot-see-chain")).toBeUndefined();
    expect(await page()).toContain(
      "The chain has no price module and no revenue module and no slashing module",
    );
  });
});

describe("a recorded endpoint of a chain", () => {
  interface Call {
    readonly chain_id?: string;
    readonly path: string;
    readonly status: number;
    readonly body: unknown;
  }
  const callsOf = (file: string): readonly Call[] =>
    JSON.parse(readFileSync(new URL(`../fixtures/${file}`, import.meta.url), "utf8"));
  const calls = [
    ...callsOf("rest.json"),
    ...callsOf("modules/rest.json").filter(({ chain_id: id }) => id === "test-1"),
  ];

  /** Responds as the recorded nodes did. Only the newest block, which a recording has once, goes on with the clock. */
  function recordedWorld(clock: ManualClock): PageReader {
    const world = createWorld(clock);
    return async (url, signal) => {
      const { port, pathname, search } = new URL(url);
      if (port !== "1317") return world.read(url, signal);
      const call = calls.find(({ path }) => path === `${pathname}${decodeURIComponent(search)}`);
      const found = call ?? calls.find(({ path }) => path === pathname);
      const text = typeof found?.body === "string" ? found.body : JSON.stringify(found?.body ?? "Not Found");
      const seconds = Math.floor((clock.nowMs() - START_MS) / 1000);
      const body = pathname.endsWith("/blocks/latest")
        ? text
            .replaceAll(/"height":"\d+"/g, `"height":"${seconds + 1}"`)
            .replaceAll(/"time":"[^"]+"/g, `"time":"${new Date(clock.nowMs()).toISOString()}"`)
        : text;
      return { status: found?.status ?? 404, body: bytes(body) };
    };
  }

  it("has half an hour of health without a single alert", async () => {
    const clock = createManualClock(START_MS);
    const [validator = expect.unreachable()] = rigConfig().validators;
    const chain = { rest: "http://chain:1317", module: "neutron", pairs: ["BTC/USD"] };
    const target = { ...validator.target, consensusAddress: OWN, chain };
    const config = rigConfig({ validators: [{ ...validator, target }] });
    const rig = await startRig(config, clock, { read: recordedWorld(clock) }, createReceiver());
    await clock.advance(1_800_000);
    expect(rig.log.filter((line) => line.includes("alert firing"))).toEqual([]);
    const [status = expect.unreachable()] = rig.watchdog.statuses();
    expect(
      status.alerts.flatMap(({ rule, state }) => (state === undefined ? [] : [rule.condition.name])),
    ).toEqual([]);
    expect(status.sources.filter(({ name, up }) => name.startsWith("chain-") && !up)).toEqual([]);
    expect(status.current.counts).toMatchObject({ good: 1800n, bad: 0n });
    await rig.stop();
  });
});

it.each([
  [501, "", true],
  [404, "404 page not found", true],
  [404, '{"code":5,"message":"validator not found"}', false],
  [500, '{"code":2,"message":"unknown query path: unknown request"}', true],
  [500, '{"code":2,"message":"no price reported for BTC/USD"}', false],
  [429, "unknown service", false],
  [503, "unknown service", false],
])("HTTP %i %s says that there is no module: %s", (code, text, expected) =>
  expect(lacksModule(code, text)).toBe(expected),
);
