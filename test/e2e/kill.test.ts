import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliProcess, getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { deep, localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";

const home = await openCliHome();
const localnet = localnetEndpoints(home.portOffset);
const chains = ["--block-time", "300", "--home", join(home.directory, "chains"), "$PORTS"];
const PARTS = {
  remote: ["localnet", "start", "remote", ...chains],
  local: ["localnet", "start", "local", ...chains],
  sidecar: ["localnet", "start", "sidecar", "$PORTS"],
  relayer: ["relayer", "start", "--state-dir", join(home.directory, "relayer"), "$PORTS"],
  watchdog: ["watchdog", "start", "--state-dir", join(home.directory, "watchdog"), "$PORTS"],
} as const;
type Part = keyof typeof PARTS;
const running = new Map<Part, CliProcess>();

async function start(part: Part): Promise<void> {
  const cli = home.start(...PARTS[part]);
  running.set(part, cli);
  await cli.printed(/http:\/\//);
}

async function killAndStart(part: Part): Promise<void> {
  running.get(part)?.kill("SIGKILL");
  expect(await running.get(part)?.exited).toBeNull();
  await start(part);
}

async function freshResults(): Promise<void> {
  const last = await localnet.lastResult(1);
  const next = await localnet.resultAfter(1, last);
  await localnet.resultAfter(1, next);
}

/** Returns the hash of a block. It must be the same before and after a restart. */
async function blockHash(chain: "local" | "remote", height: bigint): Promise<unknown> {
  const block = await getJson(`${localnet.rpc[chain]}/block?height=${height}`);
  return deep(block, ["result", "block_id", "hash"]);
}

async function pricesState(): Promise<unknown> {
  const status = await getJson(`${localnet.watchdog}/api/status`);
  const sources = deep(status, ["sources"]);
  return Array.isArray(sources) && sources.every((source: unknown) => deep(source, ["up"]) === true)
    ? deep(status, ["prices", "state"])
    : undefined;
}

describe("parts that run separately", () => {
  beforeAll(async () => {
    for (const part of ["remote", "sidecar", "local", "relayer", "watchdog"] as const) await start(part);
    await localnet.resultAfter(1, 0n);
  });
  afterAll(home.close);

  it.each(["remote", "local"] as const)("continue after SIGKILL of the %s chain", async (chain) => {
    const height = await localnet.height(chain);
    const hash = await blockHash(chain, height);
    await killAndStart(chain);
    expect(await blockHash(chain, height)).toBe(hash);
    await until("the next heights", async () =>
      (await localnet.height(chain)) > height + 2n ? true : undefined,
    );
    await freshResults();
  });

  it("continue after SIGKILL of the relayer", async () => {
    await killAndStart("relayer");
    await freshResults();
  });

  it("continue after SIGKILL of the sidecar", async () => {
    await killAndStart("sidecar");
    expect(await until("prices and all sources", pricesState)).toBe("present");
    await freshResults();
  });

  it("continue after SIGKILL of the watchdog, which keeps its counts", async () => {
    const before = await getJson(`${localnet.watchdog}/api/status`);
    await killAndStart("watchdog");
    const after = await until("a rate", async () => {
      const status = await getJson(`${localnet.watchdog}/api/status`);
      return deep(status, ["success_rate_percent"]) === null ? undefined : status;
    });
    const good = (status: unknown): number => Number(deep(status, ["blocks", "good"]));
    expect(good(before)).toBeGreaterThan(0);
    expect(good(after)).toBeGreaterThanOrEqual(good(before));
  });

  it("exit with 0 after SIGTERM", async () => {
    for (const part of ["relayer", "watchdog", "local", "remote", "sidecar"] as const) {
      const cli = running.get(part);
      cli?.kill("SIGTERM");
      expect([part, await cli?.exited]).toEqual([part, 0]);
    }
  });

  it("leave a state that another home can start from", async () => {
    const from = ["--home", join(home.directory, "chains")];
    const printed = await home.run("localnet", "export", ...from);
    expect([printed.code, printed.stderr]).toEqual([0, ""]);
    const exported: unknown = JSON.parse(printed.stdout);
    const queries = deep(exported, ["app_state", "interchainqueries"]);
    expect(queries).toMatchObject({
      registered_queries: [{ id: "1" }],
      query_results: [{ query_id: "1", result: { revision: "1" } }],
      last_query_id: "1",
    });
    const file = join(home.directory, "genesis.json");
    writeFileSync(file, printed.stdout);
    const to = ["--home", join(home.directory, "copy")];
    expect((await home.run("localnet", "import", file, ...to)).code).toBe(0);
    await start("remote");
    await home.start("localnet", "start", "local", ...to, "$PORTS").printed(/http:/);
    const first = BigInt(String(deep(exported, ["initial_height"])));
    await until("blocks of the copy", async () =>
      (await localnet.height("local")) > first ? true : undefined,
    );
    const path = "/neutron/interchainqueries/query_result?query_id=1";
    expect(await localnet.read(path, "result", "height")).toBe(
      deep(queries, ["query_results", "0", "result", "height"]),
    );
    await start("relayer");
    await freshResults();
  });
});
