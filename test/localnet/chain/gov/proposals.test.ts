import { beforeEach, describe, expect, it } from "vitest";
import { validatorKey } from "../../../../src/localnet/node/consensus/validators.ts";
import {
  formatAddress,
  moduleAddress,
  parseAddress,
} from "../../../../src/localnet/chain/runtime/address.ts";
import { concat, fromHex, toBase64, uint64BigEndian } from "../../../../src/platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../../../src/platform/base/json.ts";
import { fieldAt } from "../../../../src/platform/cli/table.ts";
import { Proposal, Vote } from "../../../../src/cosmos/proto/gen/cosmos/gov/v1/gov.ts";
import { ALICE, BOB, CAROL, startTokenChain, type TokenChain } from "../../../support/token-chain.ts";

const GOV = formatAddress("neutron", moduleAddress("gov"));
const ALICE_OPERATOR = formatAddress("neutronvaloper", parseAddress("neutron", ALICE));
const TEXT = { "@type": "/cosmos.gov.v1beta1.TextProposal", title: "A title", description: "A text" };
const PARAMS = {
  min_deposit: [{ denom: "untrn", amount: "1000" }],
  max_deposit_period: "20s",
  voting_period: "10s",
  quorum: "0.334",
  threshold: "0.5",
  veto_threshold: "0.334",
  min_initial_deposit_ratio: "0",
  proposal_cancel_ratio: "0.5",
  proposal_cancel_dest: "",
  expedited_voting_period: "5s",
  expedited_threshold: "0.667",
  expedited_min_deposit: [{ denom: "untrn", amount: "2000" }],
  burn_vote_quorum: false,
  burn_proposal_deposit_prevote: false,
  burn_vote_veto: true,
  min_deposit_ratio: "0.01",
};

let chain: TokenChain;

beforeEach(() => {
  chain = startTokenChain({ gov: { params: PARAMS } }, "remote");
});

const coins = (amount: string) => [{ denom: "untrn", amount }];

function propose(amount = "1000", content: JsonObject = TEXT): ReturnType<TokenChain["run"]> {
  const fields = { content, initial_deposit: coins(amount), proposer: ALICE };
  return chain.run("alice", "cosmos.gov.v1beta1.MsgSubmitProposal", fields);
}

function proposeMessages(
  messages: readonly JsonObject[],
  more: JsonObject = {},
): ReturnType<TokenChain["run"]> {
  const fields = {
    messages: [...messages],
    initial_deposit: coins("2000"),
    proposer: BOB,
    title: "T",
    summary: "S",
  };
  return chain.run("bob", "cosmos.gov.v1.MsgSubmitProposal", { ...fields, ...more });
}

const vote = (
  name: "alice" | "bob" | "carol",
  voter: string,
  option: string,
): ReturnType<TokenChain["run"]> =>
  chain.run(name, "cosmos.gov.v1beta1.MsgVote", { proposal_id: "1", voter, option: `VOTE_OPTION_${option}` });

/** Makes alice a validator with 6 million tokens of her own, to whom bob delegates 3 and carol 1. */
function bond(): void {
  const create = chain.run("alice", "cosmos.staking.v1beta1.MsgCreateValidator", {
    description: { moniker: "alice" },
    commission: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
    min_self_delegation: "1",
    validator_address: ALICE_OPERATOR,
    pubkey: {
      "@type": "/cosmos.crypto.ed25519.PubKey",
      key: toBase64(validatorKey(fromHex("11".repeat(32))).publicKey),
    },
    value: { denom: "untrn", amount: "6000000" },
  });
  expect(create.log).toBe("");
  for (const [name, address, amount] of [
    ["bob", BOB, "3000000"],
    ["carol", CAROL, "1000000"],
  ] as const)
    expect(
      chain.run(name, "cosmos.staking.v1beta1.MsgDelegate", {
        delegator_address: address,
        validator_address: ALICE_OPERATOR,
        amount: { denom: "untrn", amount },
      }).log,
    ).toBe("");
}

/** Runs empty blocks; each takes a second. Returns the events of their ends. */
function wait(seconds: number) {
  return Array.from({ length: seconds }, () => chain.chain.block().events).flat();
}

