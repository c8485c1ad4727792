import { isIP } from "node:net";
import { z } from "zod";
import { parseDec18 } from "../base/decimal.ts";
import { attempt, errorText } from "../base/errors.ts";
import { LOG_LEVELS } from "../base/logger.ts";
import { MAX_SETTINGS_BYTES, readTextFile } from "../base/read-text.ts";
import { Secret } from "../base/secret.ts";
import { isHostName, isPlainHttpUrl, parseDurationMs } from "./setting-texts.ts";

/** Formats a field's error message, for example "is a number (expected a quoted whole number)". */
export function issueText(problem: string, expected: string): string {
  return `${problem} (expected ${expected})`;
}

/** Describes the type of a YAML value. */
export function receivedText(input: unknown): string {
  if (input === undefined) return "is missing";
  if (input === null) return "is empty";
  if (Array.isArray(input)) return "is a list";
  if (typeof input === "object") return "is a section";
  if (typeof input === "string") return "is text";
  return `is a ${typeof input}`;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Field for a duration such as "30s" or "1h30m", in ms, of at least `atLeastMs`. */
export function durationField(atLeastMs = 1) {
  return parsedField(
    textField('a duration, e.g. "30s"'),
    (text) => {
      const ms = parseDurationMs(text);
      return ms !== undefined && ms >= atLeastMs ? ms : undefined;
    },
    issueText("is not a valid duration", `a duration of at least ${atLeastMs}ms, e.g. "30s"`),
  );
}

/** Adds a conversion to a text field, which reports `problem` if `parse` returns undefined. */
export function parsedField<T>(
  field: z.ZodType<string>,
  parse: (text: string) => T | undefined,
  problem: string,
) {
  return field.transform((text, context) => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue(problem);
    return z.NEVER;
  });
}

/** Field for an amount, a height or another large whole number, as a quoted string of digits. */
export function amountField() {
  return parsedField(
    textField("a whole number in quotes"),
    (text) => (/^\d{1,78}$/.test(text) ? BigInt(text) : undefined),
    issueText("is not a whole number", "digits in quotes"),
  );
}

/** Field for a quoted positive decimal such as "0.0025" with at most 18 fractional digits; outputs a `Dec18`. */
export function decimalField() {
  const problem = issueText("is not a positive decimal", 'a decimal in quotes, e.g. "0.0025"');
  return parsedField(z.string(), positiveDec18, problem);
}

function positiveDec18(text: string): bigint | undefined {
  const value = attempt(() => parseDec18(text));
  return value !== undefined && value > 0n ? value : undefined;
}

/** Field for a listen address such as "127.0.0.1:9998", "[::1]:9998" or "localhost:9998", where port 0 picks a free port. */
export function listenField() {
  return parsedField(
    textField('an address, e.g. "127.0.0.1:9998"'),
    parseListenAddress,
    issueText("is not a listen address", '"host:port", e.g. "127.0.0.1:9998"'),
  );
}

/** Field for additional host names that a server's clients may use, with "*" for every name. */
export function hostNamesField() {
  const name = textField('a host name, e.g. "relayer.example"').refine((text) => isHostName(text), {
    error: issueText("is not a host name", 'a name without scheme or port, e.g. "relayer.example", or "*"'),
  });
  return z.array(name).max(100);
}

/** Parses "host:port", or returns undefined for any other text. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const host = match[1] ?? match[2] ?? "";
  const port = Number(match[3]);
  if (port > 65_535 || (match[1] !== undefined && isIP(host) !== 6)) return undefined;
  return { host, port };
}

/**
 * Field for an http(s) URL without user name, password or fragment, which outputs the normalized URL. `note` explains in the error
 * message where to put credentials instead.
 */
export function httpUrlField(note = "") {
  return parsedField(
    textField("a URL, e.g. http://127.0.0.1:26660/metrics"),
    (text) => (isPlainHttpUrl(text) ? new URL(text).href : undefined),
    issueText("is not a valid URL", `http:// or https://, without user name, password or fragment${note}`),
  );
}

export interface SecretSource {
  readonly environment: (name: string) => string | undefined;
  readonly file: (path: string) => string;
}

