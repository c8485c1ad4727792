import { Argument, Command } from "commander";
import { z } from "zod";
import { CANONICAL_CHAIN_NAME } from "../../cosmos/proto/registry.ts";
import type { Header } from "../../cosmos/comet/block-types.ts";
import { parseSignedHeader } from "../../cosmos/comet/rpc-json.ts";
import { decodeBech32, fromBase64, sha256, toBase64, toHex, upperHex } from "../../platform/base/bytes.ts";
import { formatRfc3339Ns, isoTime } from "../../platform/base/time.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import type { JsonObject, JsonValue } from "../../platform/base/json.ts";
import { monthOf, nextMonthMs } from "../../platform/base/month.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { askDaemon } from "../../platform/cli/daemon-request.ts";
import { cellText, fieldAt, listAt } from "../../platform/cli/table.ts";
import { accountNamed, CHAINS, TEST_KEYS } from "../accounts/chains.ts";
import { TREASURY } from "../chain/modules/revenue/keeper.ts";
import { formatAddress, moduleAddress } from "../chain/runtime/address.ts";
import { isJsonObject } from "./command-inputs.ts";
import { askLocalnet, type LocalnetOptions, parseChains, withLocalnetOptions } from "./control-commands.ts";
import { withChain } from "./chain-connection.ts";
import { AUTHORITY, check, propose, requireDone } from "./localnet-scenario.ts";
import { createScenarioChain, type ScenarioChain } from "./scenario/scenario-chain.ts";

interface Options extends LocalnetOptions {
  readonly keep?: true;
}

interface Stage {
  readonly local: ScenarioChain;
  readonly remoteHeader: () => Promise<Header>;
  /** Sends a command to the control API. */
  readonly order: (path: string, body: JsonObject) => Promise<unknown>;
  readonly nowMs: () => Promise<number>;
  readonly height: () => Promise<bigint>;
  readonly print: (line: string) => void;
}

const REHEARSALS = {
  "month-end": monthEnd,
  "client-expiry": clientExpiry,
  upgrade,
  "jail-and-release": jailAndRelease,
  "relayer-runs-dry": relayerRunsDry,
} as const satisfies Readonly<Record<string, (stage: Stage) => Promise<void>>>;

/** `relaywatch localnet rehearse NAME`: runs weeks of events on a localnet, prints each step, then reverts the chains. */
export function rehearseCommand(context: CliContext): Command {
  const command = new Command()
    .addArgument(new Argument("<name>", "rehearsal to run").choices(Object.keys(REHEARSALS)))
    .option("--keep", "keep the chains' final state and the initial snapshot instead of reverting the chains")
    .addHelpText(
      "after",
      "\nSee docs/rehearsals.md for what each rehearsal shows and what to watch while it runs. Both chains must run in one process (relaywatch up).",
    );
  return withLocalnetOptions(command).action((name: keyof typeof REHEARSALS, options: Options) =>
    rehearse(REHEARSALS[name], options, context),
  );
}

async function rehearse(
  play: (stage: Stage) => Promise<void>,
  options: Options,
  context: CliContext,
): Promise<void> {
  const { chainId } = CHAINS.local;
  const { print, signal } = context;
  const order: Stage["order"] = (path, body) => askLocalnet(path, body, options, context);
  const read = (path: string): Promise<unknown> => askLocalnet(path, undefined, options, context);
  const { id } = z.object({ id: z.number() }).parse(await order("/snapshots", {}));
  print(`Snapshot ${id} is taken.`);
  try {
    await withChain(
      { portOffset: options.portOffset, chainId, chainName: CANONICAL_CHAIN_NAME },
      context,
      (client) =>
        play({
          local: createScenarioChain(CHAINS.local, client, signal),
          remoteHeader: () => remoteHeader(options.portOffset, signal),
          order,
          nowMs: async () => Date.parse(z.object({ time: z.string() }).parse(await read("/time")).time),
          height: async () =>
            BigInt(
              parseChains(await read("/chains")).find(({ chain_id }) => chain_id === chainId)?.height ?? 0,
            ),
          print,
        }),
    );
  } finally {
    if (options.keep) print(`\nGo back with: relaywatch localnet revert ${id}`);
    else {
      await order("/snapshots/revert", { id });
      await order("/snapshots/remove", { id });
      print("\nThe chains are back where they were.");
    }
  }
}

