import { describe, expect, it } from "vitest";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import {
  QueryContractInfoRequest,
  QueryContractInfoResponse,
} from "../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { createContractNames } from "../../../src/relayer/costs/create-costs.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const { signal } = new AbortController();
const HOUR = 3_600_000;

function setUp(answer: (address: string) => { readonly label: string; readonly admin?: string } | Error) {
  const clock = createManualClock(0);
  const asked: string[] = [];
  const names = createContractNames(
    {
      grpcQuery: async (_path, request) => {
        const { address } = QueryContractInfoRequest.decode(request);
        asked.push(address);
        const found = answer(address);
        if (found instanceof Error) throw found;
        const contractInfo = {
          codeId: 1n,
          creator: "neutron1creator",
          admin: "",
          created: undefined,
          ibcPortId: "",
          extension: undefined,
          ...found,
        };
        return QueryContractInfoResponse.encode({ address, contractInfo }).finish();
      },
    },
    clock,
  );
  return { names, asked, clock };
}

describe("the names of contracts", () => {
  it("are read one at a time, once, and again after some hours", async () => {
    const { names, asked, clock } = setUp((address) => ({ label: `label of ${address}`, admin: "dao" }));
    const owners = ["", "a", "b"];
    for (let time = 0; time < 5; time++) await names.readNext(owners, signal);
    expect(asked).toEqual(["a", "b"]);
    expect(names.of("a")).toEqual({ label: "label of a", creator: "neutron1creator", admin: "dao" });
    await clock.advance(7 * HOUR);
    await names.readNext(owners, signal);
    expect(asked).toEqual(["a", "b", "a"]);
  });

  it("are one line of text, whatever the label is", async () => {
    const { names } = setUp(() => ({ label: `x\n\u001b[31m${"y".repeat(200)}` }));
    await names.readNext(["a"], signal);
    const label = names.of("a")?.label ?? "";
    expect(label).toMatch(/^x \[31my+…$/);
    expect(label).toHaveLength(64);
  });

  it("are unknown for what is no contract, and stay while the chain cannot be read", async () => {
    const log = "no such contract";
    const none = new ClientError({ code: "abci", path: "p", abciCode: 22, codespace: "wasm", log }, log);
    let answer: { readonly label: string } | Error = none;
    const { names, asked, clock } = setUp(() => answer);
    await names.readNext(["a"], signal);
    await names.readNext(["a"], signal);
    expect([names.of("a"), asked.length]).toEqual([undefined, 1]);
    answer = { label: "mine" };
    await clock.advance(HOUR);
    await names.readNext(["a"], signal);
    answer = new ClientError({ code: "closed" }, "closed");
    await clock.advance(7 * HOUR);
    await names.readNext(["a"], signal);
    expect([names.of("a")?.label, asked.length]).toEqual(["mine", 3]);
  });
});
