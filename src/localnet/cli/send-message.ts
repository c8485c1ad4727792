import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import { createTxSender } from "../../cosmos/client/tx/create-tx-sender.ts";
import { createSigner, encodeForSimulation, type Signer } from "../../cosmos/client/tx/signer.ts";
import { readAccount } from "../../cosmos/client/tx/tx-queries.ts";
import type {
  SendOutcome,
  SimulationOutcome,
  TxSender,
  WireMessage,
} from "../../cosmos/client/tx/tx-types.ts";
import { TxMsgData } from "../../cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import { messageToJson } from "../../cosmos/proto/json.ts";
import { toChainTypeUrl } from "../../cosmos/proto/registry.ts";
import { toBase64, toHex } from "../../platform/base/bytes.ts";
import { systemClock } from "../../platform/base/clock.ts";
import { ceilDec18, type Dec18, formatDec18, parseDec18 } from "../../platform/base/decimal.ts";
import { EXIT } from "../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import { Secret } from "../../platform/base/secret.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { parseUint64 } from "../../platform/cli/options.ts";
import { printResponse } from "../../platform/cli/print-response.ts";
import { secretField } from "../../platform/config/config-fields.ts";
import { localnetAccounts } from "../network/chains.ts";
import { type ConnectionOptions, withChain } from "./chain-connection.ts";
import type { ProfileRequest } from "../profile/profile-json.ts";
import { failureStacks, type ProfileOptions, saveProfile } from "./tx-profile.ts";

/** Options of every transaction command. */
export interface TxOptions extends ConnectionOptions, AccountOptions, ProfileOptions {
  /** Gas limit. When absent: the simulated gas plus the fee payment's gas, times `gasAdjustment`. */
  readonly gas?: bigint;
  readonly gasAdjustment: Dec18;
  readonly feeDenom: string;
  readonly maxGasPrice: Dec18;
  readonly dryRun?: true;
}

/** A connection with the account that signs. */
interface Sending {
  readonly client: PooledChainClient;
  readonly signer: Signer;
  readonly sender: TxSender;
  readonly options: TxOptions;
  readonly context: CliContext;
}

/** A message to send. `encode` receives the signing account's bech32 address. */
export interface OutgoingMessage {
  readonly typeUrl: string;
  readonly encode: (sender: string) => Uint8Array;
  /** The message's response, which is then printed too. */
  readonly response?: {
    /** Name of its type under the canonical chain name. */
    readonly type: string;
    /** Formats it for people. */
    readonly format: (response: JsonValue) => string;
  };
  /** The message calls a contract: an error has the functions that were running, if the chain is a local one. */
  readonly callsContract?: true;
  /** A query that runs the message without effects, for `--dry-run`. Its request holds the message in field 1. */
  readonly simulation?: {
    /** gRPC path under the canonical chain name. */
    readonly path: string;
    readonly responseType: string;
  };
}

/** Adds the options of {@link TxOptions} except the connection options. */
export function addTxOptions(command: Command): Command {
  return addAccountOptions(command)
    .addOption(
      new Option("--gas <limit>", "gas limit; default: estimated by a simulation").argParser(parseUint64),
    )
    .addOption(decimal("--gas-adjustment <factor>", "gas limit as a multiple of the expected gas", "1.3"))
    .addOption(new Option("--fee-denom <denom>", "fee denomination").default("untrn"))
    .addOption(decimal("--max-gas-price <price>", "maximum price per unit of gas", "1"))
    .option("--dry-run", "simulate the transaction and print the result; send nothing")
    .addHelpText(
      "after",
      "\nExits 1 when the chain rejects the transaction, and 75 when no block includes it before its timeout height.",
    );
}

/** Signs and sends one message, waits for its inclusion and prints the result. Throws `CliError` unless the transaction succeeds. */
export function sendMessage(
  message: OutgoingMessage,
  options: TxOptions,
  context: CliContext,
): Promise<void> {
  requireAccountChoice(options);
  return withChain(options, context, async (client) => {
    const sending = await openSender(client, options, context);
    const { sender } = sending;
    const value = message.encode(sender.address);
    const messages = [{ typeUrl: message.typeUrl, value }];
    if (options.dryRun) {
      const gasUsed = await simulateGas(message, messages, sending);
      const resp = await simulateMessage(message, value, { client, options, context });
      printOutcome(message, { resp, answer: { gas_used: gasUsed.toString() } }, options, context);
      return saveProfile(client, await simulationOf(messages, sending), options, context);
    }
    const gasLimit = options.gas ?? (await estimateGas(message, messages, sending));
    const outcome = await sender.send(messages, gasLimit, context.signal);
    const resp = responseOf(message, outcome, options);
    printOutcome(message, { resp, answer: toTxResponse(outcome) }, options, context);
    const executed = { kind: "tx", hash: toHex(outcome.hash) } as const;
    const isInBlock = outcome.confirmation.kind === "included" || outcome.confirmation.kind === "failed";
    if (isInBlock) await saveProfile(client, executed, options, context);
    const stacks = outcome.confirmation.kind === "failed" ? await stacksOf(message, executed, sending) : "";
    requireIncluded(outcome, stacks);
  });
}