async function remoteHeader(portOffset: number, signal: AbortSignal): Promise<Header> {
  const reply = await askDaemon(
    {
      daemon: "the remote chain",
      url: `http://127.0.0.1:${portsAt(portOffset).remoteRpc}`,
      path: "/commit",
      hint: "start both chains in one process: relaywatch up",
    },
    signal,
  );
  return parseSignedHeader(
    z.object({ result: z.object({ signed_header: z.unknown() }) }).parse(reply).result.signed_header,
  ).header;
}

const { denom, bech32Prefix } = CHAINS.local;

function textAt(value: JsonValue, path: string): string {
  return cellText(fieldAt(value, path));
}

async function balanceOf({ local }: Stage, address: string): Promise<bigint> {
  const reply = await local.ask("cosmos.bank.v1beta1.Query", "Balance", { address, denom });
  return BigInt(textAt(reply, "balance.amount"));
}

function countsText(stats: JsonValue): string {
  const [operator, blocks, votes, all] = [
    "validator_info.val_oper_address",
    "validator_info.commited_blocks_in_period",
    "validator_info.commited_oracle_votes_in_period",
    "total_produced_blocks_in_period",
  ].map((path) => textAt(stats, path));
  return `   ${operator}: ${blocks} blocks and ${votes} price votes of ${all}`;
}

async function monthEnd(stage: Stage): Promise<void> {
  const { local, order, nowMs, print } = stage;
  const treasury = formatAddress(bech32Prefix, moduleAddress(TREASURY));
  const statsNow = async (): Promise<readonly JsonValue[]> =>
    listAt(await local.ask("neutron.revenue.Query", "ValidatorsStats", {}), "stats");
  const endMs = nextMonthMs(await nowMs());
  await order("/time", { set: isoTime(endMs - 30_000) });
  await order("/blocks", { count: 6, interval: "4s" });
  const before = await balanceOf(stage, treasury);
  print(`1. ${monthOf(endMs - 1)} ends in a few seconds. Its counts:`);
  for (const one of await statsNow()) print(countsText(one));
  await order("/blocks", { count: 5, interval: "4s" });
  const paid = before - (await balanceOf(stage, treasury));
  check(
    paid > 0n,
    "the first block of the month paid nobody: the chain has no price of the reward asset; the sidecar must run for a minute",
  );
  print(`2. The first block of ${monthOf(endMs)} has paid ${paid}${denom} from the treasury ${treasury}.`);
  print("3. The counts begin again:");
  for (const one of await statsNow()) print(countsText(one));
}

const CLIENT = "07-tendermint-0";

async function clientExpiry(stage: Stage): Promise<void> {
  const { local, order, remoteHeader: newest, print } = stage;
  const ask = (rpc: string, request: JsonObject): Promise<JsonValue> =>
    local.ask("ibc.core.client.v1.Query", rpc, request);
  const statusOf = async (clientId: string): Promise<string> =>
    textAt(await ask("ClientStatus", { client_id: clientId }), "status");
  const clientIds = async (): Promise<readonly string[]> =>
    listAt(await ask("ClientStates", {}), "client_states").map((one) => textAt(one, "client_id"));
  await order("/time", { add: "15d" });
  await order("/blocks", { count: 3 });
  const expired = await statusOf(CLIENT);
  print(
    `1. Fifteen days without an update: the client ${CLIENT} is ${expired}. Its queries and packets wait.`,
  );
  check(expired === "Expired", `the client ${CLIENT} did not expire; it is ${expired}`);
  const known = new Set(await clientIds());
  const { height, timeNs, appHash, nextValidatorsHash } = await newest();
  const state = fieldAt(await ask("ClientState", { client_id: CLIENT }), "client_state");
  check(isJsonObject(state), `the chain has no client ${CLIENT}`);
  requireDone(
    await local.send("operator", "ibc.core.client.v1.MsgCreateClient", {
      client_state: { ...state, latest_height: { revision_number: "1", revision_height: height.toString() } },
      consensus_state: {
        "@type": "/ibc.lightclients.tendermint.v1.ConsensusState",
        timestamp: formatRfc3339Ns(timeNs),
        root: { hash: toBase64(appHash) },
        next_validators_hash: upperHex(nextValidatorsHash),
      },
      signer: accountNamed(CHAINS.local, "operator").address,
    }),
  );
  const substitute = (await clientIds()).find((one) => !known.has(one)) ?? "";
  print(
    `2. A substitute at height ${height} of the remote chain is ${await statusOf(substitute)}: ${substitute}.`,
  );
  await propose(local, {
    "@type": "/ibc.core.client.v1.MsgRecoverClient",
    subject_client_id: CLIENT,
    substitute_client_id: substitute,
    signer: AUTHORITY,
  });
  print(
    `3. A proposal has recovered ${CLIENT}: it is ${await statusOf(CLIENT)}. The relayers continue by themselves.`,
  );
}

