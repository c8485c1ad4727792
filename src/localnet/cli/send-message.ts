import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import { createTxSender } from "../../cosmos/client/tx/create-tx-sender.ts";
import * as txSigner from "../../cosmos/client/tx/signer.ts";
import { endedAtDeadline, feeFor, readAccount } from "../../cosmos/client/tx/tx-queries.ts";
import type {
  BroadcastOutcome,
  SendOutcome,
  SimulationOutcome,
  TxSender,
  WireMessage,
} from "../../cosmos/client/tx/tx-types.ts";
import { TxMsgData } from "../../cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import { messageToJson } from "../../cosmos/proto/json.ts";
import { toChainTypeUrl } from "../../cosmos/proto/registry.ts";
import { toBase64, toHex, decodeBech32 } from "../../platform/base/bytes.ts";
import { systemClock } from "../../platform/base/clock.ts";
import { ceilDec18, parseDec18 } from "../../platform/base/decimal.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue, stringifyJson } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { printResponse } from "../../platform/cli/print-response.ts";
import { withChain } from "./chain-connection.ts";
import { gasReportsOf, type ProfileRequest } from "./gas-reports.ts";
import { feeDenomOf, fixedPrice, type TxOptions, type AccountOptions } from "./tx-options.ts";
import { keyringPlace } from "../../cosmos/cli/keyring-options.ts";
import type { SignerProgram } from "../../cosmos/client/tx/signer-program.ts";
import { Secret } from "../../platform/base/secret.ts";
import { openPrompt } from "../../platform/cli/prompt.ts";
import { readSecret } from "../../platform/cli/state-home.ts";
import { localnetAccounts } from "../accounts/chains.ts";

interface Sending {
  readonly client: PooledChainClient;
  readonly signer: txSigner.Signer;
  readonly sender: TxSender;
  readonly options: TxOptions;
  readonly context: CliContext;
}

/** A message that a command sends in a transaction. `encode` takes the signing account's bech32 address. */
export interface OutgoingMessage {
  readonly typeUrl: string;
  readonly encode: (sender: string) => Uint8Array;
  /** Format of the message's response. If undefined, the command does not print the response. */
  readonly response?: {
    /** Type name of the response, with the canonical chain name. */
    readonly type: string;
    /** Formats the response as human-readable text. */
    readonly format: (response: JsonValue) => string;
  };
  /** True if the message calls a contract, so that errors from a local chain list the contract functions that were running. */
  readonly callsContract?: true;
  /** Query that runs the message without effects for `--dry-run`. The query's request contains the message in field 1. */
  readonly simulation?: {
    /** gRPC path with the canonical chain name. */
    readonly path: string;
    readonly responseType: string;
  };
}

/** Signs and sends a message, waits for inclusion, and prints the result. Throws a `CliError` unless the transaction succeeds. */
export function sendMessage(
  message: OutgoingMessage,
  options: TxOptions,
  context: CliContext,
): Promise<void> {
  requireAccountChoice(options);
  if (options.generateOnly) return printUnsigned(message, options, context);
  return withChain(options, context, async (client) => {
    const sending = await openSender(client, options, context);
    const { sender } = sending;
    const value = message.encode(sender.address);
    const messages = [{ typeUrl: message.typeUrl, value }];
    if (options.dryRun) {
      const gasUsed = await simulateGas(message, messages, sending);
      const resp = await simulateMessage(message, value, sending);
      printOutcome(message, { resp, answer: { gas_used: gasUsed.toString() } }, options, context);
      return await gasReportsOf(context)?.save(
        client,
        await simulationOf(messages, sending),
        options,
        context,
      );
    }
    const { gas } = options;
    const gasLimit = typeof gas === "bigint" ? gas : await estimateGas(message, messages, sending);
    if (options.broadcastMode === "sync") {
      const accepted = await sender.broadcast(messages, gasLimit, context.signal);
      printResponse(toTxResponse(accepted), options, context);
      if (accepted.confirmation.kind === "refused")
        throw refused("the node rejected the transaction", accepted.confirmation);
      return;
    }
    const outcome = await sender.send(messages, gasLimit, context.signal);
    const resp = responseOf(message, outcome, options);
    printOutcome(message, { resp, answer: toTxResponse(outcome) }, options, context);
    const executed = { kind: "tx", hash: toHex(outcome.hash) } as const;
    const isInBlock = outcome.confirmation.kind === "included" || outcome.confirmation.kind === "failed";
    if (isInBlock) await gasReportsOf(context)?.save(client, executed, options, context);
    const stacks = outcome.confirmation.kind === "failed" ? await stacksOf(message, executed, sending) : "";
    requireIncluded(outcome, stacks);
  });
}