/** A transaction's outcome. `resp` is its message's response, undefined if there is none. */
interface PrintedOutcome {
  readonly resp: JsonValue | undefined;
  readonly answer: JsonObject;
}

/** Prints JSON with the response in `resp`, or for people its table below the transaction. */
function printOutcome(
  { response }: OutgoingMessage,
  { resp, answer }: PrintedOutcome,
  options: TxOptions,
  context: CliContext,
): void {
  if (options.json || resp === undefined || response === undefined)
    return printResponse(resp === undefined ? answer : { ...answer, resp }, options, context);
  printResponse(answer, options, context);
  context.print(`\n${response.format(resp)}`);
}

/** Decodes the message's response. Undefined if the transaction failed or the node returned no such response. */
function responseOf(
  { response }: OutgoingMessage,
  { confirmation }: SendOutcome,
  { chainName }: TxOptions,
): JsonValue | undefined {
  if (response === undefined || confirmation.kind !== "included") return undefined;
  try {
    const [first] = TxMsgData.decode(confirmation.data).msgResponses;
    return first === undefined ? undefined : messageToJson(response.type, first.value, chainName);
  } catch {
    // The transaction is in a block all the same, and its outcome must be printed.
    return undefined;
  }
}

/** Returns the response that the simulation query gives, or undefined for a message without such a query. */
async function simulateMessage(
  { simulation }: OutgoingMessage,
  value: Uint8Array,
  { client, options, context }: SimulationDeps,
): Promise<JsonValue | undefined> {
  if (simulation === undefined) return undefined;
  const { chainName } = options;
  const path = toChainTypeUrl(simulation.path, chainName);
  const request = new BinaryWriter().uint32(FIRST_FIELD_TAG).bytes(value).finish();
  const response = await client.grpcQuery(path, request, context.signal, 0n);
  const json = messageToJson(simulation.responseType, response, chainName);
  return isRecord(json) ? json["resp"] : undefined;
}

interface SimulationDeps {
  readonly client: PooledChainClient;
  readonly options: TxOptions;
  readonly context: CliContext;
}

/** Tag of field 1, length-delimited. */
const FIRST_FIELD_TAG = 10;

/** Gas used by the fee payment, which a simulation skips. Measured: 26,800. */
const FEE_GAS = 30_000n;

async function estimateGas(
  message: OutgoingMessage,
  messages: readonly WireMessage[],
  sending: Sending,
): Promise<bigint> {
  const gasUsed = await simulateGas(message, messages, sending);
  return ceilDec18((gasUsed + FEE_GAS) * sending.options.gasAdjustment);
}

async function simulateGas(
  message: OutgoingMessage,
  messages: readonly WireMessage[],
  sending: Sending,
): Promise<bigint> {
  const { client, sender, options, context } = sending;
  const simulated = await sender.simulate(messages, context.signal);
  if (simulated.ok) return simulated.gasUsed;
  const request = await simulationOf(messages, sending);
  // A dry run ends here, and its profile shows the failure.
  if (options.dryRun) await saveProfile(client, request, options, context);
  const stacks = await stacksOf(message, request, sending);
  throw refused("the chain rejects the transaction", simulated, stacks);
}

/** The functions of contracts that were running when the transaction failed; "" if that is not known. */
function stacksOf(
  { callsContract }: OutgoingMessage,
  request: ProfileRequest,
  { client, context }: Sending,
): Promise<string> {
  return callsContract === true ? failureStacks(client, request, context.signal) : Promise.resolve("");
}

/** The transaction that a simulation runs. */
async function simulationOf(
  messages: readonly WireMessage[],
  { client, signer, options, context }: Sending,
): Promise<ProfileRequest> {
  const { sequence } = await readAccount(client, signer.address, context.signal);
  const fee = { denom: options.feeDenom, amount: 0n };
  const draft = { messages, memo: "", timeoutHeight: 0n, gasLimit: 0n, fee, sequence };
  return { kind: "simulation", tx: toBase64(encodeForSimulation(draft, signer)) };
}

async function openSender(
  client: PooledChainClient,
  options: TxOptions,
  context: CliContext,
): Promise<Sending> {
  const { chainId } = await client.status(context.signal);
  const gasPrice = {
    denom: options.feeDenom,
    multiplier: parseDec18("1.1"),
    cap: options.maxGasPrice,
  };
  const signer = await openAccount(options, chainId);
  const sender = createTxSender(
    { chainId, gasPrice, memo: "" },
    {
      client,
      signer,
      clock: systemClock,
      random: Math.random,
      logger: await context.logger("error"),
    },
  );
  return { client, signer, sender, options, context };
}

