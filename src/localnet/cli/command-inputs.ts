import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { decodeBech32 } from "../../platform/base/bytes.ts";
import { CliError, errorMessage, errorText, EXIT, unreachable } from "../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import { ascending } from "../../platform/base/order.ts";
import { parseUint64 } from "../../platform/cli/options.ts";

/** Parses a command-line argument's text. Throws `InvalidArgumentError`. */
type Parse = (text: string, previous?: unknown) => unknown;

/** An argument's name and help, such as "<denom> denomination". Includes a parser if the parser cannot be chosen by the field's type. */
export type FieldWords = string | readonly [words: string, parse: Parse] | (() => Argument);

/** Names and help for arguments, keyed by the name or path of the field that the argument sets. */
export type FieldTable = Readonly<Record<string, FieldWords>>;

/** Names and help for arguments that several modules use, keyed by field. */
const FIELD_WORDS: FieldTable = {
  address: "<address> the account's bech32 address",
  amount: "<amount> amount with denomination, e.g. 1000000untrn",
  channel_id: "<channel> channel, e.g. channel-0",
  code_id: "<code-id> code id",
  connection_id: "<connection> connection, e.g. connection-0",
  contract: "<contract> contract address",
  contract_address: "<contract> contract address",
  delegator_addr: "<delegator> account address",
  denom: "<denom> denomination",
  port_id: "<port> port, e.g. transfer",
  validator_addr: "<validator> operator address",
  validator_address: "<validator> operator address",
};

/** Command-line arguments and options for a message. A path such as `plan.name` selects a field in a nested message. */
export interface Inputs {
  /** Fields to read from arguments, in order. Default: all except flags, pagination, the signer and the fields in `options`. */
  readonly takes?: readonly string[];
  /** Names and help for this command's arguments, which override the module's. */
  readonly fields?: FieldTable;
  /** Options, keyed by the message field that each option sets. The key of an option that sets no field starts with a dash. */
  readonly options?: Readonly<Record<string, OptionWords>>;
}

/** An option's flags and help, with a parser if the option's value is not plain text. */
export type OptionWords =
  | readonly [flags: string, description: string, parse?: Parse | undefined]
  | (() => Option);

/** JSON values of a message's fields, keyed by path such as `plan.name`. */
export type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** Adds a message's inputs to a command. Returns a function that reads the user's values from the parsed command line. */
export function addInputs(
  command: Command,
  { takes, options = {}, fields }: Inputs,
  { message, words, signer }: InputContext,
): () => Fields {
  const own = Object.entries(options).map(([path, option]) => [path, toOption(option)] as const);
  for (const [, option] of own) command.addOption(option);
  const paths = takes ?? argumentFields(message, [signer, ...Object.keys(options)]);
  for (const path of paths) command.addArgument(toArgument(path, { ...words, ...fields }, message));
  return () => {
    const given = paths.map((path, index) => [path, command.processedArgs[index]] as const);
    const chosen = own
      .filter(([path]) => !path.startsWith("-"))
      .map(([path, option]) => [path, command.getOptionValue(option.attributeName())] as const);
    return Object.fromEntries(
      [...given, ...chosen].flatMap(([path, value]) => (value === undefined ? [] : [[path, toJson(value)]])),
    );
  };
}

interface InputContext {
  readonly message: DescMessage;
  /** Names and help for the module's arguments, which override {@link FIELD_WORDS}. */
  readonly words: FieldTable | undefined;
  /** The field that is set to the signing account's address. */
  readonly signer?: string | undefined;
}

/** Moves fields into the nested messages that their paths select, and omits fields that are undefined. */
export function nestFields(fields: Fields): JsonObject {
  const nested: Record<string, JsonValue> = {};
  for (const [path, value] of Object.entries(fields)) if (value !== undefined) put(nested, path, value);
  return nested;
}

function put(target: Record<string, JsonValue>, path: string, value: JsonValue): void {
  const [name = "", ...rest] = path.split(".");
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const inner = target[name];
  const next = isRecord(inner) ? { ...inner } : {};
  put(next, rest.join("."), value);
  target[name] = next;
}

function argumentFields({ fields }: DescMessage, others: readonly (string | undefined)[]): readonly string[] {
  return fields
    .filter(({ name, scalar }) => scalar !== ScalarType.BOOL && name !== PAGES && !others.includes(name))
    .map(({ name }) => name);
}

/** Name of the request field that holds the `PageRequest` in the Cosmos SDK's list queries. */
export const PAGES = "pagination";

export function toOption(words: OptionWords): Option {
  if (typeof words === "function") return words();
  const [flags, description, parse] = words;
  const option = new Option(flags, description);
  return parse === undefined ? option : option.argParser(parse);
}

