import { describe, expect, it } from "vitest";
import {
  createClientOfConnection,
  type ViewDeps,
  viewConnection,
} from "../../../src/relayer/connection/connection-view.ts";
import { RelayError } from "../../../src/relayer/relay-error.ts";

const signal = new AbortController().signal;

function deps(changes: {
  readonly chainId?: string;
  readonly latestHeight?: bigint;
  readonly status?: string;
  readonly known?: bigint;
}): ViewDeps {
  const { chainId = "test-2", latestHeight = 50n, status = "Active", known = 40n } = changes;
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
        latestHeight: { revision: 2n, height: known },
        trustingPeriodNs: 1n,
      }),
    },
    client: { id: async () => "07-tendermint-0", forget: () => {} },
  };
}

describe("viewConnection", () => {
  it("reads one below the newest block, whose header proves it", async () => {
    const view = await viewConnection(deps({}), signal);
    expect(view?.block).toEqual({ revision: 2n, height: 50n });
    expect(view?.at).toEqual({ revision: 2n, height: 49n });
  });

  it("waits for a remote chain that is only beginning", async () => {
    expect(await viewConnection(deps({ latestHeight: 2n, known: 1n }), signal)).toBeUndefined();
    expect(await viewConnection(deps({ latestHeight: 3n, known: 1n }), signal)).toBeDefined();
  });

  it("takes a block that the client knows already", async () => {
    expect(await viewConnection(deps({ latestHeight: 40n }), signal)).toBeDefined();
  });

  it.each([
    ["wrong-chain", { chainId: "test-3" }],
    ["client-not-active", { status: "Expired" }],
    ["client-not-active", { status: "Frozen" }],
    ["remote-behind", { latestHeight: 39n }],
  ] as const)("throws %s", async (code, changes) => {
    await expect(viewConnection(deps(changes), signal)).rejects.toSatisfy(
      (error) => error instanceof RelayError && error.facts.code === code,
    );
  });
});

describe("the client of a connection", () => {
  it("is asked for once, and again when it was forgotten or could not be read", async () => {
    const answers = ["fails", "07-tendermint-0", "07-tendermint-5"];
    const client = createClientOfConnection(
      {
        clientOfConnection: async () => {
          const answer = answers.shift() ?? "none left";
          if (answer === "fails") throw new Error(answer);
          return answer;
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
