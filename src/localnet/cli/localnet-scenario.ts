import { Argument, Command } from "commander";
import { CANONICAL_CHAIN_NAME } from "../../cosmos/proto/registry.ts";
import { withTimeout } from "../../platform/base/abort.ts";
import { encodeBech32, toBase64, toHex, utf8 } from "../../platform/base/bytes.ts";
import { systemClock } from "../../platform/base/clock.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { type JsonObject, type JsonValue, stringifyJson } from "../../platform/base/json.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { portOffsetOption } from "../../platform/cli/options.ts";
import { fieldAt, listAt } from "../../platform/cli/table.ts";
import { rateLimiter } from "../chain/contracts/rate-limiter/rate-limiter.ts";
import { codeHash } from "../chain/modules/wasm/keeper.ts";
import { moduleAddress } from "../chain/runtime/address.ts";
import { accountNamed, CHAINS } from "../accounts/chains.ts";
import { withChain } from "./chain-connection.ts";
import { createScenarioChain, type ScenarioChain, type ScenarioTx } from "./scenario/scenario-chain.ts";

interface Options {
  readonly keep?: boolean;
  readonly portOffset: number;
}

/** `relaywatch localnet scenario NAME`: runs a scenario on a running localnet and prints each step. */
export function scenarioCommand(context: CliContext): Command {
  return new Command()
    .addArgument(new Argument("<name>", "scenario to run").choices(["over-quota"]))
    .option("--keep", "leave the rate limiter enabled at the end")
    .addOption(portOffsetOption())
    .addHelpText(
      "after",
      `
over-quota: a contract limits transfers to 1 % of the supply per day. One transfer passes, one is rejected, and one is refunded by
the other chain. It needs a localnet with its IBC relayer (relaywatch up), takes about half a minute, and moves alice's coins.`,
    )
    .action((_name: string, options: Options) => play(options, context));
}

function play({ portOffset, keep = false }: Options, context: CliContext): Promise<void> {
  const { signal, print } = context;
  const { chainId } = CHAINS.local;
  return withChain({ portOffset, chainId, chainName: CANONICAL_CHAIN_NAME }, context, (client) =>
    runOverQuota({
      local: createScenarioChain(CHAINS.local, client, signal),
      print,
      signal,
      rest: `http://127.0.0.1:${portsAt(portOffset).localRest}`,
      portOption: portOffset === 0 ? "" : ` --port-offset ${portOffset}`,
      keep,
    }),
  );
}

interface OverQuota {
  readonly local: ScenarioChain;
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
  /** Base URL of the REST API on `local-1`. */
  readonly rest: string;
  /** The `--port-offset` option that selects this localnet, with a leading space, or empty for the default localnet. */
  readonly portOption: string;
  /** If true, the contract that limits transfers stays active after the scenario. */
  readonly keep: boolean;
}

const { denom } = CHAINS.local;
const ALICE = accountNamed(CHAINS.local, "alice").address;
const RECEIVER = accountNamed(CHAINS.remote, "alice").address;
const NOBODY = "nobody";
const WAIT_MS = 60_000;
const POLL_MS = 200;

/**
 * Limits transfers with the reference limiter, then demonstrates a successful, a rejected and a refunded transfer. Finally removes
 * the limiter, even after an error, unless `keep` is set or the scenario is aborted. Throws `CliError`, for example if no IBC
 * relayer is running.
 */
async function runOverQuota(scenario: OverQuota): Promise<void> {
  const { local, print, keep } = scenario;
  const present = await limiterNow(local);
  check(
    present === "",
    `transfers are already limited by ${present}; remove that limit first: relaywatch tx ibc-rate-limit update-params --none --from operator${scenario.portOption}`,
  );
  const channel = await openChannel(scenario);
  const limiter = await deployLimiter(local, channel);
  await setLimiter(local, limiter.address);
  print(
    `1. The limiter ${limiter.address} is set. In a day, at most ${limiter.quota}${denom} may leave over ${channel}:`,
  );
  print("   1 % of the supply.");
  try {
    await showPass(scenario, limiter, channel);
    await showRefusal(scenario, limiter, channel);
    await showUndo(scenario, limiter, channel);
    showLooks(scenario, limiter, channel);
  } finally {
    // After an abort, this transaction fails too, so the limiter stays active. The next run then reports the active limiter.
    if (!keep) await setLimiter(local, "");
  }
  print(keep ? "\nThe limiter stays on (--keep)." : "\nThe limiter is off again.");
}

/** Waits for an open transfer channel, because the IBC relayer may still be opening it. */
async function openChannel(scenario: OverQuota): Promise<string> {
  const find = async (): Promise<string | undefined> => {
    const channels = listAt(
      await scenario.local.ask("ibc.core.channel.v1.Query", "Channels", {}),
      "channels",
    );
    const open = channels.find(
      (one) => fieldAt(one, "state") === "STATE_OPEN" && fieldAt(one, "port_id") === "transfer",
    );
    return open === undefined ? undefined : textAt(open, "channel_id");
  };
  return waitFor("no channel for transfers is open", find, scenario);
}