function toArgument(path: string, words: FieldTable, message: DescMessage): Argument {
  const name = path.slice(path.lastIndexOf(".") + 1);
  const found = words[path] ?? words[name] ?? FIELD_WORDS[name] ?? unreachable(`no words for ${path}`);
  if (typeof found === "function") return found();
  const [text, given] = typeof found === "string" ? [found] : found;
  const [, flags = "", description = ""] = /^(\S+) (.*)$/.exec(text) ?? [];
  const argument = new Argument(flags, description);
  const parse = given ?? parserOf(fieldAtPath(message, path));
  if (argument.variadic) return argument.argParser(collect(parse ?? ((each) => each)));
  return parse === undefined ? argument : argument.argParser(parse);
}

function collect(parse: Parse): (text: string, previous?: readonly unknown[]) => readonly unknown[] {
  return (text, previous = []) => [...previous, parse(text)];
}

function fieldAtPath(message: DescMessage, path: string): DescField | undefined {
  const [name, ...rest] = path.split(".");
  const field = message.fields.find((each) => each.name === name);
  if (rest.length === 0 || field?.message === undefined) return field;
  return fieldAtPath(field.message, rest.join("."));
}

/** Names of fields that contain bech32 addresses. */
const ADDRESS = /(?:^|_)(?:address|addr|contract)$/;

/** Returns the parser for a field's type, or undefined if the text is used unchanged. */
function parserOf(field: DescField | undefined): Parse | undefined {
  if (field?.message?.typeName === "cosmos.base.v1beta1.Coin")
    return field.fieldKind === "list" ? parseCoins : parseCoin;
  if (field?.message !== undefined) return parseObject;
  if (field?.scalar === ScalarType.STRING && ADDRESS.test(field.name))
    // Accept an empty string, which some messages use to set no address.
    return (text) => (text === "" ? text : parseAddress(text));
  return field?.scalar === ScalarType.UINT64 || field?.scalar === ScalarType.INT64 ? parseUint64 : undefined;
}

export function requiredOption(flags: string, description: string, parse?: Parse): () => Option {
  return () => toOption([flags, description, parse]).makeOptionMandatory();
}

/** Accepts any text as a number, because encoding the message rejects invalid numbers later. */
export function unchecked(text: string): string {
  return text;
}

/** Converts a parsed argument to proto JSON, which represents 64-bit integers as strings. */
function toJson(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(toJson);
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toJson(inner)]));
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return unreachable("a parser that returns what JSON cannot express");
}

/** Returns a value that must be a string. Throws if the value has another type, which would be a bug in this program. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : unreachable("a value that is not a string");
}

/** Checks a bech32 address with any prefix, to detect typos without querying the chain. */
export function parseAddress(text: string): string {
  parsing(() => decodeBech32(text), "expected a bech32 address; a letter may be wrong");
  return text;
}

/** Runs a parser. If the parser throws, reports the argument as invalid for `reason`, which may be computed from the error. */
export function parsing<T>(parse: () => T, reason: string | ((error: unknown) => string)): T {
  try {
    return parse();
  } catch (error) {
    throw new InvalidArgumentError(typeof reason === "string" ? reason : reason(error));
  }
}

/** Checks that a text is valid JSON, and returns it unchanged. */
export function parseJsonText(text: string): string {
  parsing(
    () => JSON.parse(text),
    (error) => `expected JSON: ${errorMessage(error)}.`,
  );
  return text;
}

/** Throws a `CliError` if any address in a message has a different bech32 prefix than the sender's address. */
export function requireOwnAddresses({ fields }: DescMessage, given: JsonObject, sender: string): void {
  const { prefix } = decodeBech32(sender);
  for (const { name } of fields.filter((field) => ADDRESS.test(field.name))) {
    const text = given[name];
    const other = typeof text === "string" ? /^(.+)1/.exec(text)?.[1] : undefined;
    if (other === undefined) continue;
    if (![prefix, `${prefix}valoper`, `${prefix}valcons`].includes(other))
      throw new CliError(
        EXIT.usage,
        `${name}: expected an address that begins with ${prefix}; ${other}1… is an address on another chain`,
      );
  }
}

/** Parses a coin such as "1000000untrn". Throws `InvalidArgumentError`. */
export function parseCoin(text: string): Coin {
  const [, amount, denom] = /^(\d{1,77})([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$/.exec(text) ?? [];
  if (amount === undefined || denom === undefined)
    throw new InvalidArgumentError("expected an amount with a denomination, e.g. 1000000untrn");
  return { amount, denom };
}

type Coin = Readonly<Record<"amount" | "denom", string>>;

/** Parses coins such as "1uibcatom,5untrn", sorts the coins, as the chain requires, and rejects duplicate denominations. */
export function parseCoins(text: string): readonly Coin[] {
  const coins = text.split(",").map((coin) => parseCoin(coin.trim()));
  if (new Set(coins.map(({ denom }) => denom)).size < coins.length)
    throw new InvalidArgumentError("each denomination may appear only once");
  return coins.toSorted((a, b) => ascending(a.denom, b.denom));
}

export function parseObject(text: string): JsonObject {
  const value: unknown = parsing(() => JSON.parse(text), errorText);
  if (!isJsonObject(value)) throw new InvalidArgumentError("expected a JSON object");
  return value;
}

/** Narrows a value from `JSON.parse` to a JSON object, whose fields are always JSON values. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value);
}
