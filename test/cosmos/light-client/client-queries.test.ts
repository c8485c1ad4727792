import { describe, expect, it } from "vitest";
import { allPages, createLightClientQueries } from "../../../src/cosmos/light-client/client-queries.ts";
import { QueryClientStateResponse } from "../../../src/cosmos/proto/gen/ibc/core/client/v1/query.ts";
import { ClientState } from "../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";

const signal = new AbortController().signal;

describe("the state of a light client", () => {
  const stateWith = async (trustLevel: { numerator: bigint; denominator: bigint } | undefined) => {
    const empty = ClientState.decode(new Uint8Array());
    const value = ClientState.encode({ ...empty, chainId: "hub-1", trustLevel }).finish();
    const clientState = { typeUrl: "/ibc.lightclients.tendermint.v1.ClientState", value };
    const response = QueryClientStateResponse.encode({
      ...QueryClientStateResponse.decode(new Uint8Array()),
      clientState,
    }).finish();
    const queries = createLightClientQueries({ grpcQuery: () => Promise.resolve(response) });
    return await queries.clientState("07-tendermint-0", signal);
  };

  it("has the trust level of the client", async () => {
    expect((await stateWith({ numerator: 2n, denominator: 3n })).trustLevel).toEqual({
      numerator: 2n,
      denominator: 3n,
    });
  });

  it.each([undefined, { numerator: 0n, denominator: 0n }])(
    "has a trust level of a third instead of %o",
    async (level) => {
      expect((await stateWith(level)).trustLevel).toEqual({ numerator: 1n, denominator: 3n });
    },
  );
});

describe("a list in pages", () => {
  it("is read to its end", async () => {
    const pages = [[1, 2], [3], []];
    const keys: number[] = [];
    const items = await allPages((key) => {
      keys.push(key[0] ?? 0);
      const at = key[0] ?? 0;
      return Promise.resolve({
        items: pages[at] ?? [],
        next: at + 1 < pages.length ? Uint8Array.of(at + 1) : new Uint8Array(),
      });
    });
    expect(items).toEqual([1, 2, 3]);
    expect(keys).toEqual([0, 1, 2]);
  });

  it("that never ends is given up after 1,000 pages", async () => {
    let reads = 0;
    const endless = allPages(() => {
      reads += 1;
      // The bound of the test, so that a missing one fails instead of running for ever.
      if (reads > 2_000) throw new Error("no bound");
      return Promise.resolve({ items: [reads], next: Uint8Array.of(1) });
    });
    await expect(endless).rejects.toThrow("more than 1000 pages");
    expect(reads).toBe(1_000);
  });
});