/** The transaction's result, as a command prints it. `resp` is the response to the message, or undefined if there is no response. */
interface PrintedOutcome {
  readonly resp: JsonValue | undefined;
  readonly answer: JsonObject;
}

/** Prints the transaction and the response to its message. In JSON output, the key `resp` contains the response. */
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

/** Returns the response to the message. Returns undefined if the transaction failed, or if the response is missing or cannot be decoded. */
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
    // The transaction is already in a block, so do not fail. The command prints the outcome without the response.
    return undefined;
  }
}

/** Runs the message's simulation query and returns the message's response, or undefined if the message has no simulation query. */
async function simulateMessage(
  { simulation }: OutgoingMessage,
  value: Uint8Array,
  { client, options, context }: Sending,
): Promise<JsonValue | undefined> {
  if (simulation === undefined) return undefined;
  const { chainName } = options;
  const path = toChainTypeUrl(simulation.path, chainName);
  const request = new BinaryWriter().uint32(FIRST_FIELD_TAG).bytes(value).finish();
  const response = await client.grpcQuery(path, request, context.signal, 0n);
  const json = messageToJson(simulation.responseType, response, chainName);
  return isRecord(json) ? json["resp"] : undefined;
}

/** Protobuf tag of a length-delimited field 1: (1 << 3) | 2. */
const FIRST_FIELD_TAG = 10;

/** Gas for the fee payment. A payment uses about 26,800 gas, but a simulation skips the payment. */
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
  // The transaction exceeded the node's time limit. A rerun for a profile or call stacks would exceed the limit, too.
  if (endedAtDeadline(simulated)) throw refused("the chain would reject the transaction", simulated);
  const request = await simulationOf(messages, sending);
  // For a dry run, save the profile despite the error, because the profile shows the failure.
  if (options.dryRun) await gasReportsOf(context)?.save(client, request, options, context);
  const stacks = await stacksOf(message, request, sending);
  throw refused("the chain would reject the transaction", simulated, stacks);
}

/** Returns the contract functions that were running when the transaction failed, or an empty string if unknown. */
async function stacksOf(
  { callsContract }: OutgoingMessage,
  request: ProfileRequest,
  { client, context }: Sending,
): Promise<string> {
  if (callsContract !== true) return "";
  return (await gasReportsOf(context)?.stacks(client, request, context.signal)) ?? "";
}

/** Returns the request to profile a simulated transaction with these messages. */
async function simulationOf(
  messages: readonly WireMessage[],
  { client, signer, options, context }: Sending,
): Promise<ProfileRequest> {
  const { sequence } = await readAccount(client, signer.address, context.signal);
  const draft = { messages, memo: options.note, sequence };
  return { kind: "simulation", tx: toBase64(txSigner.encodeForSimulation(draft, signer)) };
}