/** Demonstrates a successful transfer of a tenth of the quota. */
async function showPass(scenario: OverQuota, limiter: LimiterDemo, channel: string): Promise<void> {
  const { print } = scenario;
  const amount = limiter.quota / 10n;
  print(`\n2. alice sends ${amount}${denom}, a tenth of the quota.`);
  const sequence = textAt(
    requireDone(await transfer(scenario, channel, amount, RECEIVER)).response,
    "sequence",
  );
  await untilAcknowledged(scenario, channel, sequence);
  print(
    `   Packet ${sequence} arrived and was acknowledged. Used: ${await limiter.used()} of ${limiter.quota}.`,
  );
}

/** Demonstrates a rejected transfer, which exceeds the remaining quota by one base unit. */
async function showRefusal(scenario: OverQuota, limiter: LimiterDemo, channel: string): Promise<void> {
  const { print } = scenario;
  const before = await limiter.used();
  const amount = limiter.quota - before + 1n;
  print(`\n3. alice sends ${amount}${denom}: one more than the quota still allows.`);
  const { confirmation, hash } = await transfer(scenario, channel, amount, RECEIVER);
  check(confirmation.kind === "failed", `the transfer over quota was not refused: transaction ${hash}`);
  const { codespace, code, log } = confirmation;
  print(
    `   Rejected in its block: code ${code} of ${codespace}. The coins did not move, only the fee was paid.`,
  );
  print(`   ${log}`);
  print(`   Used: ${await limiter.used()} of ${limiter.quota}, as before.`);
}

/** Demonstrates a refund by sending half of the quota to an address that is invalid on the other chain. */
async function showUndo(scenario: OverQuota, limiter: LimiterDemo, channel: string): Promise<void> {
  const { local, print } = scenario;
  const before = await limiter.used();
  const amount = limiter.quota / 2n;
  print(
    `\n4. alice sends ${amount}${denom} to "${NOBODY}". The limiter lets it pass, the other chain refuses it.`,
  );
  const sent = requireDone(await transfer(scenario, channel, amount, NOBODY));
  const sequence = textAt(sent.response, "sequence");
  print(`   Packet ${sequence} is in flight. Used: ${await limiter.used()} of ${limiter.quota}.`);
  await untilAcknowledged(scenario, channel, sequence);
  const events = await local.eventsOf(
    `acknowledge_packet.packet_src_channel='${channel}' AND acknowledge_packet.packet_sequence='${sequence}'`,
  );
  const after = await limiter.used();
  print(`   Packet ${sequence} came back with an error. alice has her coins again, and the quota too.`);
  print(`   Used: ${before} before, ${after} now. A timeout does the same.`);
  print("   Events in the acknowledgement's transaction:");
  for (const { type, attributes } of events) {
    if (!SHOWN_EVENTS.has(type)) continue;
    const words = attributes
      .filter(({ key }) => SHOWN_KEYS.has(key))
      .map(({ key, value }) => `${key}=${value}`);
    print(`   - ${[type, ...words].join(" ")}`);
  }
  check(after === before, `the quota shows ${after} used instead of ${before} after the rejection`);
}

const SHOWN_EVENTS: ReadonlySet<string> = new Set([
  "acknowledge_packet",
  "wasm",
  "fungible_token_packet",
  "bad_revert",
]);
const SHOWN_KEYS: ReadonlySet<string> = new Set([
  "packet_sequence",
  "method",
  "channel_id",
  "denom",
  "error",
  "failure_type",
]);

function showLooks(
  { print, rest, portOption }: OverQuota,
  { address, query }: LimiterDemo,
  channel: string,
): void {
  print("\n5. Where to look when transfers fail at night:");
  for (const [what, command] of [
    ["which contract limits", `relaywatch query ibc-rate-limit params${portOption}`],
    ["the same over REST", `curl -s ${rest}/neutron/ibc-rate-limit/v1beta1/params`],
    [
      "its quota and the used amount",
      `curl -s ${rest}/cosmwasm/wasm/v1/contract/${address}/smart/${encodeURIComponent(query)}`,
    ],
    ["packets in flight", `relaywatch query ibc channel packet-commitments transfer ${channel}${portOption}`],
    [
      "switch the limiter off",
      `relaywatch tx ibc-rate-limit update-params --none --from operator${portOption}`,
    ],
  ] as const)
    print(`   ${what.padEnd(27)} ${command}`);
}

