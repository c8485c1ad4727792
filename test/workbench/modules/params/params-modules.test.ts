import { beforeEach, describe, expect, it } from "vitest";
import { isRecord, type JsonObject, type JsonValue } from "../../../../src/platform/base/json.ts";
import { fieldAt } from "../../../../src/platform/cli/table.ts";
import {
  ALICE,
  AUTHORITY,
  BOB,
  CAROL,
  ECHO,
  startTokenChain,
  type TokenChain,
} from "../../../support/token-chain.ts";

let chain: TokenChain;

beforeEach(() => {
  chain = startTokenChain({ adminmodule: { admins: [BOB, ECHO] } });
});

/** Sends a message of the authority in a proposal. */
function propose(type: string, fields: JsonObject, signer: JsonObject = { authority: AUTHORITY }) {
  return chain.run("bob", "cosmos.adminmodule.adminmodule.MsgSubmitProposal", {
    proposer: BOB,
    messages: [{ "@type": `/${type}`, ...signer, ...fields }],
  });
}

const params = (service: string): JsonValue => fieldAt(chain.query(`${service}.Query/Params`, {}), "params");
const COIN = [{ denom: "untrn", amount: "1000" }];
/** A contract's message to an interchain account. */
const SUBMISSION = {
  connection_id: "connection-0",
  interchain_account_id: "x",
  msgs: [{ type_url: "/a.B", value: "" }],
  timeout: 1,
  fee: { recv_fee: [], ack_fee: COIN, timeout_fee: COIN },
};

/** Makes the contract `echo` send a message of the chain's bindings. */
function sendCustom(custom: JsonObject) {
  const messages = [{ id: 1, msg: { custom }, reply_on: "never", gas_limit: null }];
  return chain.run("alice", "cosmwasm.wasm.v1.MsgExecuteContract", {
    sender: ALICE,
    contract: ECHO,
    msg: { ok: { messages, attributes: [], events: [] } },
    funds: [],
  });
}
const FAILED = "failed to execute message; message index: 0: failed to submit proposal: failed to handle";
const prices = (...list: readonly (readonly [string, string])[]) =>
  list.map(([denom, amount]) => ({ denom, amount }));

/** Params of a module: those of a default genesis, others, and some that are refused with a text. */
const MODULES: readonly {
  readonly service: string;
  readonly module: string;
  readonly defaults: JsonObject;
  readonly changed: JsonObject;
  readonly refused?: readonly [params: JsonObject, text: string];
}[] = [
  {
    service: "neutron.feeburner",
    module: "feeburner",
    defaults: { neutron_denom: "untrn", reserve_address: "", treasury_address: "" },
    changed: { neutron_denom: "untrn", reserve_address: "", treasury_address: ALICE },
    refused: [
      { neutron_denom: "untrn", treasury_address: "nobody" },
      "failed to validate MsgUpdateParams: treasury_address is invalid: ",
    ],
  },
  {
    service: "gaia.globalfee.v1beta1",
    module: "globalfee",
    defaults: {
      minimum_gas_prices: [],
      bypass_min_fee_msg_types: [
        "/ibc.core.channel.v1.MsgRecvPacket",
        "/ibc.core.channel.v1.MsgAcknowledgement",
        "/ibc.core.client.v1.MsgUpdateClient",
        "/ibc.core.channel.v1.MsgTimeout",
        "/ibc.core.channel.v1.MsgTimeoutOnClose",
      ],
      max_total_bypass_min_fee_msg_gas_usage: "1000000",
    },
    changed: {
      minimum_gas_prices: prices(["uibcatom", "0.000000000000000000"], ["untrn", "0.001110000000000000"]),
      bypass_min_fee_msg_types: ["/gaia.globalfee.v1beta1.MsgUpdateParams"],
      max_total_bypass_min_fee_msg_gas_usage: "12345",
    },
    refused: [
      { minimum_gas_prices: prices(["untrn", "1"], ["uibcatom", "1"]) },
      "denomination uibcatom is not sorted",
    ],
  },
  {
    service: "neutron.dynamicfees.v1",
    module: "dynamicfees",
    defaults: { ntrn_prices: [] },
    changed: { ntrn_prices: prices(["newdenom", "0.500000000000000000"]) },
  },
  {
    service: "neutron.interchaintxs.v1",
    module: "interchaintxs",
    defaults: { msg_submit_tx_max_messages: "16", register_fee: [{ denom: "untrn", amount: "1000000" }] },
    changed: { msg_submit_tx_max_messages: "11", register_fee: [] },
    refused: [{ msg_submit_tx_max_messages: "0" }, "MsgSubmitTxMaxMessages must be greater than zero"],
  },
];

