import { randomBytes } from "node:crypto";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WORKBENCH_MODULES } from "../../src/workbench/modules/workbench-modules.ts";
import { createGasProfiles } from "../../src/workbench/profile/profile-tx.ts";
import { readContract } from "../../src/localnet/cli/contract-code.ts";
import { CHAINS } from "../../src/localnet/accounts/chains.ts";
import { livePageRoutes } from "../../src/platform/web/live-page.ts";
import { createContractPage } from "../../src/workbench/contract-page.ts";
import { createContractWatch } from "../../src/workbench/contract-watch.ts";
import type { PlacedContract } from "../../src/localnet/genesis/scenario-genesis.ts";
import { createLocalnet } from "../../src/localnet/network/create-localnet.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { openHttp } from "../support/localnet/open-routes.ts";
import { type ChainEnd, openEnd } from "../support/localnet/chain-end.ts";
import { buildContract, buildEchoContract } from "../support/vm/wasm-builder.ts";

const stop = new AbortController();
const reports: string[] = [];
const placed: PlacedContract[] = [];
let local: ChainEnd;
let folder: string;
let url: string;
const running: Promise<unknown>[] = [];

function start(run: (signal: AbortSignal) => Promise<void>): void {
  const done = run(stop.signal);
  done.catch(() => {});
  running.push(done);
}

const profiles = createGasProfiles();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-watch-"));
  const free = { host: "127.0.0.1", port: 0, portOption: "--port" };
  const chain = { rpc: free, validatorPowers: [10n] };
  const contracts = ["one", "two"].map((label) => {
    const code = buildEchoContract();
    writeFileSync(fileOf(label), code);
    return { code, label, admin: "alice", init: { ok: {} } };
  });
  const localnet = createLocalnet(
    {
      chains: {
        local: { ...chain, contracts, onContract: (one) => void placed.push(one) },
        remote: chain,
      },
      blockTimeMs: 100,
      remoteRpcUrl: "http://127.0.0.1:1",
    },
    {
      clock: systemClock,
      logger: silentLogger,
      extension: ({ part }) => (part === "local" ? { ...profiles, modules: WORKBENCH_MODULES } : {}),
    },
  );
  start((signal) => localnet.run(signal));
  const { chains } = await localnet.ready;
  local = await openEnd(CHAINS.local, chains.local, stop.signal);
  local.node.control.produce(1);
  const node = Promise.resolve(local.node);
  const watch = createContractWatch(
    {
      contracts: ["one", "two"].map((label) => ({
        file: fileOf(label),
        label,
        admin: "alice",
        migrate: label === "one" ? '{"ok":{}}' : '{"error":"not today"}',
      })),
      read: readContract,
      report: (line) => void reports.push(line),
    },
    { node, clock: systemClock, makeProfile: profiles.make },
  );
  start((signal) => watch.run(signal));
  const page = createContractPage({
    node,
    clock: systemClock,
    makeProfile: profiles.make,
  });
  start((signal) => page.run(signal));
  const frame = { heading: "Localnet", version: "1.2.3", startedAtMs: 0, links: [] };
  const pages = livePageRoutes({ frame, pages: [page.page] }, systemClock);
  url = await openHttp([...pages, ...page.routes], stop.signal);
});
afterAll(async () => {
  stop.abort(new Error("the test is over"));
  await Promise.allSettled(running);
  rmSync(folder, { recursive: true, force: true });
});

function fileOf(label: string): string {
  return join(folder, `${label}.wasm`);
}

/** Replaces a file at once, as compilers and editors do. */
function replace(label: string, code: Uint8Array): void {
  const next = `${fileOf(label)}.new`;
  writeFileSync(next, code);
  renameSync(next, fileOf(label));
}

async function nextReport(text: string): Promise<string> {
  await expect.poll(() => reports.some((line) => line.includes(text)), { timeout: 60_000 }).toBe(true);
  return reports.find((line) => line.includes(text)) ?? "";
}

function codeOf(label: string): unknown {
  const address = placed.find((one) => one.label === label)?.address ?? "";
  return Object(Object(local.query("/cosmwasm.wasm.v1.Query/ContractInfo", { address })).contract_info)
    .code_id;
}

/** Another code each time: with another version to migrate from. */
let version = 0;
function nextCode(): Uint8Array {
  return buildEchoContract(String(++version));
}

/** The code with a last section of random bytes, so that it has `length` bytes. */
function padded(code: Uint8Array, length: number): Uint8Array {
  // Id 0, the size in three bytes, a name without letters.
  const size = length - code.length - 4;
  const header = [0, (size & 0x7f) | 0x80, ((size >> 7) & 0x7f) | 0x80, size >> 14, 0];
  return Buffer.concat([code, Uint8Array.from(header), randomBytes(size - 1)]);
}

describe("a watched contract", () => {
  it("is migrated to the new code of its file", async () => {
    expect(codeOf("one")).toBe("5");
    const code = nextCode();
    replace("one", code);
    const line = await nextReport("one: migrated to code 7");
    expect(line).toContain(`${code.length} bytes`);
    expect(codeOf("one")).toBe("7");
    // Nothing more happens for a file that has the same code.
    const { length } = reports;
    replace("one", code);
    replace("one", code);
    await systemClock.sleep(1_000, stop.signal);
    expect(reports).toHaveLength(length);
  });

  it("is migrated to code of the largest size that the chain takes, packed or not", async () => {
    // Random bytes, because they stay as long when they are packed.
    const code = padded(nextCode(), 819_200);
    replace("one", code);
    expect(await nextReport("one: migrated to code 8")).toContain("819200 bytes");
    expect(codeOf("one")).toBe("8");
  });

  it("keeps its code if the chain would refuse the new one, and is migrated to the next one", async () => {
    const complete = nextCode();
    writeFileSync(fileOf("one"), complete.subarray(0, 200));
    expect(await nextReport("the chain would reject this code")).toContain("the contract keeps its code");
    expect(codeOf("one")).toBe("8");
    writeFileSync(fileOf("one"), complete);
    await nextReport("one: migrated to code 9");
  });

  it("keeps its code if the migration fails, with the reason, and with the functions of a trap", async () => {
    replace("two", nextCode());
    expect(await nextReport("two: the migration failed")).toContain(
      "not today: migrate wasm contract failed",
    );
    expect(codeOf("two")).toBe("6");
    replace("two", buildContract([]));
    expect(await nextReport("Missing export migrate")).toContain("the contract keeps its code");
    expect(codeOf("two")).toBe("6");
  });

  it("is on the page of the localnet, with its failed migration and profiles to download", async () => {
    const text = await (await fetch(`${url}/contracts`)).text();
    expect(text).toContain("called contracts");
    expect(text).toContain("not today: migrate wasm contract failed");
    const hash = /\?tx=([0-9A-F]{64})/.exec(text)?.[1] ?? "";
    expect(await (await fetch(`${url}/contracts?tx=${hash}`)).text()).toContain('<svg class="flame"');
    for (const format of ["json", "speedscope", "folded"]) {
      const reply = await fetch(`${url}/profiles/${hash}?format=${format}`);
      expect(reply.status).toBe(200);
      expect(await reply.text()).toContain("ante handler");
    }
    const missing = await fetch(`${url}/profiles/${"0".repeat(64)}`);
    expect([missing.status, await missing.text()]).toEqual([404, expect.stringContaining("no transaction")]);
    expect((await fetch(`${url}/profiles/1`)).status).toBe(400);
    expect((await fetch(`${url}/profiles/${hash}?format=x`)).status).toBe(400);
  });
});