function proposal(id = "1"): JsonValue {
  return fieldAt(chain.query("cosmos.gov.v1.Query/Proposal", { proposal_id: id }), "proposal");
}

function stored(key: Uint8Array): Uint8Array | undefined {
  const { value } = chain.chain.app.query({ path: "/store/gov/key", data: key, height: 0n, prove: false });
  return value.length === 0 ? undefined : value;
}

describe("a text proposal", () => {
  it("starts its vote with enough deposit, under the keys of the deployed module", () => {
    const { code, events } = propose();
    expect(code).toBe(0);
    const attributes = events
      .filter(({ type }) => type === "submit_proposal" || type === "proposal_deposit")
      .map(({ type, attributes: list }) => [type, ...list.map(({ key, value }) => `${key}=${value}`)]);
    expect(attributes).toEqual([
      [
        "submit_proposal",
        "proposal_id=1",
        "proposal_messages=,/cosmos.gov.v1.MsgExecLegacyContent",
        "msg_index=0",
      ],
      ["proposal_deposit", `depositor=${ALICE}`, "amount=1000untrn", "proposal_id=1", "msg_index=0"],
      ["submit_proposal", "voting_period_start=1", "msg_index=0"],
    ]);
    const record = Proposal.decode(
      stored(concat(Uint8Array.of(0), uint64BigEndian(1n))) ?? new Uint8Array(0),
    );
    expect(record).toMatchObject({
      id: 1n,
      status: 2,
      title: "A title",
      summary: "A text",
      proposer: ALICE,
      expedited: false,
      totalDeposit: [{ denom: "untrn", amount: "1000" }],
      finalTallyResult: { yesCount: "0", abstainCount: "0", noCount: "0", noWithVetoCount: "0" },
    });
    expect(record.messages.map(({ typeUrl }) => typeUrl)).toEqual(["/cosmos.gov.v1.MsgExecLegacyContent"]);
    expect(stored(concat(Uint8Array.of(4), uint64BigEndian(1n)))).toEqual(Uint8Array.of(1));
    expect(stored(Uint8Array.of(3))).toEqual(uint64BigEndian(2n));
    expect(chain.balance(GOV, "untrn")).toBe("1000");
  });

  it("stores a vote under its number and the voter's address with its length", () => {
    propose();
    expect(vote("bob", BOB, "YES").events).toContainEqual(
      expect.objectContaining({
        type: "proposal_vote",
        attributes: expect.arrayContaining([
          { key: "option", value: '[{"option":1,"weight":"1.000000000000000000"}]', index: true },
        ]),
      }),
    );
    const key = concat(
      Uint8Array.of(0x20),
      uint64BigEndian(1n),
      Uint8Array.of(20),
      parseAddress("neutron", BOB),
    );
    expect(Vote.decode(stored(key) ?? new Uint8Array(0))).toEqual({
      proposalId: 1n,
      voter: BOB,
      options: [{ option: 1, weight: "1.000000000000000000" }],
      metadata: "",
    });
  });

  it("waits for deposits, and returns them at the end of the period", () => {
    expect(propose("10").code).toBe(0);
    expect(proposal()).toMatchObject({ status: "PROPOSAL_STATUS_DEPOSIT_PERIOD", voting_end_time: null });
    expect(vote("bob", BOB, "YES").log).toContain("1: inactive proposal");
    chain.run("bob", "cosmos.gov.v1.MsgDeposit", { proposal_id: "1", depositor: BOB, amount: coins("15") });
    expect(chain.balance(GOV, "untrn")).toBe("25");
    const events = wait(20);
    expect(events.find(({ type }) => type === "inactive_proposal")?.attributes).toMatchObject([
      { key: "proposal_id", value: "1" },
      { key: "proposal_result", value: "proposal_dropped" },
      { key: "mode", value: "EndBlock" },
    ]);
    expect(chain.balance(GOV, "untrn")).toBe("0");
    expect(() => proposal()).toThrow("proposal 1 doesn't exist");
  });

  it("starts its vote when deposits of several accounts are enough", () => {
    propose("600");
    const deposit = { proposal_id: "1", depositor: BOB, amount: coins("400") };
    expect(chain.run("bob", "cosmos.gov.v1beta1.MsgDeposit", deposit).code).toBe(0);
    expect(proposal()).toMatchObject({
      status: "PROPOSAL_STATUS_VOTING_PERIOD",
      total_deposit: coins("1000"),
    });
    expect(chain.query("cosmos.gov.v1.Query/Deposits", { proposal_id: "1" })).toMatchObject({
      deposits: expect.arrayContaining([
        { proposal_id: "1", depositor: ALICE, amount: coins("600") },
        { proposal_id: "1", depositor: BOB, amount: coins("400") },
      ]),
    });
    expect(chain.query("cosmos.gov.v1.Query/Deposit", { proposal_id: "1", depositor: BOB })).toEqual({
      deposit: { proposal_id: "1", depositor: BOB, amount: coins("400") },
    });
  });
});

