import { describe, expect, it } from "vitest";
import { parseContractMessage } from "../../../../src/localnet/chain/modules/wasm/contract-message.ts";
import { createMessageRunner } from "../../../../src/localnet/chain/modules/wasm/dispatch.ts";
import { GoField } from "../../../../src/localnet/chain/modules/wasm/go-field.ts";
import type { MessageHandler } from "../../../../src/localnet/chain/runtime/context.ts";
import { toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import { createMemoryWorld } from "../../../support/memory-context.ts";
import { UNUSED_KEEPERS } from "../../../support/unused-keepers.ts";

const CONTRACT = "neutron14hj2tavq8fpesdwxxcu44rty3hh90vhujrvcmstl4zr3txmfvw9s5c2epq";

const parse = (message: object) =>
  parseContractMessage(GoField.parse(utf8(JSON.stringify(message))), CONTRACT);

/** Runs a message on a chain with these handlers. */
function run(message: object, handlers: readonly MessageHandler[] = []): unknown {
  const runner = createMessageRunner(
    { bech32Prefix: "neutron" },
    {
      ...UNUSED_KEEPERS,
      findMessage: (typeUrl) => handlers.find((handler) => handler.typeUrl === typeUrl),
    },
  );
  return runner(createMemoryWorld().context(), CONTRACT, parse(message));
}

const vote = (fields: object) => ({ gov: { vote: { proposal_id: 7, ...fields } } });
const weighted = (...options: readonly object[]) => ({
  gov: { vote_weighted: { proposal_id: 7, options } },
});

describe("messages of contracts to modules that a chain may not have", () => {
  // The recorded distribution messages are among the cases of `npm run conformance:contracts`.
  it.each([
    [vote({ option: "yes" }), `proposal_id:7 voter:"${CONTRACT}" option:VOTE_OPTION_YES `],
    [vote({ vote: "no_with_veto" }), `proposal_id:7 voter:"${CONTRACT}" option:VOTE_OPTION_NO_WITH_VETO `],
    [
      { gov: { vote: { proposal_id: 0, option: "abstain" } } },
      `voter:"${CONTRACT}" option:VOTE_OPTION_ABSTAIN `,
    ],
    [
      weighted({ option: "yes", weight: "0.25" }, { option: "no", weight: "0.75" }),
      `proposal_id:7 voter:"${CONTRACT}" options:<option:VOTE_OPTION_YES weight:"0.250000000000000000" > options:<option:VOTE_OPTION_NO weight:"0.750000000000000000" > `,
    ],
    [
      { distribution: { withdraw_delegator_reward: { validator: "v" } } },
      `delegator_address:"${CONTRACT}" validator_address:"v" `,
    ],
    [{ distribution: { set_withdraw_address: { address: "" } } }, `delegator_address:"${CONTRACT}" `],
  ])("cannot be routed: %j", (message, text) => {
    expect(() => run(message)).toThrow(`can't route message ${text}: unknown request`);
  });

  it("are routed on a chain that has the module, and signed by the contract", () => {
    const seen: string[] = [];
    const handler: MessageHandler = {
      typeUrl: "/cosmos.gov.v1.MsgVote",
      signers: () => [CONTRACT],
      handle: (_context, message) => {
        seen.push(toHex(message));
        return { typeUrl: "/cosmos.gov.v1.MsgVoteResponse", response: new Uint8Array(0) };
      },
    };
    run(vote({ option: "no" }), [handler]);
    // 1: proposal_id 7, 2: voter, 3: option 3.
    const voter = `12${(CONTRACT.length).toString(16)}${toHex(utf8(CONTRACT))}`;
    expect(seen).toEqual([`0807${voter}1803`]);
    expect(() => run(vote({ option: "no" }), [{ ...handler, signers: () => ["another"] }])).toThrow(
      "contract doesn't have permission",
    );
  });

  it.each([
    [vote({ option: "maybe" }), "invalid vote option 'maybe'"],
    [vote({ option: "yes", vote: "no" }), "both 'option' and 'vote' fields are set"],
    [vote({}), "nil pointer dereference"],
    [{ gov: { vote: { proposal_id: -1, option: "yes" } } }, "cannot unmarshal number -1"],
  ])("are refused before they are sent: %j", (message, text) => {
    expect(() => parse(message)).toThrow(text);
  });

  it.each([
    [weighted({ option: "yes", weight: "x" }), "weight for vote 1: "],
    [{ gov: { propose: {} } }, "no handler found: unknown message from the contract"],
  ])("fail when it is their turn: %j", (message, text) => {
    expect(parse(message)).toMatchObject({ kind: "invalid" });
    expect(() => run(message)).toThrow(text);
  });
});