describe.each(MODULES)("params of $module", ({ service, module, defaults, changed, refused }) => {
  it("have the deployed defaults, and change by a proposal only", () => {
    expect(params(service)).toEqual(defaults);
    expect(propose(`${service}.MsgUpdateParams`, { params: changed }).log).toBe("");
    expect(params(service)).toEqual(changed);
    // As deployed, the params are checked before the signer.
    const direct = chain.run("bob", `${service}.MsgUpdateParams`, { authority: BOB, params: changed });
    expect(direct.log).toContain(`invalid authority; expected ${AUTHORITY}, got ${BOB}: `);
    expect(params(service)).toEqual(changed);
  });

  it("are checked", () => {
    if (refused === undefined) return expect(module).toBe("dynamicfees");
    const [wrong, text] = refused;
    expect(propose(`${service}.MsgUpdateParams`, { params: wrong }).log).toContain(text);
    expect(params(service)).toEqual(defaults);
    expect(() => startTokenChain({ [module]: { params: wrong } })).toThrow(`app_state.${module}.params: `);
  });

  it("are exported and imported", () => {
    const exported = startTokenChain({ [module]: { params: changed } }).exported();
    expect(fieldAt(exported, `${module}.params`)).toEqual(changed);
    chain = startTokenChain(exported);
    expect(params(service)).toEqual(changed);
  });
});

it("feeburner: a message may leave the denomination empty, but not the treasury; a genesis the other way round", () => {
  const update = (treasury_address: string) =>
    propose("neutron.feeburner.MsgUpdateParams", { params: { treasury_address } });
  expect(update(ALICE).log).toBe("");
  expect(params("neutron.feeburner")).toMatchObject({ neutron_denom: "", treasury_address: ALICE });
  expect(update("").log).toContain("treasury_address is invalid");
  expect(() => startTokenChain({ feeburner: { params: { treasury_address: ALICE } } })).toThrow(
    "app_state.feeburner.params.neutron_denom: expected a denomination",
  );
});