const UPGRADE = "rehearsal";

async function upgrade(stage: Stage): Promise<void> {
  const { local, order, height, print } = stage;
  const at = (await height()) + 20n;
  await propose(local, {
    "@type": "/cosmos.upgrade.v1beta1.MsgSoftwareUpgrade",
    authority: AUTHORITY,
    plan: { name: UPGRADE, height: at.toString(), info: "" },
  });
  const planned = await local.ask("cosmos.upgrade.v1beta1.Query", "CurrentPlan", {});
  print(
    `1. The upgrade "${UPGRADE}" is planned for height ${textAt(planned, "plan.height")}. A watchdog reports it.`,
  );
  const missing = at - (await height());
  if (missing > 0n) await order("/blocks", { count: Number(missing) + 1, interval: "1s" });
  const applied = await local.ask("cosmos.upgrade.v1beta1.Query", "AppliedPlan", { name: UPGRADE });
  check(textAt(applied, "height") === at.toString(), `the upgrade was not applied at height ${at}`);
  print(`2. It was applied at height ${at}, and the chain goes on.`);
}

/** A validator whose operator is a test account. */
interface Operated {
  readonly account: string;
  readonly operator: string;
  /** The validator's consensus address (20 bytes, in hex). */
  readonly consensusAddress: string;
  readonly tokens: bigint;
  readonly isJailed: boolean;
  readonly status: string;
}

async function validatorsNow({ local }: Stage): Promise<readonly Operated[]> {
  const reply = await local.ask("cosmos.staking.v1beta1.Query", "Validators", {});
  return listAt(reply, "validators").map((one) => {
    const operator = textAt(one, "operator_address");
    const { bytes } = decodeBech32(operator);
    return {
      operator,
      account: TEST_KEYS.find(({ addressHex }) => addressHex === toHex(bytes))?.name ?? "",
      consensusAddress: upperHex(sha256(fromBase64(textAt(one, "consensus_pubkey.key"))).subarray(0, 20)),
      tokens: BigInt(textAt(one, "tokens")),
      isJailed: fieldAt(one, "jailed") === true,
      status: textAt(one, "status"),
    };
  });
}

/**
 * Returns the weakest validator that a test account operates. The validator has less than a third of all tokens, so the chain can
 * continue without it.
 */
async function dispensable(stage: Stage): Promise<Operated> {
  const all = await validatorsNow(stage);
  const total = all.reduce((sum, { tokens }) => sum + tokens, 0n);
  const [weakest] = all
    .filter(({ account, tokens, isJailed }) => account !== "" && !isJailed && tokens * 3n < total)
    .toSorted((one, other) => (one.tokens < other.tokens ? -1 : 1));
  if (weakest !== undefined) return weakest;
  throw new CliError(
    EXIT.usage,
    "no test account's validator can be spared; start the localnet with more validators: set local.validators in its --chain-config, or run relaywatch localnet start --local-validators 10,2",
  );
}

