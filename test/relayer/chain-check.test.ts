import { describe, expect, it } from "vitest";
import { type LogFields, type Logger, silentLogger } from "../../src/platform/base/logger.ts";
import type { EndpointCheck } from "../../src/cosmos/client/endpoint-pool.ts";
import { ClientError } from "../../src/cosmos/client-error.ts";
import { createChainCheck } from "../../src/relayer/chain-access.ts";

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

/** Runs the check until it has finished. Returns the endpoints that it warned about and the error that it threw. */
async function check(checks: readonly EndpointCheck[]) {
  const warned: LogFields[] = [];
  const logger: Logger = { ...silentLogger, warn: (_message, fields = {}) => void warned.push(fields) };
  const stop = new AbortController();
  const pool = { check: async () => checks };
  const run = createChainCheck([{ chainId: "a-1", pool }], logger).run(stop.signal);
  setImmediate(() => stop.abort(new Error("stop")));
  const error: unknown = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { warned: warned.map((fields) => fields["endpoint"]), error };
}

describe("the chain id check", () => {
  it("passes while one endpoint is right or may come up, and warns about unusable ones", async () => {
    expect(await check([good("x"), good("y")])).toEqual({ warned: [], error: undefined });
    expect(await check([good("x"), wrong("y")])).toEqual({ warned: ["y"], error: undefined });
    expect(await check([down("x"), wrong("y")])).toEqual({ warned: ["x", "y"], error: undefined });
    expect(await check([down("x")])).toEqual({ warned: ["x"], error: undefined });
  });

  it("throws when every endpoint serves another chain", async () => {
    const { error, warned } = await check([wrong("x"), wrong("y")]);
    expect(error).toBeInstanceOf(ClientError);
    expect(warned).toEqual(["x", "y"]);
  });
});
