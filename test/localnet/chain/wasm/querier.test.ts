import { describe, expect, it } from "vitest";
import { answerQuery, createQuerier } from "../../../../src/localnet/chain/modules/wasm/querier.ts";
import type { StakingReads } from "../../../../src/localnet/chain/modules/wasm/staking-querier.ts";
import type { Context } from "../../../../src/localnet/chain/runtime/context.ts";
import { createGasMeter } from "../../../../src/localnet/chain/runtime/gas.ts";
import { GAS_MULTIPLIER } from "../../../../src/localnet/vm/gas.ts";
import { createVm } from "../../../../src/localnet/vm/vm.ts";
import { fromUtf8, toBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import { createMemoryWorld } from "../../../support/memory-context.ts";
import { UNUSED_KEEPERS } from "../../../support/unused-keepers.ts";

const OPERATOR = "neutronvaloper18hl5c9xn5dze2g50uaw0l2mr02ew57zk5tccmr";
const DELEGATOR = "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2";
const VALIDATOR = { operatorAddress: OPERATOR, rate: "0.1", maxRate: "0.2", maxChangeRate: "0.01" };
const PRINTED = `{"address":"${OPERATOR}","commission":"0.1","max_commission":"0.2","max_change_rate":"0.01"}`;
const DELEGATION = {
  delegatorAddress: DELEGATOR,
  validatorAddress: OPERATOR,
  amount: { denom: "untrn", amount: 7n },
};

const world = createMemoryWorld();

const STAKING: StakingReads = {
  bondDenom: () => "untrn",
  bondedValidators: () => [VALIDATOR],
  validator: () => VALIDATOR,
  delegationsOf: () => [DELEGATION],
  delegation: () => DELEGATION,
  isReceiving: () => false,
};

/** Answers a query of a contract, with other reads of staking. */
function ask(
  request: unknown,
  others: Partial<StakingReads> = {},
  place = { context: world.context(), gas: 1_000_000n },
): string {
  const { smart, ...unused } = UNUSED_KEEPERS;
  const querier = createQuerier(
    { chainName: "neutron", bech32Prefix: "neutron", authority: "", codes: [], allowedQueries: [] },
    {
      ...unused,
      vm: createVm(),
      findQuery: () => undefined,
      staking: { ...STAKING, ...others },
    },
    smart,
  );
  const contract = { address: "", bytes: new Uint8Array(32), hash: new Uint8Array(32) };
  const caller = { context: place.context, contract, gas: place.gas * GAS_MULTIPLIER };
  return fromUtf8(answerQuery(querier, caller, utf8(JSON.stringify(request)), smart));
}

const okOf = (text: string): string => JSON.stringify({ ok: { ok: toBase64(utf8(text)) } });

describe("queries of binary contracts", () => {
  const validator = { staking: { validator: { address: OPERATOR } } };
  const delegation = { staking: { delegation: { delegator: DELEGATOR, validator: OPERATOR } } };

  it.each([
    [{ staking: { bonded_denom: {} } }, '{"denom":"untrn"}'],
    [{ staking: { all_validators: {} } }, `{"validators":[${PRINTED}]}`],
    [validator, `{"validator":${PRINTED}}`],
    [
      { staking: { all_delegations: { delegator: DELEGATOR } } },
      `{"delegations":[{"delegator":"${DELEGATOR}","validator":"${OPERATOR}","amount":{"denom":"untrn","amount":"7"}}]}`,
    ],
  ])("read the module staking: %j", (request, text) => {
    expect(ask(request)).toBe(okOf(text));
  });

  it("tell what is absent from a failure", () => {
    expect(ask(validator, { validator: () => undefined })).toBe(okOf('{"validator":null}'));
    expect(ask(delegation, { delegation: () => undefined })).toBe(okOf("{}"));
    expect(ask({ staking: { validator: { address: "x" } } })).toBe(
      '{"ok":{"error":"codespace: undefined, code: 1"}}',
    );
    expect(ask({ staking: { all_delegations: { delegator: OPERATOR } } })).toBe(
      '{"ok":{"error":"codespace: sdk, code: 7"}}',
    );
  });

  it("panic for a delegation: its rewards would be those of a module that the chain does not have", () => {
    expect(() => ask(delegation)).toThrow("nil pointer dereference");
  });

  it("have the gas that the call has left, and the call pays what they used", () => {
    const use = (gas: bigint) => ({
      bondDenom: (context: Context) => {
        context.gas.consume(gas, "reading");
        return "untrn";
      },
    });
    const request = { staking: { bonded_denom: {} } };
    const enough = world.context({ gas: createGasMeter(100n) });
    expect(ask(request, use(10n), { context: enough, gas: 10n })).toBe(okOf('{"denom":"untrn"}'));
    expect(enough.gas.used()).toBe(10n);
    const short = world.context({ gas: createGasMeter(100n) });
    expect(() => ask(request, use(11n), { context: short, gas: 10n })).toThrow(
      "out of gas in location: reading; gasWanted: 10, gasUsed: 11",
    );
    expect(short.gas.used()).toBe(11n);
  });

  it("find no port and no channels", () => {
    expect(ask({ ibc: { port_id: {} } })).toBe(okOf('{"port_id":""}'));
    expect(ask({ ibc: { list_channels: {} } })).toBe(okOf('{"channels":[]}'));
  });

  it.each([
    [{ staking: { pool: {} } }, "unknown Staking variant"],
    [{ ibc: { fee_enabled_channel: {} } }, "unknown IBCQuery variant"],
    [{ bank: { metadata: {} } }, "unknown BankQuery variant"],
    [{ wasm: {} }, "unknown WasmQuery variant"],
    [{ custom: { x: {} } }, "unknown neutron query type"],
  ])("are unsupported: %j", (request, kind) => {
    expect(ask(request)).toBe(JSON.stringify({ error: { unsupported_request: { kind } } }));
  });

  it("are invalid with a member of another type", () => {
    const request = { wasm: { smart: { contract_addr: 1 } } };
    expect(ask(request)).toBe(
      JSON.stringify({
        error: {
          invalid_request: {
            error:
              "json: cannot unmarshal number into Go struct field wasm.smart.contract_addr of type string",
            request: toBase64(utf8(JSON.stringify(request))),
          },
        },
      }),
    );
  });
});