function transfer(
  { local }: OverQuota,
  channel: string,
  amount: bigint,
  receiver: string,
): Promise<ScenarioTx> {
  const fields: JsonObject = {
    source_port: "transfer",
    source_channel: channel,
    token: { denom, amount: amount.toString() },
    sender: ALICE,
    receiver,
    timeout_timestamp: `${Math.round(systemClock.nowMs() + 600_000)}000000`,
  };
  return local.send("alice", "ibc.applications.transfer.v1.MsgTransfer", fields);
}

function untilAcknowledged(scenario: OverQuota, channel: string, sequence: string): Promise<true> {
  const isAcknowledged = async (): Promise<true | undefined> => {
    const request = { port_id: "transfer", channel_id: channel, packet_ack_sequences: [sequence] };
    const left = fieldAt(
      await scenario.local.ask("ibc.core.channel.v1.Query", "UnreceivedAcks", request),
      "sequences",
    );
    return Array.isArray(left) && left.length === 0 ? true : undefined;
  };
  return waitFor(`packet ${sequence} did not arrive`, isAcknowledged, scenario);
}

async function waitFor<T>(
  problem: string,
  find: () => Promise<T | undefined>,
  { signal, portOption }: OverQuota,
): Promise<T> {
  const found = await withTimeout(WAIT_MS, systemClock, signal, async (inner) => {
    for (;;) {
      const value = await find();
      if (value !== undefined) return value;
      await systemClock.sleep(POLL_MS, inner);
    }
  });
  if (found !== undefined) return found;
  throw new CliError(
    EXIT.tryAgain,
    `${problem} within ${WAIT_MS / 1_000} s; the scenario needs the IBC relayer: relaywatch up, or relaywatch localnet start ibc-relayer${portOption}`,
  );
}

interface LimiterDemo {
  readonly address: string;
  /** Maximum outgoing amount per window, in the base unit. */
  readonly quota: bigint;
  /** Returns the outgoing amount in the current window, in the base unit. */
  readonly used: () => Promise<bigint>;
  /** The JSON of the contract query with which `used` reads the outgoing amount, in base64. */
  readonly query: string;
}

const CHAIN = CHAINS.local;
const OPERATOR = accountNamed(CHAIN, "operator").address;
export const AUTHORITY = encodeBech32(CHAIN.bech32Prefix, moduleAddress("adminmodule"));
const WINDOW = { name: "daily", duration: 86_400, send_recv: [1, 100] };

/** Returns the address of the contract that currently limits transfers, or an empty string if transfers are not limited. */
async function limiterNow({ ask }: ScenarioChain): Promise<string> {
  return textAt(await ask("neutron.ibcratelimit.v1beta1.Query", "Params", {}), "params.contract_address");
}

/** Instantiates the reference limiter with a daily quota for outgoing transfers on the channel: 1 % of the supply. */
export async function deployLimiter(chain: ScenarioChain, channelId: string): Promise<LimiterDemo> {
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
      return BigInt(textAt(listAt(state, "data")[0] ?? null, "flow.outflow"));
    },
  };
}

/** Sets the contract that limits transfers, with a proposal by `operator`. An empty `address` removes the limit. */
export async function setLimiter(chain: ScenarioChain, address: string): Promise<ScenarioTx> {
  return propose(chain, {
    "@type": "/neutron.ibcratelimit.v1beta1.MsgUpdateParams",
    authority: AUTHORITY,
    params: { contract_address: address },
  });
}

/** Executes a message with the chain's authority as the signer, with a proposal by `operator`. */
export async function propose({ send }: ScenarioChain, message: JsonObject): Promise<ScenarioTx> {
  return requireDone(
    await send("operator", "cosmos.adminmodule.adminmodule.MsgSubmitProposal", {
      messages: [message],
      proposer: OPERATOR,
    }),
  );
}

/** Throws a `CliError` with the text `problem` if the condition is false. */
export function check(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new CliError(EXIT.fatal, problem);
}

/** Throws `CliError` if the transaction failed in its block. */
export function requireDone(tx: ScenarioTx): ScenarioTx {
  const { confirmation, hash } = tx;
  if (confirmation.kind === "included") return tx;
  const log = "log" in confirmation ? confirmation.log : confirmation.reason;
  throw new CliError(EXIT.fatal, `the scenario's transaction ${hash} failed: ${log}`);
}

function textAt(value: JsonValue, path: string): string {
  const found = fieldAt(value, path);
  if (typeof found === "string") return found;
  throw new CliError(EXIT.fatal, `local-1 returned no ${path}`);
}

async function codeOfLimiter({ ask }: ScenarioChain): Promise<string> {
  const hash = toHex(codeHash(rateLimiter)).toUpperCase();
  const codes = listAt(await ask("cosmwasm.wasm.v1.Query", "Codes", {}), "code_infos");
  const found = codes.find((code) => fieldAt(code, "data_hash") === hash);
  if (found !== undefined) return textAt(found, "code_id");
  throw new CliError(
    EXIT.fatal,
    "local-1 has no rate-limiter code, because its home comes from an earlier version; start a localnet with another --home",
  );
}