describe("the module interchaintxs", () => {
  it("has no accounts, and its messages say that they are not implemented", () => {
    const request = { owner_address: ALICE, interchain_account_id: "x", connection_id: "connection-0" };
    expect(() => chain.query("neutron.interchaintxs.v1.Query/InterchainAccountAddress", request)).toThrow(
      `no interchain account found for portID icacontroller-${ALICE}.x: interchain account not found`,
    );
    const bad = { ...request, owner_address: "nobody" };
    expect(() => chain.query("neutron.interchaintxs.v1.Query/InterchainAccountAddress", bad)).toThrow(
      "failed to create ica owner: failed to decode address from bech32",
    );
    const account = { from_address: BOB, connection_id: "connection-0", interchain_account_id: "x" };
    const fee = { ack_fee: COIN, timeout_fee: COIN };
    const text = { "@type": "/cosmos.gov.v1beta1.TextProposal", title: "T", description: "D" };
    for (const [name, fields] of [
      ["MsgRegisterInterchainAccount", account],
      ["MsgSubmitTx", { ...account, fee, msgs: [text], timeout: "1" }],
    ] as const)
      expect(chain.run("bob", `neutron.interchaintxs.v1.${name}`, fields)).toMatchObject({
        codespace: "sdk",
        code: 37,
        log: expect.stringContaining("interchain accounts are not implemented on a local chain"),
      });
  });

  it.each<[JsonObject, string]>([
    [{ submit_tx: {} }, "failed to validate MsgSubmitTx: ack fee or timeout fee is zero: invalid coins"],
    [{ submit_tx: { ...SUBMISSION, connection_id: "" } }, "empty connection id"],
    [{ submit_tx: { ...SUBMISSION, interchain_account_id: "" } }, "empty interchain account id"],
    [{ submit_tx: { ...SUBMISSION, msgs: [] } }, "no messages provided"],
    [{ submit_tx: { ...SUBMISSION, timeout: 0 } }, "timeout must be greater than zero"],
    [{ submit_tx: SUBMISSION }, "interchain accounts are not implemented on a local chain"],
    [{ register_interchain_account: {} }, "empty connection id"],
    [{ register_interchain_account: SUBMISSION }, "interchain accounts are not implemented on a local chain"],
  ])("checks the message %j of a contract as deployed", (custom, text) => {
    const { log } = sendCustom(custom);
    expect(log).toContain(text);
    expect(log).toMatch(
      /submessages: failed to (submit interchain transaction: failed to submit|register) interchain/,
    );
  });
});

describe("the module interchainaccounts", () => {
  const host = (): JsonValue => params("ibc.applications.interchain_accounts.host.v1");
  const controller = (): JsonValue => params("ibc.applications.interchain_accounts.controller.v1");

  it("has params of both sides, which change by a proposal", () => {
    expect([host(), controller()]).toEqual([
      { host_enabled: true, allow_messages: ["*"] },
      { controller_enabled: true },
    ]);
    const signer = { signer: AUTHORITY };
    const path = "ibc.applications.interchain_accounts";
    const off = { host_enabled: false, allow_messages: ["/a.B"] };
    expect(propose(`${path}.host.v1.MsgUpdateParams`, { params: off }, signer).log).toBe("");
    expect(propose(`${path}.controller.v1.MsgUpdateParams`, { params: {} }, signer).log).toBe("");
    expect([host(), controller()]).toEqual([off, { controller_enabled: false }]);
    expect(chain.run("bob", `${path}.host.v1.MsgUpdateParams`, { signer: BOB, params: off }).log).toContain(
      `expected ${AUTHORITY}, got ${BOB}`,
    );
    chain = startTokenChain(chain.exported());
    expect([host(), controller()]).toEqual([off, { controller_enabled: false }]);
  });

  it("refuses a genesis with accounts", () => {
    const account = { connection_id: "connection-0", port_id: "p", account_address: ALICE };
    const interchainaccounts = { host_genesis_state: { interchain_accounts: [account], port: "icahost" } };
    expect(() => startTokenChain({ interchainaccounts })).toThrow(
      "app_state.interchainaccounts.host_genesis_state: expected no channels or accounts",
    );
  });
});