async function openSender(
  client: PooledChainClient,
  options: TxOptions,
  context: CliContext,
): Promise<Sending> {
  const { chainId } = await client.status(context.signal);
  const gasPrice = {
    denom: feeDenomOf(options),
    multiplier: parseDec18("1.1"),
    cap: options.maxGasPrice,
  };
  const signer = await openAccount(options, chainId);
  const sender = createTxSender(
    { chainId, gasPrice, memo: options.note, ...fixedPrice(options) },
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

/** Default gas limit of a transaction that is printed instead of sent, as in the SDK. */
const UNSIGNED_GAS = 200_000n;

/** Prints the unsigned transaction as JSON, like an SDK program, so that it can be signed elsewhere. Works offline. */
async function printUnsigned(
  { typeUrl, encode }: OutgoingMessage,
  options: TxOptions,
  context: CliContext,
): Promise<void> {
  const { chainName, note, fees, gasPrices } = options;
  const gas = typeof options.gas === "bigint" ? options.gas : UNSIGNED_GAS;
  const value = encode(await unsignedSender(options));
  const amount = fees?.amount ?? (gasPrices === undefined ? 0n : feeFor(gasPrices.price, gas));
  const fee = { denom: feeDenomOf(options), amount };
  const bytes = txSigner.encodeUnsigned({
    messages: [{ typeUrl, value }],
    memo: note,
    timeoutHeight: 0n,
    gasLimit: gas,
    fee,
    sequence: 0n,
  });
  context.print(stringifyJson(messageToJson("cosmos.tx.v1beta1.Tx", bytes, chainName)));
}

/** Converts an outcome to the fields of the REST API's `tx_response`. */
function toTxResponse({ hash, gasLimit, confirmation }: BroadcastOutcome | SendOutcome): JsonObject {
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

/**
 * Throws a `CliError` if no option selects an account. The check runs before the first request to the chain, so that users see the
 * error immediately.
 */
function requireAccountChoice(options: AccountOptions): void {
  const { from, mnemonicFile, mnemonicEnv, signer } = options;
  if ([from, mnemonicFile, mnemonicEnv, signer].some((choice) => choice !== undefined)) return;
  throw new CliError(
    EXIT.usage,
    "no signing account; pass --from (a localnet test account or, with --keyring-backend, a key), --mnemonic-file, --mnemonic-env or --signer",
  );
}

/** Creates the signer that the options select. Throws `CliError`, or `ClientError` "bad-key" if the mnemonic is invalid. */
function openAccount(options: AccountOptions, chainId: string): Promise<txSigner.Signer> {
  const { from, keyringBackend, addressPrefix = "neutron" } = options;
  if (from !== undefined && keyringBackend === undefined) return openTestAccount(from, chainId);
  return openOwnKey(options, addressPrefix);
}

/** Opens the user's signing key. Unlike the key of a public test account, this key may sign on any chain. */
async function openOwnKey(options: AccountOptions, prefix: string): Promise<txSigner.Signer> {
  const { from, keyringBackend: backend, signer } = options;
  if (signer !== undefined)
    return txSigner.createSigner({ kind: "external", ...signerProgram(options) }, prefix);
  if (from === undefined || backend === undefined)
    return txSigner.createSigner({ kind: "mnemonic", mnemonic: readMnemonic(options) }, prefix);
  const prompt = openPrompt();
  try {
    const place = await keyringPlace({ ...options, keyringBackend: backend }, prompt);
    return await txSigner.createSigner({ kind: "keyring", ...place, name: from }, prefix);
  } finally {
    prompt.close();
  }
}

/** Deadline for an external signer. The deadline leaves enough time to confirm the transaction on a hardware wallet. */
const SIGNER_DEADLINE_MS = 60_000;

function signerProgram({ signer = "", signerArg, signerEnv }: AccountOptions): SignerProgram {
  return {
    command: [signer, ...signerArg],
    deadlineMs: SIGNER_DEADLINE_MS,
    concurrency: 1,
    environment: signerEnv,
  };
}

/** Returns the sender's address for an unsigned transaction. Because this needs no key, `--from` may be an address. */
async function unsignedSender(options: AccountOptions): Promise<string> {
  const { from, keyringBackend, addressPrefix = "neutron" } = options;
  if (from === undefined || keyringBackend !== undefined)
    return (await openOwnKey(options, addressPrefix)).address;
  if (isAddress(from, addressPrefix)) return from;
  const account = localnetAccounts().find(
    ({ name, address }) => name === from && address.startsWith(`${addressPrefix}1`),
  );
  if (account !== undefined) return account.address;
  throw new CliError(EXIT.usage, `--from ${from}: expected an address or a test account name`);
}

function isAddress(text: string, prefix: string): boolean {
  try {
    return decodeBech32(text).prefix === prefix;
  } catch {
    return false;
  }
}

/**
 * Creates a public test account's signer. Accepts only localnet chains, because on any other chain, anyone could spend the
 * account's coins.
 */
function openTestAccount(name: string, chainId: string): Promise<txSigner.Signer> {
  const ofChain = localnetAccounts().filter((account) => account.chainId === chainId);
  const account = ofChain.find((one) => one.name === name);
  if (account === undefined) {
    const known =
      ofChain.length === 0
        ? "test accounts exist only on localnet chains; for a key from relaywatch keys, add --keyring-backend test or file"
        : `the test accounts are ${ofChain.map((one) => one.name).join(", ")}`;
    throw new CliError(EXIT.usage, `no test account is named ${name} on ${chainId}: ${known}`);
  }
  const prefix = account.address.slice(0, account.address.lastIndexOf("1"));
  return txSigner.createSigner({ kind: "mnemonic", mnemonic: new Secret(account.mnemonic) }, prefix);
}

function readMnemonic({ mnemonicFile: file, mnemonicEnv: env }: AccountOptions): Secret {
  return readSecret({ file, env }, file === undefined ? "--mnemonic-env" : "--mnemonic-file");
}
