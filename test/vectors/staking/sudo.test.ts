import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../../src/platform/base/json.ts";
import {
  createHooks,
  type HarpoonHooks,
  setSubscriptions,
} from "../../../src/localnet/chain/modules/harpoon/module.ts";
import { parseAddress } from "../../../src/localnet/chain/runtime/address.ts";
import type { Context } from "../../../src/localnet/chain/runtime/context.ts";
import { HookType } from "../../../src/cosmos/proto/gen/neutron/harpoon/hooks.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { createMemoryWorld } from "../../support/memory-context.ts";
import { RECORDED_TXS } from "../../support/recorded-stake.ts";
import { AUTHORITY, ECHO } from "../../support/stake-world.ts";
import { startTestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx } from "../../support/test-tx.ts";

// SOURCE: test/fixtures/sudo.json, the messages that a contract received on a real chain of release 6.0.3.

interface Recorded {
  readonly height: number;
  readonly in: string;
  readonly sudo: readonly string[];
}

const ALL: readonly Recorded[] = JSON.parse(readFileSync(fixtureFile("sudo.json"), "utf8"));
const NAMES = Object.keys(HookType).map((name) => name.slice("HOOK_TYPE_".length).toLowerCase());
const HOOK_CALLS = ALL.flatMap(({ sudo }) => sudo).filter((text) => NAMES.includes(nameOf(text)));

function nameOf(text: string): string {
  return /^\{"(\w+)"/.exec(text)?.[1] ?? "";
}

function fieldsOf(text: string): Readonly<Record<string, string>> {
  const fields: unknown = Object.values(JSON.parse(text))[0];
  return Object.fromEntries(
    Object.entries(isRecord(fields) ? fields : {}).map(([key, value]) => [key, String(value)]),
  );
}

/** Calls the hook that sends a recorded message. */
function fire(hooks: HarpoonHooks, context: Context, text: string): void {
  const { val_addr = "", cons_addr = "", del_addr = "", fraction = "", ...rest } = fieldsOf(text);
  const validator = (): Uint8Array => parseAddress("neutronvaloper", val_addr);
  const consensus = (): Uint8Array => parseAddress("neutronvalcons", cons_addr);
  const delegator = (): Uint8Array => parseAddress("neutron", del_addr);
  const calls: Readonly<Record<string, () => void>> = {
    after_validator_bonded: () => hooks.afterValidatorBonded(context, consensus(), validator()),
    after_validator_begin_unbonding: () =>
      hooks.afterValidatorBeginUnbonding(context, consensus(), validator()),
    before_validator_modified: () => hooks.beforeValidatorModified(context, validator()),
    before_validator_slashed: () =>
      hooks.beforeValidatorSlashedWithTokensToBurn(context, validator(), {
        fraction,
        tokensToBurn: BigInt(rest["tokens_to_burn"] ?? ""),
      }),
    before_delegation_created: () => hooks.beforeDelegationCreated(context, delegator(), validator()),
    before_delegation_shares_modified: () =>
      hooks.beforeDelegationSharesModified(context, delegator(), validator()),
    after_delegation_modified: () => hooks.afterDelegationModified(context, delegator(), validator()),
    after_unbonding_initiated: () => hooks.afterUnbondingInitiated(context, BigInt(rest["id"] ?? "")),
  };
  const call = calls[nameOf(text)] ?? expect.unreachable(`a recorded message of another hook: ${text}`);
  call();
}

describe("recorded sudo messages of hooks", () => {
  it("are 17 in 7 of 24 entries", () => {
    const entries = ALL.filter(({ sudo }) => sudo.some((text) => NAMES.includes(nameOf(text))));
    expect([ALL.length, entries.length, HOOK_CALLS.length]).toEqual([24, 7, 17]);
  });

  it.each(HOOK_CALLS)("%s", (text) => {
    const sent: string[] = [];
    const contracts = {
      isContract: () => true,
      sudo: (_context: Context, _contract: string, message: string) => void sent.push(message),
    };
    const names = { chainName: "neutron", bech32Prefix: "neutron", authority: AUTHORITY };
    const context = createMemoryWorld().context();
    for (const hookType of Object.values(HookType))
      setSubscriptions(context, { hookType, contractAddresses: [ECHO] });
    fire(createHooks({ ...names, contracts }), context, text);
    expect(sent).toEqual([text]);
  });
});

describe("withdrawals of rewards", () => {
  it.each(["MsgWithdrawDelegatorReward", "MsgWithdrawValidatorCommission"])("%s does not decode", (name) => {
    const recorded = RECORDED_TXS.find(({ seq }) => seq === 58);
    const alice = createTestKey("alice");
    const typeUrl = `/cosmos.distribution.v1beta1.${name}`;
    const chain = startTestChain(testGenesis([{ key: alice, untrn: 10_000_000n }]));
    const tx = buildTx({ key: alice, messages: [{ typeUrl, value: new Uint8Array(0) }], sequence: 0n });
    const { code, codespace, log } = chain.app.checkTx(tx, false);
    const [text = ""] = recorded?.raw_log.split(" [") ?? [];
    expect([code, codespace, log]).toEqual([
      recorded?.code,
      recorded?.codespace,
      text.replace("MsgWithdrawValidatorCommission", name),
    ]);
  });
});
