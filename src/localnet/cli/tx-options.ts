import { type Command, InvalidArgumentError, Option } from "commander";
import { addKeyringFolderOptions } from "../../cosmos/cli/keyring-options.ts";
import type { TxSenderOptions } from "../../cosmos/client/tx/create-tx-sender.ts";
import { type Dec18, DEC18_ONE, formatDec18, parseDec18 } from "../../platform/base/decimal.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { parseUint64 } from "../../platform/cli/options.ts";
import type { ConnectionOptions } from "./connection-options.ts";
import type { ProfileOptions } from "./gas-reports.ts";

export interface TxOptions extends ConnectionOptions, AccountOptions, ProfileOptions {
  /** Gas limit. If undefined or "auto", the limit is `gasAdjustment` times the sum of the simulated gas and the fee payment's gas. */
  readonly gas?: bigint | "auto";
  readonly gasAdjustment: Dec18;
  readonly feeDenom: string;
  readonly maxGasPrice: Dec18;
  /** Gas price. By default, the command reads the current price from the chain. */
  readonly gasPrices?: GasPrice;
  /** Total fee. */
  readonly fees?: Coin;
  readonly note: string;
  readonly broadcastMode: "block" | "sync";
  readonly dryRun?: true;
  readonly generateOnly?: true;
}

interface GasPrice {
  readonly price: Dec18;
  readonly denom: string;
}

interface Coin {
  readonly amount: bigint;
  readonly denom: string;
}

/** Adds the options in {@link TxOptions}, except for connection options. */
export function addTxOptions(command: Command): Command {
  return addAccountOptions(command)
    .addOption(
      new Option("--gas <limit>", 'gas limit; "auto" (default) estimates it by simulation').argParser(
        (text) => (text === "auto" ? text : parseUint64(text)),
      ),
    )
    .addOption(decimal("--gas-adjustment <factor>", "gas limit as a multiple of the gas needed", "1.3"))
    .addOption(
      new Option("--gas-prices <price>", "gas price, e.g. 0.01untrn; default: the chain's price plus 10 %")
        .argParser(parseGasPrice)
        .conflicts("fees"),
    )
    .addOption(
      new Option("--fees <coin>", "the whole fee, e.g. 2500untrn; default: gas limit times price").argParser(
        parseFee,
      ),
    )
    .addOption(new Option("--fee-denom <denom>", "denomination in which to pay the gas").default("untrn"))
    .addOption(decimal("--max-gas-price <price>", "maximum price per unit of gas", "1"))
    .option("--note <text>", "transaction memo", "")
    .addOption(
      new Option(
        "-b, --broadcast-mode <mode>",
        "block: wait until a block includes the transaction; sync: wait until the node accepts it",
      )
        .choices(["block", "sync"])
        .default("block"),
    )
    .option("--dry-run", "simulate the transaction and print the result without sending it")
    .option("--generate-only", "print the unsigned transaction; --from may be an address")
    .option("-y, --yes", "accepted but ignored, because commands never ask for confirmation")
    .addHelpText(
      "after",
      "\nExits 1 if the chain rejects the transaction, and 75 if no block includes it before its timeout height.",
    );
}

export function feeDenomOf({ fees, gasPrices, feeDenom }: TxOptions): string {
  return fees?.denom ?? gasPrices?.denom ?? feeDenom;
}

/** Returns the gas price that `--fees` or `--gas-prices` sets. The total fee is the price times the gas limit, rounded up. */
export function fixedPrice({ fees, gasPrices }: TxOptions): Pick<TxSenderOptions, "priceOf"> {
  if (fees !== undefined) return { priceOf: (gasLimit) => (fees.amount * DEC18_ONE) / maxInt(gasLimit, 1n) };
  return gasPrices === undefined ? {} : { priceOf: () => gasPrices.price };
}

/** Options that select the signing account. Exactly one of `from`, `mnemonicFile`, `mnemonicEnv` and `signer` is required. */
export interface AccountOptions {
  /** Name of a public localnet test account or of a key in a keyring. */
  readonly from?: string;
  readonly mnemonicFile?: string;
  readonly mnemonicEnv?: string;
  /** External program that signs with the key. */
  readonly signer?: string;
  readonly signerArg: readonly string[];
  readonly signerEnv: readonly string[];
  /** Bech32 prefix of account addresses. */
  readonly addressPrefix?: string;
  readonly keyringBackend?: "test" | "file";
  /** Home directory of the SDK program, which contains the keyring. */
  readonly keyringDir: string;
  readonly keyringPasswordFile?: string;
}

function addAccountOptions(command: Command): Command {
  const sources = ["from", "mnemonicFile", "mnemonicEnv", "signer"];
  const source = (flags: string, description: string, own: string): Option =>
    new Option(flags, description).conflicts(sources.filter((name) => name !== own));
  const options = command
    .addOption(
      source(
        "--from <name>",
        "sign with this keyring key or, without a keyring, with this public localnet test account",
        "from",
      ),
    )
    .addOption(source("--mnemonic-file <file>", "sign with the mnemonic in this file", "mnemonicFile"))
    .addOption(
      source("--mnemonic-env <name>", "sign with the mnemonic in this environment variable", "mnemonicEnv"),
    )
    .addOption(
      source(
        "--signer <program>",
        "sign with this program, which holds the key; see docs/operations.md",
        "signer",
      ),
    )
    .addOption(repeated("--signer-arg <text>", "argument for the program; repeatable"))
    .addOption(repeated("--signer-env <name>", "variable passed to the program; repeatable"))
    .addOption(
      new Option("--address-prefix <prefix>", "bech32 prefix of account addresses; default: neutron"),
    )
    .addOption(
      new Option("--keyring-backend <backend>", "read the key from an SDK keyring").choices(["test", "file"]),
    );
  return addKeyringFolderOptions(options);
}

function repeated(flags: string, description: string): Option {
  return new Option(flags, description)
    .default([], "none")
    .argParser<readonly string[]>((text, before) => [...before, text]);
}

const DENOM = /^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$/;

function parseGasPrice(text: string): GasPrice {
  const [, number = "", denom = ""] = /^(\d{1,20}(?:\.\d{1,18})?)(.*)$/.exec(text) ?? [];
  if (number === "" || !DENOM.test(denom))
    throw new InvalidArgumentError("expected a price with a denomination, e.g. 0.01untrn");
  return { price: parseDec18(number), denom };
}

function parseFee(text: string): Coin {
  const [, amount = "", denom = ""] = /^(\d{1,38})(.*)$/.exec(text) ?? [];
  if (amount === "" || !DENOM.test(denom))
    throw new InvalidArgumentError("expected one amount with a denomination, e.g. 2500untrn");
  return { amount: BigInt(amount), denom };
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
    // A text that is not a decimal causes the same error as a decimal that is not above 0.
  }
  throw new InvalidArgumentError(`expected a decimal above 0, e.g. ${formatDec18(parseDec18("1.3"))}`);
}
