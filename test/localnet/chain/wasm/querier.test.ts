import { describe, expect, it } from "vitest";
import {
  QueryParamsResponse,
  QueryValidatorResponse,
} from "../../../../src/cosmos/proto/gen/cosmos/staking/v1beta1/query.ts";
import { messageFromJson } from "../../../../src/cosmos/proto/json.ts";
import { answerQuery, createQuerier } from "../../../../src/localnet/chain/modules/wasm/querier.ts";
import type { WasmDeps } from "../../../../src/localnet/chain/modules/wasm/types.ts";
import type { Context } from "../../../../src/localnet/chain/runtime/context.ts";
import { createGasMeter } from "../../../../src/localnet/chain/runtime/gas.ts";
import { GAS_MULTIPLIER } from "../../../../src/localnet/vm/gas.ts";
import { GrpcCode, QueryError } from "../../../../src/localnet/chain/runtime/errors.ts";
import { createVm } from "../../../../src/localnet/vm/vm.ts";
import { fromUtf8, toBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import { createMemoryWorld } from "../../../support/memory-context.ts";

const PARAMS = QueryParamsResponse.decode(
  messageFromJson("cosmos.staking.v1beta1.QueryParamsResponse", { params: { bond_denom: "untrn" } }),
);
const VALIDATOR = QueryValidatorResponse.decode(
  messageFromJson("cosmos.staking.v1beta1.QueryValidatorResponse", {
    validator: {
      operator_address: "neutronvaloper1x",
      commission: { commission_rates: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" } },
    },
  }),
);

const world = createMemoryWorld();

type Answer = (context: Context) => Uint8Array;

function staking(path: string, response: Answer): ReturnType<WasmDeps["findQuery"]> {
  return { path, query: response };
}

const RESPONSES: Readonly<Record<string, Answer>> = {
  "/cosmos.staking.v1beta1.Query/Params": () => QueryParamsResponse.encode(PARAMS).finish(),
  "/cosmos.staking.v1beta1.Query/Validator": () => QueryValidatorResponse.encode(VALIDATOR).finish(),
};

/** Answers a query of a contract, with other responses of the chain. */
function ask(
  request: unknown,
  others: Readonly<Record<string, Answer>> = {},
  place = { context: world.context(), gas: 1_000_000n },
): string {
  const none = (): never => {
    throw new Error("this is not asked");
  };
  const bank = {
    supply: none,
    balance: none,
    balances: none,
    sendCoins: none,
    burnCoins: none,
    requireSendEnabled: none,
  };
  const smart = { query: none, isDeterministic: () => false };
  const querier = createQuerier(
    { chainName: "neutron", bech32Prefix: "neutron", authority: "", codes: [], allowedQueries: [] },
    {
      channels: { channel: none, channelsOfPorts: none, sendPacket: none },
      vm: createVm(),
      bank,
      accounts: { ensureAccount: none },
      findMessage: none,
      findQuery: (path) => {
        const response = { ...RESPONSES, ...others }[path];
        return response === undefined ? undefined : staking(path, response);
      },
    },
    smart,
  );
  const contract = { address: "", bytes: new Uint8Array(32), hash: new Uint8Array(32) };
  const caller = { context: place.context, contract, gas: place.gas * GAS_MULTIPLIER };
  return fromUtf8(answerQuery(querier, caller, utf8(JSON.stringify(request)), smart));
}

function fails(code: number): () => Uint8Array {
  return () => {
    throw new QueryError(code, "it failed");
  };
}

const okOf = (text: string): string => JSON.stringify({ ok: { ok: toBase64(utf8(text)) } });
const validator = { staking: { validator: { address: "neutronvaloper1x" } } };

describe("queries of binary contracts", () => {
  it("read the module staking", () => {
    expect(ask({ staking: { bonded_denom: {} } })).toBe(okOf('{"denom":"untrn"}'));
    expect(ask(validator)).toBe(
      okOf(
        '{"validator":{"address":"neutronvaloper1x","commission":"0.100000000000000000","max_commission":"0.200000000000000000","max_change_rate":"0.010000000000000000"}}',
      ),
    );
  });

  it("tell an absent validator from a failure", () => {
    const path = "/cosmos.staking.v1beta1.Query/Validator";
    expect(ask(validator, { [path]: fails(GrpcCode.NotFound) })).toBe(okOf('{"validator":null}'));
    expect(ask(validator, { [path]: fails(GrpcCode.Internal) })).toBe(
      '{"ok":{"error":"codespace: undefined, code: 1"}}',
    );
  });

  it("have the gas that the call has left, and the call pays what they used", () => {
    const path = "/cosmos.staking.v1beta1.Query/Params";
    const use = (gas: bigint) => (context: Context) => {
      context.gas.consume(gas, "reading");
      return QueryParamsResponse.encode(PARAMS).finish();
    };
    const request = { staking: { bonded_denom: {} } };
    const enough = world.context({ gas: createGasMeter(100n) });
    expect(ask(request, { [path]: use(10n) }, { context: enough, gas: 10n })).toBe(okOf('{"denom":"untrn"}'));
    expect(enough.gas.used()).toBe(10n);
    const short = world.context({ gas: createGasMeter(100n) });
    expect(() => ask(request, { [path]: use(11n) }, { context: short, gas: 10n })).toThrow(
      "out of gas in location: reading; gasWanted: 10, gasUsed: 11",
    );
    expect(short.gas.used()).toBe(11n);
  });

  it("find no port and no channels", () => {
    expect(ask({ ibc: { port_id: {} } })).toBe(okOf('{"port_id":""}'));
    expect(ask({ ibc: { list_channels: {} } })).toBe(okOf('{"channels":[]}'));
  });

  it.each([
    [{ staking: { all_validators: {} } }, "unknown Staking variant"],
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
