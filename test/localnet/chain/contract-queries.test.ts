import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../src/platform/base/bytes.ts";
import { predictableContractAddress } from "../../../src/localnet/chain/modules/wasm/keeper.ts";
import { messageFromJson, messageToJson } from "../../../src/cosmos/proto/json.ts";
import { CONSUMER, icqGenesis } from "../../support/icq-application.ts";
import { startTestChain, type TestChain } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";

const alice = createTestKey("alice").address;
const SERVICE = "cosmwasm.wasm.v1.Query";

function ask(chain: TestChain, method: string, request: object, service = SERVICE): unknown {
  const data = messageFromJson(`${service}${method}Request`, request);
  const { code, log, value } = chain.app.query({
    path: `/${service}/${method}`,
    data,
    height: 0n,
    prove: false,
  });
  return code === 0 ? messageToJson(`${service}${method}Response`, value) : log;
}

describe("contract queries", () => {
  const chain = startTestChain(icqGenesis());

  it("list contracts by code and by creator", () => {
    expect(ask(chain, "ContractsByCode", { code_id: "1" })).toMatchObject({ contracts: [CONSUMER] });
    expect(ask(chain, "ContractsByCode", { code_id: "2" })).toMatchObject({ contracts: [] });
    expect(ask(chain, "ContractsByCode", {})).toBe("code id: invalid: unknown request");
    expect(ask(chain, "ContractsByCreator", { creator_address: alice })).toMatchObject({
      contract_addresses: [CONSUMER],
    });
    expect(ask(chain, "ContractsByCreator", { creator_address: CONSUMER })).toMatchObject({
      contract_addresses: [],
    });
    expect(ask(chain, "ContractsByCreator", { creator_address: "x" })).toContain("decoding bech32 failed");
  });

  it("tell the history of a contract", () => {
    expect(ask(chain, "ContractHistory", { address: CONSUMER })).toMatchObject({
      entries: [{ operation: "CONTRACT_CODE_HISTORY_OPERATION_TYPE_INIT", code_id: "1", msg: {} }],
    });
    expect(ask(chain, "ContractHistory", { address: alice })).toMatchObject({ entries: [] });
  });

  it("keep lists and history in an export", () => {
    const again = startTestChain({ ...icqGenesis(), wasm: chain.app.exportState()["wasm"] ?? null });
    for (const [method, request] of [
      ["ContractsByCode", { code_id: "1" }],
      ["ContractsByCreator", { creator_address: alice }],
      ["ContractHistory", { address: CONSUMER }],
    ] as const) {
      expect(ask(again, method, request), method).toEqual(ask(chain, method, request));
    }
  });

  it("answer what depends on no contract", () => {
    expect(ask(chain, "Params", {})).toMatchObject({
      params: {
        code_upload_access: { permission: "Everybody" },
        instantiate_default_permission: "Everybody",
      },
    });
    expect(ask(chain, "PinnedCodes", {})).toMatchObject({ code_ids: [] });
  });

  it.each([
    [{ code_hash: "zz" }, "invalid code hash: encoding/hex: invalid byte: U+007A 'z'"],
    [{ code_hash: "1" }, "invalid code hash: encoding/hex: odd length hex string"],
    [{ code_hash: "00".repeat(32), creator_address: "x" }, "invalid creator address: decoding bech32 failed"],
    [{ code_hash: "00".repeat(32), creator_address: alice }, "empty salt"],
    [{ code_hash: "00", creator_address: alice, salt: "00" }, "checksum: invalid"],
    [{ code_hash: "00".repeat(32), creator_address: alice, salt: "00".repeat(65) }, "salt: invalid"],
    [{ code_hash: "00".repeat(32), creator_address: alice, salt: "00", init_args: "ew==" }, "invalid"],
  ])("check the fields of an address to build: %#", (request, text) => {
    expect(ask(chain, "BuildAddress", request)).toContain(text);
  });

  it("build predictable addresses", () => {
    // SOURCE: CosmWasm's testdata/instantiate2_addresses.json.
    const contract = {
      checksum: fromHex("13a1fc994cc6d1c81b746ee0c0ff6f90043875e0bf1d9be6b7d779fc978dc2a5"),
      creator: fromHex("9999999999aaaaaaaaaabbbbbbbbbbcccccccccc"),
      salt: fromHex("61"),
      message: new Uint8Array(0),
    };
    expect(toHex(predictableContractAddress(contract))).toBe(
      "5e865d3e45ad3e961f77fd77d46543417ced44d924dc3e079b5415ff6775f847",
    );
    const request = { code_hash: "00".repeat(32), creator_address: alice, salt: "61" };
    expect(ask(chain, "BuildAddress", request)).toMatchObject({
      address: expect.stringMatching(/^neutron1/),
    });
    const [lower, upper] = ["ab", "AB"].map((byte) => ({ code_hash: byte.repeat(32), salt: byte }));
    expect(ask(chain, "BuildAddress", { ...request, ...upper })).toEqual(
      ask(chain, "BuildAddress", { ...request, ...lower }),
    );
    expect(ask(chain, "BuildAddress", { ...request, init_args: "e30=" })).not.toEqual(
      ask(chain, "BuildAddress", request),
    );
  });

  it("name the variants that a contract knows", () => {
    expect(
      ask(chain, "SmartContractState", {
        address: CONSUMER,
        query_data: Buffer.from('{"nothing":{}}').toString("base64"),
      }),
    ).toContain(
      "Error parsing into type QueryMsg: unknown variant `nothing`, expected one of `kv_result`, `transactions`, `failure`: query wasm contract failed",
    );
  });
});

describe("bank queries without parameters", () => {
  const chain = startTestChain(icqGenesis());
  const BANK = "cosmos.bank.v1beta1.Query";

  it("complain of the address first in SpendableBalanceByDenom, and of the denomination first in Balance", () => {
    expect(ask(chain, "SpendableBalanceByDenom", {}, BANK)).toContain(
      "invalid address: empty address string",
    );
    expect(ask(chain, "SpendableBalanceByDenom", { address: alice }, BANK)).toContain("invalid denom: ");
    expect(ask(chain, "Balance", {}, BANK)).toContain("invalid denom: ");
  });
});
