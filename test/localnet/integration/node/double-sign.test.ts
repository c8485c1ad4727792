import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { Secret } from "../../../../src/platform/base/secret.ts";
import { createLocalnet, type RunningLocalnet } from "../../../../src/localnet/network/create-localnet.ts";

const TOKEN = "test-token";
const free = (portOption: string) => ({ host: "127.0.0.1", port: 0, portOption });
const stopping = new AbortController();
let running: RunningLocalnet;
let done: Promise<void>;

beforeAll(async () => {
  const localnet = createLocalnet(
    {
      chains: {
        local: { rpc: free("--local-rpc"), validatorPowers: [10n] },
        remote: { rpc: free("--remote-rpc"), validatorPowers: [10n, 5n, 5n, 2n] },
      },
      blockTimeMs: 60_000,
      remoteRpcUrl: "http://127.0.0.1:1",
      control: { address: free("--control-port"), token: new Secret(TOKEN) },
    },
    { clock: systemClock, logger: silentLogger },
  );
  done = localnet.run(stopping.signal);
  done.catch(() => {});
  running = await localnet.ready;
});

afterAll(async () => {
  stopping.abort(new Error("test over"));
  await done;
});

function viewOf(part: "local" | "remote") {
  return running.chains[part]?.view ?? expect.unreachable(`no ${part} chain`);
}

function setAt(part: "local" | "remote", height: bigint) {
  return viewOf(part).validators(height)?.validators ?? [];
}

async function control(path: string, body: object): Promise<readonly [number, unknown]> {
  const response = await fetch(`http://127.0.0.1:${running.controlPort}/chains/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return [response.status, await response.json()];
}

function hexOf(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? new Uint8Array()).toString("hex");
}

describe("POST /chains/:id/double-sign", () => {
  it("jails the validator, and the blocks are signed without it", async () => {
    await control("remote-1/blocks", { count: 3 });
    const accused = hexOf(setAt("remote", 1n).find(({ power }) => power === 2n)?.address);
    expect(await control("remote-1/double-sign", { validator: accused })).toEqual([
      200,
      { accused: accused.toUpperCase() },
    ]);
    await control("remote-1/blocks", { count: 1 });
    const height = viewOf("remote").status().latestHeight;
    const results = viewOf("remote").results(height);
    expect(results?.events.filter(({ type }) => type === "slash")).toHaveLength(2);
    expect(results?.validatorUpdates.map(({ power }) => power)).toEqual([0n]);
    await control("remote-1/blocks", { count: 3 });
    expect(setAt("remote", height + 1n)).toHaveLength(4);
    expect(setAt("remote", height + 2n).map(({ power }) => power)).toEqual([10n, 5n, 5n]);
    // A removed validator can be accused no more.
    expect(await control("remote-1/double-sign", { validator: accused })).toMatchObject([
      409,
      { error: "bad-evidence" },
    ]);
  });

  it("refuses evidence against the only validator, and a bad address", async () => {
    await control("local-1/blocks", { count: 3 });
    const only = hexOf(setAt("local", 1n)[0]?.address);
    expect(await control("local-1/double-sign", { validator: only })).toEqual([
      409,
      {
        error: "bad-evidence",
        message: `${only} is the only validator that has not been accused; without it, the chain could make no block`,
      },
    ]);
    expect(await control("local-1/double-sign", { validator: "ab" })).toEqual([
      400,
      { error: "bad-order", message: "validator: expected an address of 40 hex digits" },
    ]);
  });
});

describe("a validator that the control API removed", () => {
  it("can be jailed by the staking module without stopping the chain", async () => {
    const found = setAt("remote", 1n).findIndex(({ power }) => power === 10n);
    expect(found).toBe(0);
    await control("remote-1/validators", { index: 1, power: "0" });
    await control("remote-1/blocks", { count: 1 });
    const accused = setAt("remote", 1n).filter(({ power }) => power === 5n);
    const answers = await Promise.all(
      accused.map(({ address }) => control("remote-1/double-sign", { validator: hexOf(address) })),
    );
    expect(answers.map(([status]) => status)).toEqual([200, 200]);
    const last = hexOf(setAt("remote", 1n)[found]?.address);
    expect((await control("remote-1/double-sign", { validator: last }))[0]).toBe(409);
    const [status] = await control("remote-1/blocks", { count: 4 });
    expect(status).toBe(200);
    const latest = viewOf("remote").status().latestHeight;
    expect(setAt("remote", latest + 1n).map(({ power }) => power)).toEqual([10n]);
  });
});