describe("the limits of consensus", () => {
  const LIMITS = {
    block: { max_gas: "30000000", max_bytes: "14857600" },
    evidence: { max_age_duration: "1000h", max_age_num_blocks: "100000", max_bytes: "1048576" },
    validator: { pub_key_types: ["ed25519"] },
    abci: { vote_extensions_enable_height: "1" },
  };
  const limits = (): JsonValue => params("cosmos.consensus.v1");

  it("change by a proposal, and limit the gas of the next block's transactions", () => {
    expect(propose("cosmos.consensus.v1.MsgUpdateParams", LIMITS).log).toBe("");
    expect(limits()).toEqual({
      ...LIMITS,
      evidence: { ...LIMITS.evidence, max_age_duration: "3600000s" },
      version: { app: "0" },
    });
    const gas = 40_000_000n;
    const send = { from_address: BOB, to_address: ALICE, amount: [{ denom: "untrn", amount: "1" }] };
    expect(chain.run("bob", "cosmos.bank.v1beta1.MsgSend", send, gas)).toMatchObject({
      codespace: "sdk",
      code: 41,
    });
    expect(fieldAt(startTokenChain(chain.exported()).exported(), "consensus.params.block.max_gas")).toBe(
      "30000000",
    );
  });

  it.each([
    [{ block: null }, "all parameters must be present"],
    [{ block: { max_bytes: "0", max_gas: "1" } }, "block.MaxBytes cannot be 0"],
    [{ block: { max_bytes: "104857601", max_gas: "1" } }, "block.MaxBytes is too big. 104857601 > 104857600"],
    [{ block: { max_bytes: "1", max_gas: "-2" } }, "block.MaxGas must be greater or equal to -1. Got -2"],
    [
      { block: { max_bytes: "1000000", max_gas: "1" } },
      "evidence.MaxBytesEvidence is greater than upper bound",
    ],
    [
      { evidence: { ...LIMITS.evidence, max_age_num_blocks: "0" } },
      "evidence.MaxAgeNumBlocks must be greater than 0. Got 0",
    ],
    [
      { evidence: { ...LIMITS.evidence, max_age_duration: "0s" } },
      "evidence.MaxAgeDuration must be grater than 0",
    ],
    [{ validator: { pub_key_types: [] } }, "len(Validator.PubKeyTypes) must be greater than 0"],
    [
      { validator: { pub_key_types: ["rsa"] } },
      "params.Validator.PubKeyTypes[0], rsa, is an unknown pubkey type",
    ],
    [
      { abci: { vote_extensions_enable_height: "-1" } },
      "VoteExtensionsEnableHeight cannot be negative. Got: -1",
    ],
  ])("%o are refused", (change: JsonObject, text) => {
    const before = limits();
    expect(propose("cosmos.consensus.v1.MsgUpdateParams", { ...LIMITS, ...change }).log).toContain(text);
    expect(limits()).toEqual(before);
  });

  it("are not for accounts", () => {
    expect(
      chain.run("bob", "cosmos.consensus.v1.MsgUpdateParams", { ...LIMITS, authority: BOB }).log,
    ).toContain(`invalid authority; expected ${AUTHORITY}, got ${BOB}`);
  });
});

describe("the module upgrade", () => {
  const plan = (): JsonValue => fieldAt(chain.query("cosmos.upgrade.v1beta1.Query/CurrentPlan", {}), "plan");
  const schedule = (fields: JsonObject) =>
    propose("cosmos.upgrade.v1beta1.MsgSoftwareUpgrade", {
      plan: { name: "v2", height: "100", info: "i", ...fields },
    });

  it("plans an upgrade, replaces it and drops it", () => {
    expect(plan()).toBeNull();
    expect(schedule({}).log).toBe("");
    expect(plan()).toMatchObject({ name: "v2", height: "100", info: "i", upgraded_client_state: null });
    expect(schedule({ name: "v3" }).code).toBe(0);
    expect(plan()).toMatchObject({ name: "v3" });
    expect(fieldAt(startTokenChain(chain.exported()).exported(), "upgrade.plan.name")).toBe("v3");
    expect(propose("cosmos.upgrade.v1beta1.MsgCancelUpgrade", {}).code).toBe(0);
    expect(plan()).toBeNull();
  });

  it("has done a plan at its height", () => {
    schedule({ height: "4" });
    chain.chain.block();
    chain.chain.block();
    expect(plan()).toBeNull();
    expect(chain.query("cosmos.upgrade.v1beta1.Query/AppliedPlan", { name: "v2" })).toEqual({ height: "4" });
    expect(schedule({}).log).toContain("upgrade with name v2 has already been completed: invalid request");
  });

  it.each([
    [{ name: "" }, "name cannot be empty"],
    [{ height: "0" }, "height must be greater than 0"],
    [{ height: "1" }, "upgrade cannot be scheduled in the past"],
    [{ time: "2030-01-01T00:00:00Z" }, "time-based upgrades have been deprecated in the SDK"],
  ])("refuses %o", (fields, text) => {
    expect(schedule(fields).log).toContain(`${text}: invalid request`);
    expect(plan()).toBeNull();
  });

  it("is not for accounts", () => {
    expect(chain.run("bob", "cosmos.upgrade.v1beta1.MsgCancelUpgrade", { authority: BOB }).log).toContain(
      `expected ${AUTHORITY} got ${BOB}: expected gov account as only signer for proposal message`,
    );
    expect(chain.query("cosmos.upgrade.v1beta1.Query/Authority", {})).toEqual({ address: AUTHORITY });
  });
});