/** Fields as in the REST API's `tx_response`. */
function toTxResponse({ hash, gasLimit, confirmation }: SendOutcome): JsonObject {
  const isRefusal = confirmation.kind === "failed" || confirmation.kind === "refused";
  return {
    txhash: toHex(hash).toUpperCase(),
    height: ("height" in confirmation ? confirmation.height : 0n).toString(),
    code: isRefusal ? confirmation.code : 0,
    codespace: isRefusal ? confirmation.codespace : "",
    raw_log: isRefusal ? confirmation.log : "",
    gas_wanted: gasLimit.toString(),
    gas_used: ("gasUsed" in confirmation ? confirmation.gasUsed : 0n).toString(),
  };
}

function requireIncluded({ confirmation }: SendOutcome, stacks: string): void {
  switch (confirmation.kind) {
    case "included":
      return;
    case "failed":
      throw refused("the transaction failed in its block", confirmation, stacks);
    case "refused":
      throw refused("the node rejected the transaction", confirmation);
    case "lost":
      throw new CliError(EXIT.tryAgain, `the transaction was lost: ${confirmation.reason}`);
  }
}

function refused(
  what: string,
  { codespace, code, log }: Pick<Extract<SimulationOutcome, { ok: false }>, "codespace" | "code" | "log">,
  stacks = "",
): CliError {
  return new CliError(EXIT.fatal, `${what}: ${codespace}/${code}: ${log}${stacks}`);
}

function decimal(flags: string, description: string, preset: string): Option {
  const value = parseDec18(preset);
  return new Option(flags, description).default(value, preset).argParser(parsePositive);
}

function parsePositive(text: string): Dec18 {
  try {
    const value = parseDec18(text);
    if (value > 0n) return value;
  } catch {
    // The error below covers both cases.
  }
  throw new InvalidArgumentError(`a decimal above 0 such as ${formatDec18(parseDec18("1.3"))} was expected`);
}

/** Options that select the signing account. Exactly one of the first three is given. */
interface AccountOptions {
  /** Name of a public localnet test account. */
  readonly from?: string;
  readonly mnemonicFile?: string;
  readonly mnemonicEnv?: string;
  /** Bech32 prefix of account addresses. */
  readonly addressPrefix?: string;
}

/** Adds the options of {@link AccountOptions} to a command. */
function addAccountOptions(command: Command): Command {
  const sources = ["from", "mnemonicFile", "mnemonicEnv"];
  const source = (flags: string, description: string, own: string): Option =>
    new Option(flags, description).conflicts(sources.filter((name) => name !== own));
  return command
    .addOption(source("--from <name>", "sign with this public localnet test account", "from"))
    .addOption(source("--mnemonic-file <file>", "sign with the mnemonic in this file", "mnemonicFile"))
    .addOption(
      source("--mnemonic-env <name>", "sign with the mnemonic in this environment variable", "mnemonicEnv"),
    )
    .addOption(
      new Option("--address-prefix <prefix>", "bech32 prefix of account addresses; default: neutron"),
    );
}

/** Throws `CliError` when no account is selected. Called before the first request to the chain. */
function requireAccountChoice({ from, mnemonicFile, mnemonicEnv }: AccountOptions): void {
  if (from !== undefined || mnemonicFile !== undefined || mnemonicEnv !== undefined) return;
  throw new CliError(
    EXIT.usage,
    "no signing account: give --from (a localnet test account), --mnemonic-file or --mnemonic-env",
  );
}

/** Opens the signing account. Throws `CliError` when it cannot be opened and `ClientError` "bad-key" for an invalid mnemonic. */
function openAccount(options: AccountOptions, chainId: string): Promise<Signer> {
  if (options.from !== undefined) return openTestAccount(options.from, chainId);
  const mnemonic = readMnemonic(options);
  return createSigner({ kind: "mnemonic", mnemonic }, options.addressPrefix ?? "neutron");
}

/** Test account keys are public. On any other chain, everybody could spend their coins. */
function openTestAccount(name: string, chainId: string): Promise<Signer> {
  const ofChain = localnetAccounts().filter((account) => account.chainId === chainId);
  const account = ofChain.find((one) => one.name === name);
  if (account === undefined) {
    const known =
      ofChain.length === 0
        ? "test accounts exist on localnet chains only; use --mnemonic-file or --mnemonic-env"
        : `the test accounts are ${ofChain.map((one) => one.name).join(", ")}`;
    throw new CliError(EXIT.usage, `no test account is called ${name} on ${chainId}: ${known}`);
  }
  const prefix = account.address.slice(0, account.address.lastIndexOf("1"));
  return createSigner({ kind: "mnemonic", mnemonic: new Secret(account.mnemonic) }, prefix);
}

function readMnemonic({ mnemonicFile, mnemonicEnv }: AccountOptions): Secret {
  const read = secretField().safeParse({ file: mnemonicFile, env: mnemonicEnv });
  if (read.success) return read.data;
  const option = mnemonicFile === undefined ? "--mnemonic-env" : "--mnemonic-file";
  throw new CliError(EXIT.badConfig, `${option}: ${read.error.issues[0]?.message ?? "cannot be read"}`);
}