/** Reads secrets from the process environment and the file system. Relative paths start at the working directory. */
export const processSecretSource: SecretSource = {
  environment: (name) => process.env[name],
  file: (path) => readTextFile(path, MAX_SETTINGS_BYTES),
};

/** Field for a reference to a secret in a file or an environment variable, which outputs the trimmed secret. */
export function secretField(source: SecretSource = processSecretSource) {
  const reference = z.strictObject(
    { file: z.string().min(1).optional(), env: z.string().min(1).optional() },
    {
      error: (issue) =>
        issue.code === "invalid_type"
          ? issueText(
              receivedText(issue.input),
              "a reference, {file: path} or {env: NAME}, not the secret itself",
            )
          : undefined,
    },
  );
  return reference.transform((given, context) => {
    const secret = readSecret(given, source);
    if (typeof secret !== "string") return secret;
    context.addIssue(secret);
    return z.NEVER;
  });
}

/** Placeholder for a secret that is not read (see {@link withoutSecrets}). */
const UNREAD = new Secret("unread");
let areSecretsRead = true;

/** Runs `parse` without reading secrets: references are only checked for their format, so files and variables need not exist. */
export function withoutSecrets<T>(parse: () => T): T {
  areSecretsRead = false;
  try {
    return parse();
  } finally {
    areSecretsRead = true;
  }
}

/** Field for the path of a file with PEM certificates, whose output is the file's text. */
export function certificatesField(source: SecretSource = processSecretSource) {
  return z
    .string()
    .min(1)
    .transform((path, context) => {
      const text = readSecret({ file: path }, source);
      if (typeof text !== "string" && (text === UNREAD || text.reveal().includes("BEGIN CERTIFICATE")))
        return text.reveal();
      const expected = issueText(`file ${path} contains no certificate`, "PEM: -----BEGIN CERTIFICATE-----");
      context.addIssue(typeof text === "string" ? text : expected);
      return z.NEVER;
    });
}

/** Field for a secret that `isValid` must accept. `expected` is the error message, from {@link issueText}. */
export function checkedSecretField(isValid: (text: string) => boolean, expected: string) {
  return secretField().refine((secret) => secret === UNREAD || isValid(secret.reveal()), { error: expected });
}

/** Reads the secret that a reference names, and returns it, or returns an error message as a plain string. */
function readSecret(
  given: { file?: string | undefined; env?: string | undefined },
  source: SecretSource,
): Secret | string {
  const { file, env } = given;
  if ((file === undefined) === (env === undefined))
    return issueText("must refer to the secret in exactly one way", "either file or env");
  if (!areSecretsRead) return UNREAD;
  try {
    const text = (file === undefined ? source.environment(env ?? "") : source.file(file))?.trim();
    if (text !== undefined && text !== "") return new Secret(text);
    return file === undefined
      ? issueText(`environment variable ${env} is not set`, "the secret in it")
      : issueText(`file ${file} is empty`, "the secret in it");
  } catch (cause) {
    return issueText(`cannot be read: ${errorText(cause)}`, "a readable file with the secret in it");
  }
}

function textField(expected: string) {
  return z.string({ error: (issue) => issueText(receivedText(issue.input), expected) });
}

/** Returns an address's URL, with brackets around an IPv6 host. */
export function httpUrl({ host, port }: ListenAddress): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The `log` section of a daemon's configuration. */
export function logSchema() {
  return z.strictObject({
    level: z
      .enum(LOG_LEVELS)
      .default("info")
      .describe("the minimum log level; --log-level overrides it")
      .meta({ reload: "live" }),
    format: z
      .enum(["auto", "json", "text"])
      .default("auto")
      .describe("the log format: json, text, or auto for text on a terminal and json elsewhere"),
    outputs: z
      .array(z.string().min(1))
      .min(1)
      .max(8)
      .default(["stderr"])
      .describe("where to write logs: stderr, stdout, or paths of files to append to"),
    keys: z
      .strictObject({
        time: z.string().min(1).default("time").describe("the time field's name"),
        level: z.string().min(1).default("level").describe("the level field's name"),
        message: z.string().min(1).default("msg").describe("the message field's name"),
      })
      .prefault({})
      .describe("the names of fields in JSON log lines"),
  });
}

export type LogConfig = z.output<ReturnType<typeof logSchema>>;
