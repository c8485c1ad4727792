import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toBase64, utf8 } from "../../../../../src/platform/base/bytes.ts";
import { MsgExecuteContract } from "../../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { TYPE_URL } from "../../../../../src/cosmos/proto/registry.ts";
import { createFakeIbc } from "../../../../support/fake-ibc.ts";
import { addContract, ALICE, createIcqChain, ESCROW, type IcqChain } from "../../../../support/icq-chain.ts";

const anything = fc.jsonValue({ maxDepth: 3 });
const id = fc.oneof(fc.nat({ max: 3 }), anything);

/** Fields of the consumer's calls. Each is valid or any JSON. */
const fields = fc.record(
  {
    query_id: id,
    connection_id: fc.oneof(fc.constant("connection-0"), anything),
    update_period: id,
    new_update_period: id,
    keys: fc.oneof(fc.constant([{ path: "bank", key: "AQ==" }]), anything),
    new_keys: anything,
    transactions_filter: fc.oneof(fc.constant("[]"), anything),
    addr: fc.oneof(fc.constant(ALICE), anything),
    denom: fc.oneof(fc.constant("untrn"), anything),
    recipient: anything,
    kv: anything,
  },
  { requiredKeys: [] },
);
const CALLS = [
  "register_kv_query",
  "register_balance_query",
  "register_tx_query",
  "register_transfers_query",
  "update_interchain_query",
  "remove_interchain_query",
  "set_failure",
] as const;
const call = fc.tuple(fc.constantFrom(...CALLS), fields).map(([name, body]) => ({ [name]: body }));

/** A message in a response of the echo contract. */
const action = fc.oneof(
  fc.record({ custom: anything }),
  fc.record({
    stargate: fc.record({
      type_url: fc.constantFrom(TYPE_URL.removeInterchainQuery, "/x"),
      value: fc.base64String(),
    }),
  }),
  fc.record({
    wasm: fc.record({
      execute: fc.record({
        contract_addr: fc.constant(ESCROW),
        msg: fc.constant(toBase64(utf8("{}"))),
        funds: anything,
      }),
    }),
  }),
  anything,
);
/** A response of the echo contract. */
const response = fc.record({
  ok: fc.record(
    {
      messages: fc.oneof(
        fc.array(
          fc.record({
            id: fc.nat(),
            msg: action,
            gas_limit: fc.constantFrom(null, 1000),
            reply_on: fc.constantFrom("always", "never", "error", "success"),
          }),
          { maxLength: 3 },
        ),
        anything,
      ),
      attributes: fc.oneof(fc.constant([{ key: "a", value: "b" }]), anything),
      events: anything,
      data: anything,
    },
    { requiredKeys: ["messages"] },
  ),
});

describe("messages to contracts", () => {
  // `deliver` rethrows any error but `ModuleError`. Such an error would stop the machine, and fails the property.
  it.each([
    ["icq-consumer", fc.oneof(call, anything)],
    ["echo", fc.oneof(response, anything)],
  ] as const)("succeed or fail with a code: %s", (name, messages) => {
    const chain = createIcqChain({ ibc: createFakeIbc() });
    const contract = addContract(chain, name);
    const codes = new Set<number>();
    fc.assert(
      fc.property(messages, (message) => {
        codes.add(execute(chain, contract, JSON.stringify(message)));
      }),
      { numRuns: 700, seed: 2 },
    );
    expect(codes.has(0)).toBe(true);
    expect(codes.size).toBeGreaterThan(2);
  });
});

function execute(chain: IcqChain, contract: string, message: string): number {
  const value = MsgExecuteContract.encode({
    sender: ALICE,
    contract,
    msg: utf8(message),
    funds: [],
  }).finish();
  return chain.deliver([{ typeUrl: TYPE_URL.executeContract, value }]).code;
}
