import { toBase64, toHex, utf8, encodeBech32 } from "../../../platform/base/bytes.ts";
import { EXIT } from "../../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue, stringifyJson } from "../../../platform/base/json.ts";
import { rateLimiter } from "../../chain/contracts/rate-limiter/rate-limiter.ts";
import { codeHash } from "../../chain/modules/wasm/keeper.ts";
import { moduleAddress } from "../../chain/runtime/address.ts";
import { accountNamed, CHAINS } from "../../network/chains.ts";
import { CliError } from "../../../platform/cli/cli-error.ts";
import { fieldAt } from "../../../platform/cli/table.ts";
import type { ScenarioChain, ScenarioTx } from "./scenario-chain.ts";

/** The scenario's limiter, on `local-1`. */
export interface LimiterDemo {
  readonly address: string;
  /** Coins that may leave in a window. */
  readonly quota: bigint;
  /** Coins that have left in the present window. */
  readonly used: () => Promise<bigint>;
  /** The smart query that `used` reads, base64. */
  readonly query: string;
}

const CHAIN = CHAINS.local;
const OPERATOR = accountNamed(CHAIN, "operator").address;
const AUTHORITY = encodeBech32(CHAIN.bech32Prefix, moduleAddress("adminmodule"));
const WINDOW = { name: "daily", duration: 86_400, send_recv: [1, 100] };

/** Returns the contract that limits transfers now; "" for none. */
export async function limiterNow({ ask }: ScenarioChain): Promise<string> {
  return textAt(await ask("neutron.ibcratelimit.v1beta1.Query", "Params", {}), "params.contract_address");
}

/** Instantiates the reference limiter with a daily quota of 1 % of the supply for transfers out of a channel. */
export async function deployLimiter(chain: ScenarioChain, channelId: string): Promise<LimiterDemo> {
  const { denom } = CHAIN;
  const path = { channel_id: channelId, denom, quotas: [WINDOW] };
  const message = { gov_module: OPERATOR, ibc_module: AUTHORITY, paths: [path] };
  const deployed = await chain.send("operator", "cosmwasm.wasm.v1.MsgInstantiateContract", {
    sender: OPERATOR,
    admin: OPERATOR,
    code_id: await codeOfLimiter(chain),
    label: "rate-limiter",
    msg: message,
    funds: [],
  });
  const address = textAt(requireDone(deployed).response, "address");
  const query = toBase64(utf8(stringifyJson({ get_quotas: { channel_id: channelId, denom } })));
  const supply = textAt(await chain.ask("cosmos.bank.v1beta1.Query", "SupplyOf", { denom }), "amount.amount");
  return {
    address,
    quota: BigInt(supply) / 100n,
    query,
    used: async () => {
      const state = await chain.ask("cosmwasm.wasm.v1.Query", "SmartContractState", {
        address,
        query_data: query,
      });
      const quotas = fieldAt(state, "data");
      return BigInt(textAt(Array.isArray(quotas) ? (quotas[0] ?? null) : null, "flow.outflow"));
    },
  };
}

/** Sets the contract that limits transfers, in a proposal by `operator`; "" for none. */
export async function setLimiter({ send }: ScenarioChain, address: string): Promise<ScenarioTx> {
  const message: JsonObject = {
    "@type": "/neutron.ibcratelimit.v1beta1.MsgUpdateParams",
    authority: AUTHORITY,
    params: { contract_address: address },
  };
  return requireDone(
    await send("operator", "cosmos.adminmodule.adminmodule.MsgSubmitProposal", {
      messages: [message],
      proposer: OPERATOR,
    }),
  );
}

/** Throws `CliError` for a transaction that failed in its block. */
export function requireDone(tx: ScenarioTx): ScenarioTx {
  const { confirmation, hash } = tx;
  if (confirmation.kind === "included") return tx;
  const log = "log" in confirmation ? confirmation.log : confirmation.reason;
  throw new CliError(EXIT.fatal, `the scenario's transaction ${hash} failed: ${log}`);
}

/** Returns a text field from a response. */
export function textAt(value: JsonValue, path: string): string {
  const found = fieldAt(value, path);
  if (typeof found === "string") return found;
  throw new CliError(EXIT.fatal, `local-1 returned no ${path}`);
}

async function codeOfLimiter({ ask }: ScenarioChain): Promise<string> {
  const hash = toHex(codeHash(rateLimiter)).toUpperCase();
  const listed = fieldAt(await ask("cosmwasm.wasm.v1.Query", "Codes", {}), "code_infos");
  const found = (Array.isArray(listed) ? listed : []).find(
    (code) => isRecord(code) && code["data_hash"] === hash,
  );
  if (found !== undefined) return textAt(found, "code_id");
  throw new CliError(
    EXIT.fatal,
    "local-1 has no code rate-limiter: its home comes from an earlier version; start a localnet with another --home",
  );
}
