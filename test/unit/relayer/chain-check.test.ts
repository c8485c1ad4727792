import { describe, expect, it } from "vitest";
import { type LogFields, type Logger, silentLogger } from "../../../src/base/logger.ts";
import type { EndpointCheck } from "../../../src/client/endpoints/endpoint-pool.ts";
import { ClientError } from "../../../src/client/errors.ts";
import { createChainCheck } from "../../../src/relayer/connection/chain-check.ts";

const status = { chainId: "a-1", latestHeight: 1n, latestTimeNs: 0n, earliestHeight: 1n, catchingUp: false };
const good = (name: string): EndpointCheck => ({ name, ok: true, status });
const down = (name: string): EndpointCheck => ({
  name,
  ok: false,
  error: new ClientError({ code: "unreachable", endpoint: name, reason: "refused" }, `${name} is down`),
});
const wrong = (name: string): EndpointCheck => ({
  name,
  ok: false,
  error: new ClientError(
    { code: "wrong-chain", endpoint: name, expected: "a-1", found: "b-1" },
    `${name} serves b-1`,
  ),
});

/** Runs the check until it has something to say; gives what it told and what it threw. */
async function check(checks: readonly EndpointCheck[]) {
  const told: LogFields[] = [];
  const logger: Logger = { ...silentLogger, warn: (_message, fields = {}) => void told.push(fields) };
  const stop = new AbortController();
  const pool = { check: async () => checks };
  const run = createChainCheck([{ chainId: "a-1", pool }], logger).run(stop.signal);
  setImmediate(() => stop.abort(new Error("stop")));
  const error: unknown = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { told: told.map((fields) => fields["endpoint"]), error };
}

describe("the chain id check", () => {
  it("goes on while any endpoint is right or may come up, and names those that are not usable", async () => {
    expect(await check([good("x"), good("y")])).toEqual({ told: [], error: undefined });
    expect(await check([good("x"), wrong("y")])).toEqual({ told: ["y"], error: undefined });
    expect(await check([down("x"), wrong("y")])).toEqual({ told: ["x", "y"], error: undefined });
    expect(await check([down("x")])).toEqual({ told: ["x"], error: undefined });
  });

  it("ends the process when every endpoint serves another chain", async () => {
    const { error, told } = await check([wrong("x"), wrong("y")]);
    expect(error).toBeInstanceOf(ClientError);
    expect(told).toEqual(["x", "y"]);
  });
});