describe("a vote", () => {
  it("passes with the stake of the voters, and a validator votes for its silent delegators", () => {
    bond();
    propose();
    vote("alice", ALICE, "YES");
    vote("bob", BOB, "NO");
    const tally = { yes_count: "7000000", abstain_count: "0", no_count: "3000000", no_with_veto_count: "0" };
    expect(chain.query("cosmos.gov.v1.Query/TallyResult", { proposal_id: "1" })).toEqual({ tally });
    const ended = wait(10).find(({ type }) => type === "active_proposal");
    expect(ended?.attributes.map(({ value }) => value)).toEqual([
      "1",
      "proposal_passed",
      "passed",
      "EndBlock",
    ]);
    expect(proposal()).toMatchObject({ status: "PROPOSAL_STATUS_PASSED", final_tally_result: tally });
    expect(chain.query("cosmos.gov.v1.Query/Votes", { proposal_id: "1" })).toMatchObject({ votes: [] });
    expect(chain.balance(GOV, "untrn")).toBe("0");
  });

  it("is rejected below the quorum and by a majority; deposits come back", () => {
    bond();
    propose();
    vote("carol", CAROL, "YES");
    wait(10);
    expect(proposal()).toMatchObject({ status: "PROPOSAL_STATUS_REJECTED" });
    expect(chain.balance(GOV, "untrn")).toBe("0");
  });

  it("burns the deposits when a third vetoes", () => {
    bond();
    propose();
    vote("alice", ALICE, "YES");
    chain.run("alice", "cosmos.gov.v1.MsgVoteWeighted", {
      proposal_id: "1",
      voter: ALICE,
      options: [
        { option: "VOTE_OPTION_YES", weight: "0.6" },
        { option: "VOTE_OPTION_NO_WITH_VETO", weight: "0.4" },
      ],
    });
    const supply = (): unknown => chain.query("cosmos.bank.v1beta1.Query/SupplyOf", { denom: "untrn" });
    const before = supply();
    wait(10);
    expect(proposal()).toMatchObject({
      status: "PROPOSAL_STATUS_REJECTED",
      final_tally_result: { yes_count: "6000000", no_with_veto_count: "4000000" },
    });
    expect(chain.balance(GOV, "untrn")).toBe("0");
    expect(supply()).not.toEqual(before);
  });

  it("of an expedited proposal needs more, and becomes a regular vote otherwise", () => {
    bond();
    proposeMessages([], { metadata: "m", expedited: true });
    vote("alice", ALICE, "NO");
    vote("bob", BOB, "YES");
    const log = wait(5).find(({ type }) => type === "active_proposal")?.attributes[1]?.value;
    expect(log).toBe("expedited_proposal_rejected");
    expect(proposal()).toMatchObject({ status: "PROPOSAL_STATUS_VOTING_PERIOD", expedited: false });
    expect(chain.balance(GOV, "untrn")).toBe("2000");
    wait(5);
    expect(proposal()).toMatchObject({ status: "PROPOSAL_STATUS_REJECTED" });
  });
});

