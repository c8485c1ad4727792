import { beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import {
  ALICE,
  AUTHORITY,
  BOB,
  ECHO,
  startTokenChain,
  type TokenChain,
} from "../../../support/token-chain.ts";

const DENOM = `factory/${ECHO}/gold`;

let tokens: TokenChain;

beforeEach(() => {
  tokens = startTokenChain({ adminmodule: { admins: [ECHO] } });
});

/** Makes the contract send a message of the chain's bindings. */
function send(custom: JsonObject, funds: readonly JsonObject[] = []): ReturnType<TokenChain["run"]> {
  const messages = [{ id: 1, msg: { custom }, reply_on: "never", gas_limit: null }];
  const msg = { ok: { messages, attributes: [], events: [] } };
  const fields = { sender: ALICE, contract: ECHO, msg, funds: [...funds] };
  return tokens.run("alice", "cosmwasm.wasm.v1.MsgExecuteContract", fields);
}

function expectOk(result: ReturnType<TokenChain["run"]>): void {
  expect([result.code, result.log]).toEqual([0, ""]);
}

describe("messages of a contract", () => {
  it("create, mint, burn, move and describe the coins of the contract's denomination", () => {
    expectOk(send({ create_denom: { subdenom: "gold" } }));
    expectOk(send({ mint_tokens: { denom: DENOM, amount: "10", mint_to_address: ECHO } }));
    expectOk(send({ mint_tokens: { denom: DENOM, amount: "5", mint_to_address: BOB } }));
    expectOk(send({ burn_tokens: { denom: DENOM, amount: "4", burn_from_address: "" } }));
    const moved = { denom: DENOM, amount: "2", transfer_from_address: BOB, transfer_to_address: ALICE };
    expectOk(send({ force_transfer: moved }));
    expect([ECHO, BOB, ALICE].map((address) => tokens.balance(address, DENOM))).toEqual(["6", "3", "2"]);
    expectOk(send({ set_before_send_hook: { denom: DENOM, contract_addr: "" } }));
    expectOk(send({ change_admin: { denom: DENOM, new_admin_address: BOB } }));
    const request = { creator: ECHO, subdenom: "gold" };
    expect(tokens.query("osmosis.tokenfactory.v1beta1.Query/DenomAuthorityMetadata", request)).toEqual({
      authority_metadata: { Admin: BOB },
    });
  });

  it.each([
    [
      { mint_tokens: { denom: DENOM, amount: "1", mint_to_address: BOB } },
      `perform mint: minting coins from message: denom: ${DENOM}: denom does not exist`,
    ],
    [
      { mint_tokens: { denom: DENOM, amount: "1", mint_to_address: "" } },
      "perform mint: address from bech32: empty address string is not allowed",
    ],
    [
      { burn_tokens: { denom: DENOM, burn_from_address: "" } },
      "perform burn: burning coins from message: failed to validate MsgBurn: <nil>: invalid coins",
    ],
    [
      { create_denom: { subdenom: "a!" } },
      `perform create denom: creating denom: failed to validate MsgCreateDenom: invalid denom: factory/${ECHO}/a!: invalid denom`,
    ],
    [
      { ibc_transfer: { source_port: "transfer", source_channel: "channel-0", fee: {} } },
      "failed to execute IBCTransfer: failed to validate MsgTransfer: ack fee or timeout fee is zero: invalid coins",
    ],
    [
      { submit_admin_proposal: { admin_proposal: {} } },
      "invalid proposal quantity: no admin proposal type is present in message",
    ],
    [
      { submit_admin_proposal: { admin_proposal: { proposal_execute_message: { message: "{}" } } } },
      "failed to submit admin proposal: failed to unmarshall incoming sdk message: Any JSON doesn't have '@type'",
    ],
    [{ dex: {} }, "unknown request"],
    [
      { dex: { cancel_limit_order: { tranche_key: "none" } } },
      "failed to execute *types.MsgCancelLimitOrder: ",
    ],
    [
      { dex: { deposit: { fees: ["1"] } } },
      "failed to decode incoming custom cosmos message: deposit.fees[0]",
    ],
  ])("%j fails with the deployed text", (custom, text) => {
    expect(send(custom).log).toContain(`dispatch: submessages: ${text}`);
  });

  it("submit a proposal with a message of the authority, if the contract is an admin", () => {
    const message = JSON.stringify({
      "@type": "/neutron.contractmanager.MsgUpdateParams",
      authority: AUTHORITY,
      params: { sudo_call_gas_limit: "5" },
    });
    const proposal = { submit_admin_proposal: { admin_proposal: { proposal_execute_message: { message } } } };
    expectOk(send(proposal));
    expect(tokens.query("neutron.contractmanager.Query/Params", {})).toEqual({
      params: { sudo_call_gas_limit: "5" },
    });
    const foreign = message.replace(AUTHORITY, ALICE);
    const other = { admin_proposal: { proposal_execute_message: { message: foreign } } };
    expect(send({ submit_admin_proposal: other }).log).toContain(
      "failed to submit admin proposal: authority in incoming msg is not equal to admin module: unauthorized",
    );
  });

  it("trade on the exchange", () => {
    expectOk(send({ create_denom: { subdenom: "gold" } }));
    expectOk(send({ mint_tokens: { denom: DENOM, amount: "1000", mint_to_address: ECHO } }));
    const deposit = {
      receiver: ECHO,
      token_a: DENOM,
      token_b: "untrn",
      amounts_a: ["100"],
      amounts_b: ["200"],
      tick_indexes_a_to_b: [-2],
      fees: [1],
      options: [{}],
    };
    expectOk(send({ dex: { deposit } }, [{ denom: "untrn", amount: "1000" }]));
    const order = {
      receiver: ECHO,
      token_in: DENOM,
      token_out: "untrn",
      tick_index_in_to_out: 5,
      amount_in: "10",
      order_type: "IMMEDIATE_OR_CANCEL",
      expiration_time: null,
      max_amount_out: "7",
      limit_sell_price: "5e-1",
    };
    const placed = send({ dex: { place_limit_order: { ...order, tick_index_in_to_out: 0 } } });
    expectOk(placed);
    const before = BigInt(tokens.balance(ECHO, "untrn"));
    const swap = {
      receiver: ECHO,
      routes: [{ hops: [DENOM, "untrn"] }],
      amount_in: "10",
      exit_limit_price: "0.1",
      pick_best_route: false,
    };
    expectOk(send({ dex: { multi_hop_swap: swap } }));
    expect(BigInt(tokens.balance(ECHO, "untrn"))).toBeGreaterThan(before);
    const { options: _options, amounts_a: _a, amounts_b: _b, ...pool } = deposit;
    expectOk(send({ dex: { withdrawal: { ...pool, shares_to_remove: ["10"] } } }));
    expect(send({ dex: { place_limit_order: { ...order, order_type: "MARKET" } } }).log).toContain(
      'got "MARKET", expected one of GOOD_TIL_CANCELLED',
    );
  });
});
