import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createChainReader } from "../../../src/watchdog/sources/chain-reader.ts";
import { type PageReader, createScrape } from "../../../src/watchdog/sources/page-reader.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { bodyOf } from "../../support/simulated-response.ts";

interface Call {
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

const CALLS: readonly Call[] = JSON.parse(
  readFileSync(new URL("../../fixtures/rest.json", import.meta.url), "utf8"),
);
const OWN = "neutronvalcons16jsxy6n6x6xxkkdx2whumthegrfklpw7y5klld";

interface RpcCall {
  readonly request: { readonly method?: string; readonly params?: Readonly<Record<string, unknown>> };
  readonly response: unknown;
}

const RPC_CALLS: readonly RpcCall[] = JSON.parse(
  readFileSync(new URL("../../fixtures/rpc.json", import.meta.url), "utf8"),
);

/** Responds as the recorded node did; other paths are 404. The node at rpc:26657 has no REST. */
const recorded: PageReader = async (url) => {
  const { host, pathname, searchParams } = new URL(url);
  if (host === "rpc:26657") {
    const height = searchParams.get("height") ?? undefined;
    const block = RPC_CALLS.find(
      ({ request }) =>
        pathname === "/block" && request.method === "block" && request.params?.["height"] === height,
    );
    return { status: block === undefined ? 404 : 200, body: bodyOf(JSON.stringify(block?.response)) };
  }
  const pair = searchParams.get("currency_pair_ids");
  const path = pair === null ? pathname : `${pathname}?currency_pair_ids=${pair}`;
  const call = CALLS.find((one) => one.path === path);
  return { status: call?.status ?? 404, body: bodyOf(JSON.stringify(call?.body ?? "Not Found")) };
};

interface ReaderOptions {
  readonly consensusAddress?: string;
  readonly module?: string;
  readonly rest?: string;
  readonly rpc?: string;
}

function reader({ module = "neutron", rest = "http://chain:1317", rpc, ...address }: ReaderOptions) {
  const chain = { rest, module, pairs: ["BTC/USD"], ...(rpc === undefined ? {} : { rpc }) };
  const target = { name: "v", nodes: [], egress: [], chain, ...address };
  const clock = createManualClock(0);
  const scrape = createScrape(1000, clock);
  return createChainReader(target, recorded, scrape, clock)(undefined, new AbortController().signal);
}

describe("the recorded REST of a chain", () => {
  it("is replaced by chain.rpc for the time of the latest block, while it does not respond", async () => {
    const none = await reader({ rest: "http://rpc:26657", consensusAddress: OWN });
    expect(none.head).toMatchObject({ state: "error" });
    const seen = await reader({ rest: "http://rpc:26657", rpc: "http://rpc:26657", consensusAddress: OWN });
    expect(seen.head).toMatchObject({
      state: "up",
      value: { chainId: "test-1", height: 1556n, blockTimeMs: Date.UTC(2026, 10, 21, 12, 26, 5, 360) },
    });
    expect(seen.validator).toMatchObject({ state: "error" });
  });

  it("has the latest block, the validator, a price and the reward parameters", async () => {
    const seen = await reader({ consensusAddress: OWN });
    expect(seen.head).toMatchObject({
      state: "up",
      value: { chainId: "test-1", height: 1556n, blockTimeMs: Date.UTC(2026, 10, 21, 12, 26, 5, 360) },
    });
    expect(seen.validator).toMatchObject({
      state: "up",
      value: { size: 1, isInSet: true, votingPower: 100n, signedLatest: true },
    });
    expect(seen.prices).toMatchObject({
      state: "up",
      value: [{ pair: "BTC/USD", height: 1556n, price: 9_712_345_000n }],
    });
    expect(seen.revenue).toMatchObject({
      state: "up",
      value: {
        params: { votesRequired: 900_000_000_000_000_000n, baseCompensation: 2500n, schedule: "empty" },
      },
    });
  });

  it("says that a validator is not in the set, and that a chain has no reward programme", async () => {
    const other = "neutronvalcons180garstngpxj6r4nmh0vgre9m7qs0ngzq3yv2s";
    const seen = await reader({ consensusAddress: other, module: "newer" });
    expect(seen.validator).toMatchObject({ state: "up", value: { isInSet: false, votingPower: 0n } });
    expect(seen.revenue).toMatchObject({ state: "absent" });
    expect((await reader({})).validator).toEqual({ state: "not-configured" });
  });
});
