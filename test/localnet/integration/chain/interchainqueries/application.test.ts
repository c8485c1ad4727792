import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { formatAddress, moduleAddress } from "../../../../../src/localnet/chain/runtime/address.ts";
import {
  QueryBalanceRequest,
  QueryBalanceResponse,
} from "../../../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import {
  QueryRegisteredQueryResultRequest,
  QueryRegisteredQueryResultResponse,
} from "../../../../../src/cosmos/proto/gen/neutron/interchainqueries/query.ts";
import { CONSUMER, GOOD, icqGenesis, runIcqBlocks, submission } from "../../../../support/icq-application.ts";
import { list, record } from "../../../../support/recorded-client.ts";
import { startTestChain, type TestChain } from "../../../../support/test-chain.ts";

const ESCROW = formatAddress("neutron", moduleAddress("interchainqueries"));
const RUNNER = fileURLToPath(new URL("../../../../support/run-typescript.mjs", import.meta.url));
const CHILD = fileURLToPath(new URL("../../../../support/icq-child.ts", import.meta.url));

describe("interchain queries in the application", () => {
  it("start from a genesis in which a consumer registers a query and pays the deposit", () => {
    const chain = startTestChain(icqGenesis());
    expect(balance(chain, ESCROW)).toBe("1000000");
    expect(balance(chain, CONSUMER)).toBe("2000000");
    const state = record(record(chain.app.exportState()["interchainqueries"]));
    const own = list(state["registered_queries"]).map(record).at(-1);
    expect(own).toMatchObject({ id: "321", owner: CONSUMER, query_type: "kv" });
  });

  it("accept a proven result in a signed transaction, for about the gas of the deployed chain", () => {
    const chain = startTestChain(icqGenesis());
    // The first transaction of a chain also creates the accounts of the fees.
    chain.block(submission("one bit of the iavl proof flipped", 0n));
    const [result] = chain.block(submission(GOOD, 1n)).txResults;
    expect(result?.log).toBe("");
    expect(result?.events.map(({ type }) => type)).toContain("message");
    // The deployed chain used 161,006 for these three values.
    expect(Number(result?.gasUsed)).toBeGreaterThan(110_000);
    expect(Number(result?.gasUsed)).toBeLessThan(210_000);
    const response = chain.app.query({
      path: "/neutron.interchainqueries.Query/QueryResult",
      data: QueryRegisteredQueryResultRequest.encode({ queryId: 317n }).finish(),
      height: 0n,
      prove: false,
    });
    expect(QueryRegisteredQueryResultResponse.decode(response.value).result?.kvResults).toHaveLength(3);
  });

  it("reject an altered proof and a height that is not newer, and accept a later result", () => {
    const chain = startTestChain(icqGenesis());
    const bad = chain.block(submission("one bit of the iavl proof flipped", 0n)).txResults[0];
    expect(bad).toMatchObject({ code: 1112, codespace: "interchainqueries" });
    expect(chain.block(submission(GOOD, 1n)).txResults[0]?.code).toBe(0);
    const again = chain.block(submission(GOOD, 2n)).txResults[0];
    expect(again).toMatchObject({ code: 1114, codespace: "interchainqueries" });
  });

  it.each([1, 2])(
    "lead to the same app hashes in two processes (seed %i)",
    { timeout: 240_000 },
    async (seed) => {
      const hashes = runIcqBlocks(seed);
      const { stdout } = await promisify(execFile)(process.execPath, [RUNNER, CHILD, `${seed}`], {
        timeout: 50_000,
      });
      expect(stdout.split("\n")).toEqual(hashes);
      expect(new Set(hashes).size).toBe(40);
    },
  );

  it("continue after export and import with the same state", () => {
    const chain = startTestChain(icqGenesis());
    chain.block(submission(GOOD, 0n));
    chain.block();
    const exported = chain.app.exportState();
    expect(record(exported["interchainqueries"])).toMatchObject({ last_query_id: "321" });
    const { height } = chain.app.info();
    const imported = startTestChain(JSON.parse(JSON.stringify(exported)), { initialHeight: height + 1n });
    chain.block();
    expect(imported.app.info().height).toBe(chain.app.info().height);
    expect(imported.app.exportState()).toEqual(chain.app.exportState());
    expect(Object.keys(exported)).toContain("wasm");
  });
});

function balance(chain: TestChain, address: string): string | undefined {
  const data = QueryBalanceRequest.encode({ address, denom: "untrn" }).finish();
  const response = chain.app.query({
    path: "/cosmos.bank.v1beta1.Query/Balance",
    data,
    height: 0n,
    prove: false,
  });
  return QueryBalanceResponse.decode(response.value).balance?.amount;
}
