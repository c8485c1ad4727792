import { describe, expect, it } from "vitest";
import {
  createClientOfConnection,
  type ViewDeps,
  viewConnection,
} from "../../src/relayer/connection/connection-view.ts";
import { RelayError } from "../../src/relayer/chain/relay-error.ts";

const signal = new AbortController().signal;

function deps(changes: {
  readonly chainId?: string;
  readonly latestHeight?: bigint;
  readonly status?: string;
  readonly clientHeight?: bigint;
}): ViewDeps {
  const { chainId = "test-2", latestHeight = 50n, status = "Active", clientHeight = 40n } = changes;
  return {
    connectionId: "connection-0",
    remote: {
      status: async () => ({
        chainId,
        latestHeight,
        latestTimeNs: 0n,
        earliestHeight: 1n,
        catchingUp: false,
      }),
    },
    local: {
      clientStatus: async () => status,
      clientState: async (clientId) => ({
        clientId,
        chainId: "test-2",
        latestHeight: { revision: 2n, height: clientHeight },
        trustingPeriodNs: 1n,
        trustLevel: { numerator: 1n, denominator: 3n },
      }),
    },
    client: { id: async () => "07-tendermint-0", forget: () => {} },
  };
}

describe("viewConnection", () => {
  it("reads the state one below the newest block", async () => {
    const view = await viewConnection(deps({}), signal);
    expect(view?.headerAt).toEqual({ revision: 2n, height: 50n });
    expect(view?.stateAt).toEqual({ revision: 2n, height: 49n });
  });

  it("resolves with undefined while the remote chain has fewer than three blocks", async () => {
    expect(await viewConnection(deps({ latestHeight: 2n, clientHeight: 1n }), signal)).toBeUndefined();
    expect(await viewConnection(deps({ latestHeight: 3n, clientHeight: 1n }), signal)).toBeDefined();
  });

  it("waits for a node that is a few blocks behind another one at the same address", async () => {
    for (const latestHeight of [35n, 39n])
      expect(await viewConnection(deps({ latestHeight }), signal)).toBeUndefined();
  });

  it("accepts the latest height of the client", async () => {
    expect(await viewConnection(deps({ latestHeight: 40n }), signal)).toBeDefined();
  });

  it.each([
    ["wrong-chain", { chainId: "test-3" }],
    ["client-not-active", { status: "Expired" }],
    ["client-not-active", { status: "Frozen" }],
    ["remote-behind", { latestHeight: 34n }],
  ] as const)("throws %s", async (code, changes) => {
    await expect(viewConnection(deps(changes), signal)).rejects.toSatisfy(
      (error) => error instanceof RelayError && error.facts.code === code,
    );
  });
});

describe("the client of a connection", () => {
  it("is read once, and again after `forget` or an error", async () => {
    const responses = ["fails", "07-tendermint-0", "07-tendermint-5"];
    const client = createClientOfConnection(
      {
        clientOfConnection: async () => {
          const response = responses.shift() ?? "none left";
          if (response === "fails") throw new Error(response);
          return response;
        },
      },
      "connection-0",
    );
    await expect(client.id(signal)).rejects.toThrow("fails");
    expect(await client.id(signal)).toBe("07-tendermint-0");
    expect(await client.id(signal)).toBe("07-tendermint-0");
    client.forget();
    expect(await client.id(signal)).toBe("07-tendermint-5");
  });
});