describe("a proposal with messages", () => {
  const update = (params: JsonObject) => ({
    "@type": "/cosmos.gov.v1.MsgUpdateParams",
    authority: GOV,
    params,
  });

  it("runs them as the authority when it passes", () => {
    bond();
    expect(proposeMessages([update({ ...PARAMS, voting_period: "11s" })]).code).toBe(0);
    vote("alice", ALICE, "YES");
    wait(10);
    expect(proposal()).toMatchObject({ status: "PROPOSAL_STATUS_PASSED", failed_reason: "" });
    expect(chain.query("cosmos.gov.v1.Query/Params", {})).toMatchObject({ params: { voting_period: "11s" } });
  });

  it("has no effect when one of them fails", () => {
    bond();
    proposeMessages([update({ ...PARAMS, voting_period: "11s" }), update({ ...PARAMS, quorum: "1.5" })]);
    vote("alice", ALICE, "YES");
    const ended = wait(10).find(({ type }) => type === "active_proposal");
    expect(ended?.attributes[2]?.value).toBe(
      "passed, but msg 1 (/cosmos.gov.v1.MsgUpdateParams) failed on execution: quorum too large: 1.5",
    );
    expect(proposal()).toMatchObject({ status: "PROPOSAL_STATUS_FAILED" });
    expect(chain.query("cosmos.gov.v1.Query/Params", {})).toMatchObject({ params: { voting_period: "10s" } });
  });

  it("is withdrawn by its proposer, who loses half of the deposit", () => {
    proposeMessages([update(PARAMS)]);
    const cancel = (name: "alice" | "bob", proposer: string) =>
      chain.run(name, "cosmos.gov.v1.MsgCancelProposal", { proposal_id: "1", proposer });
    expect(cancel("alice", ALICE).log).toContain(`invalid proposer ${ALICE}: invalid proposer`);
    const before = BigInt(chain.balance(BOB, "untrn"));
    expect(cancel("bob", BOB).code).toBe(0);
    expect(BigInt(chain.balance(BOB, "untrn")) - before).toBe(1000n - 30_000n);
    expect(chain.balance(GOV, "untrn")).toBe("0");
  });
});

describe("a message is refused", () => {
  const log = (result: { readonly log: string }): string =>
    result.log.replace(/^failed to execute message; message index: 0: /, "");

  it("with the error of the deployed module", () => {
    expect(log(propose("1000", { ...TEXT, title: " " }))).toBe(
      "proposal title cannot be blank: invalid proposal content",
    );
    expect(log(propose("9"))).toBe(
      "received 9untrn but need at least one of the following: 10untrn: minimum deposit is too small",
    );
    expect(
      log(
        proposeMessages([{ "@type": "/cosmos.bank.v1beta1.MsgSend", from_address: BOB, to_address: ALICE }]),
      ),
    ).toBe(`${BOB}: expected gov account as only signer for proposal message`);
    expect(log(proposeMessages([]))).toBe(
      "either metadata or Msgs length must be non-nil: no messages proposed",
    );
    expect(log(proposeMessages([], { metadata: '{"title":"other","summary":"S"}' }))).toBe(
      "metadata title 'other' must equal proposal title 'T': invalid proposal content",
    );
    expect(log(vote("bob", BOB, "YES"))).toBe("1: inactive proposal");
    propose();
    expect(log(vote("bob", BOB, "UNSPECIFIED"))).toBe("VOTE_OPTION_UNSPECIFIED: invalid vote option");
    const split = (weight: string) =>
      chain.run("bob", "cosmos.gov.v1beta1.MsgVoteWeighted", {
        proposal_id: "1",
        voter: BOB,
        options: [{ option: "VOTE_OPTION_NO", weight }],
      });
    expect(log(split("0.9"))).toBe("total weight lower than 1.00: invalid vote option");
    expect(split("1.0").code).toBe(0);
    expect(
      log(
        chain.run("bob", "cosmos.gov.v1.MsgDeposit", {
          proposal_id: "7",
          depositor: BOB,
          amount: coins("1"),
        }),
      ),
    ).toBe("collections: not found: key '7' of type github.com/cosmos/gogoproto/cosmos.gov.v1.Proposal");
  });
});