async function jailAndRelease(stage: Stage): Promise<void> {
  const { local, order, print } = stage;
  const before = await dispensable(stage);
  const { account, operator, consensusAddress } = before;
  const now = async (): Promise<Operated> =>
    (await validatorsNow(stage)).find((one) => one.operator === operator) ?? before;
  const setAbsent = (validators: readonly string[]): Promise<unknown> =>
    order(`/chains/${CHAINS.local.chainId}/absent`, { validators: [...validators] });
  const release = () =>
    local.send(account, "cosmos.slashing.v1beta1.MsgUnjail", { validator_addr: operator });
  const params = fieldAt(await local.ask("cosmos.slashing.v1beta1.Query", "Params", {}), "params");
  const window = Number(textAt(params, "signed_blocks_window"));
  await setAbsent([consensusAddress]);
  // Make blocks for up to two signing windows, because the chain cannot jail a validator during its first signing window.
  for (let made = 0; made < 2 * window && !(await now()).isJailed; made += 10)
    await order("/blocks", { count: 10, interval: "1s" });
  await setAbsent([]);
  const jailed = await now();
  check(jailed.isJailed, `${operator} missed ${2 * window} blocks and is not jailed`);
  print(
    `1. ${operator} of ${account} has missed too many of ${window} blocks: it is jailed, has lost ${before.tokens - jailed.tokens}${denom}, and the chain goes on without it.`,
  );
  const early = await release();
  check(early.confirmation.kind !== "included", "the jail time ended early");
  const wait = textAt(params, "downtime_jail_duration");
  print(`2. It signs again, but stays in jail for ${wait}: an earlier unjail is refused.`);
  await order("/time", { add: `${Number.parseInt(wait, 10) + 10}s` });
  await order("/blocks", { count: 2, interval: "1s" });
  requireDone(await release());
  await order("/blocks", { count: 3, interval: "1s" });
  const free = await now();
  check(
    !free.isJailed && free.status === "BOND_STATUS_BONDED",
    `${operator} is not active again: ${free.status}`,
  );
  print(
    `3. ${account} has released it with MsgUnjail. It is bonded, and signs with what it has left: ${free.tokens}${denom}.`,
  );
}

/** Amount that stays in the account for the next fee, in the base unit. The amount is more than any transaction's fee. */
const FEE_ROOM = 1_000_000n;

async function relayerRunsDry(stage: Stage): Promise<void> {
  const { order, print } = stage;
  const { address } = accountNamed(CHAINS.local, "relayer");
  const before = await balanceOf(stage, address);
  await drain(stage, before - FEE_ROOM);
  // Keep enough coins for the second transaction's fee, which is about as high as the first transaction's fee.
  const rest = await balanceOf(stage, address);
  await drain(stage, rest - (FEE_ROOM - rest));
  const left = await balanceOf(stage, address);
  print(
    `1. The relayer's account ${address} had ${before}${denom}, and has ${left}. Its page names the problem.`,
  );
  await order("/blocks", { count: 5, interval: "1s" });
  await order(`/chains/${CHAINS.local.chainId}/faucet`, { address, amount: "1000000000" });
  await order("/blocks", { count: 2, interval: "1s" });
  const filled = await balanceOf(stage, address);
  check(filled > left, "the faucet's coins did not arrive");
  print(`2. The faucet has sent coins: ${filled}${denom}. The relayer continues by itself.`);
}

/** Sends coins from the relayer's account to alice, and retries if the running relayer has used the same sequence. */
async function drain({ local }: Stage, amount: bigint): Promise<void> {
  const fields = {
    from_address: accountNamed(CHAINS.local, "relayer").address,
    to_address: accountNamed(CHAINS.local, "alice").address,
    amount: [{ denom, amount: amount.toString() }],
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return void requireDone(await local.send("relayer", "cosmos.bank.v1beta1.MsgSend", fields));
    } catch (error) {
      if (attempt === DRAIN_ATTEMPTS || !(error instanceof CliError)) throw error;
    }
  }
}

const DRAIN_ATTEMPTS = 5;