describe("a proposal", () => {
  it("may have messages of the deployed list only", () => {
    const send = { from_address: AUTHORITY, to_address: BOB, amount: [] };
    expect(propose("cosmos.bank.v1beta1.MsgSend", send, {}).log).toContain(
      "sdk.Msg is not whitelisted: /cosmos.bank.v1beta1.MsgSend",
    );
  });

  it("of the kind before SDK 0.47 is refused, for an admin and for others", () => {
    const content = {
      "@type": "/cosmos.params.v1beta1.ParameterChangeProposal",
      title: "T",
      description: "D",
      changes: [{ subspace: "icahost", key: "HostEnabled", value: "false" }],
    };
    const type = "cosmos.adminmodule.adminmodule.MsgSubmitProposalLegacy";
    expect(chain.run("carol", type, { content, proposer: CAROL })).toMatchObject({
      code: 1,
      log: expect.stringContaining(`proposer ${CAROL} must be admin to submit proposals to admin-module`),
    });
    expect(chain.run("bob", type, { content, proposer: BOB }).log).toContain(
      "proposal content is not whitelisted",
    );
  });

  it("of a contract changes no parameters of that kind", () => {
    const proposal = { param_change_proposal: { title: "T", description: "D", param_changes: [] } };
    const { log } = sendCustom({ submit_admin_proposal: { admin_proposal: proposal } });
    expect(log).toContain("failed to submit admin proposal legacy: proposal content is not whitelisted");
  });

  it("updates and clears the admin of a contract, and pins codes", () => {
    const admin = (): unknown => {
      const info = chain.query("cosmwasm.wasm.v1.Query/ContractInfo", { address: ECHO });
      return isRecord(info) ? fieldAt(info, "contract_info.admin") : undefined;
    };
    const sender = { sender: AUTHORITY };
    expect(propose("cosmwasm.wasm.v1.MsgUpdateAdmin", { new_admin: CAROL, contract: ECHO }, sender).log).toBe(
      "",
    );
    expect(admin()).toBe(CAROL);
    expect(propose("cosmwasm.wasm.v1.MsgClearAdmin", { contract: ECHO }, sender).log).toBe("");
    expect(admin()).toBe("");
    expect(propose("cosmwasm.wasm.v1.MsgPinCodes", { code_ids: ["1", "2"] }).log).toBe("");
    expect(fieldAt(chain.query("cosmwasm.wasm.v1.Query/PinnedCodes", {}), "code_ids")).toEqual(["1", "2"]);
    expect(propose("cosmwasm.wasm.v1.MsgUnpinCodes", { code_ids: ["1", "2"] }).log).toBe("");
    expect(fieldAt(chain.query("cosmwasm.wasm.v1.Query/PinnedCodes", {}), "code_ids")).toEqual([]);
    expect(propose("cosmwasm.wasm.v1.MsgPinCodes", { code_ids: ["9"] }).log).toContain(FAILED);
  });
});