it("an exported state continues: open votes end, deposits return", () => {
  bond();
  propose();
  vote("alice", ALICE, "YES");
  propose("10");
  const state = chain.exported();
  chain = startTokenChain(state, "remote");
  expect(chain.exported()["gov"]).toEqual(state["gov"]);
  wait(30);
  expect(proposal()).toMatchObject({ status: "PROPOSAL_STATUS_PASSED" });
  expect(() => proposal("2")).toThrow("proposal 2 doesn't exist");
});

it("a genesis with a vote of an unknown proposal is refused", () => {
  const votes = [{ proposal_id: "4", voter: BOB, options: [], metadata: "" }];
  expect(() => startTokenChain({ gov: { params: PARAMS, votes } }, "remote")).toThrow(
    "app_state.gov.votes[0]: expected proposal 4 in app_state.gov.proposals",
  );
});

describe("the queries of v1beta1", () => {
  const query = (name: string, fields: JsonObject = {}): JsonValue =>
    chain.query(`cosmos.gov.v1beta1.Query/${name}`, fields);

  it("convert proposals: the content of one of v1beta1, the first message of one of v1", () => {
    propose();
    const { code } = proposeMessages([
      { "@type": "/cosmos.bank.v1beta1.MsgSend", from_address: GOV, to_address: ALICE, amount: coins("1") },
    ]);
    expect(code).toBe(0);
    const { proposal: first } = { proposal: fieldAt(query("Proposal", { proposal_id: "1" }), "proposal") };
    expect(first).toMatchObject({
      proposal_id: "1",
      content: TEXT,
      status: "PROPOSAL_STATUS_VOTING_PERIOD",
      final_tally_result: { yes: "0", abstain: "0", no: "0", no_with_veto: "0" },
      total_deposit: coins("1000"),
      submit_time: fieldAt(proposal(), "submit_time"),
      voting_end_time: fieldAt(proposal(), "voting_end_time"),
    });
    const page = { limit: "1", count_total: true };
    expect(query("Proposals", { pagination: page })).toEqual({
      proposals: [first],
      pagination: { next_key: expect.any(String), total: "2" },
    });
    expect(query("Proposals", { proposal_status: "PROPOSAL_STATUS_PASSED" })).toMatchObject({
      proposals: [],
    });
    expect(query("Proposal", { proposal_id: "2" })).toMatchObject({
      proposal: { content: { "@type": "/cosmos.bank.v1beta1.MsgSend", from_address: GOV } },
    });
  });

  it("have votes, deposits and results", () => {
    bond();
    propose();
    expect(vote("bob", BOB, "YES").code).toBe(0);
    const voted = {
      proposal_id: "1",
      voter: BOB,
      option: "VOTE_OPTION_UNSPECIFIED",
      options: [{ option: "VOTE_OPTION_YES", weight: "1.000000000000000000" }],
    };
    expect(query("Vote", { proposal_id: "1", voter: BOB })).toEqual({ vote: voted });
    expect(query("Votes", { proposal_id: "1" })).toMatchObject({ votes: [voted] });
    const deposit = { proposal_id: "1", depositor: ALICE, amount: coins("1000") };
    expect(query("Deposit", { proposal_id: "1", depositor: ALICE })).toEqual({ deposit });
    expect(query("Deposits", { proposal_id: "1" })).toMatchObject({ deposits: [deposit] });
    expect(query("TallyResult", { proposal_id: "1" })).toEqual({
      tally: { yes: "3000000", abstain: "0", no: "0", no_with_veto: "0" },
    });
  });

  it("have the parameters of the named kind", () => {
    expect(query("Params", { params_type: "deposit" })).toMatchObject({
      deposit_params: { min_deposit: coins("1000"), max_deposit_period: "20s" },
    });
    expect(query("Params", { params_type: "voting" })).toMatchObject({
      voting_params: { voting_period: "10s" },
    });
    expect(query("Params", { params_type: "tallying" })).toMatchObject({
      tally_params: {
        quorum: "0.334000000000000000",
        threshold: "0.500000000000000000",
        veto_threshold: "0.334000000000000000",
      },
    });
  });
});
