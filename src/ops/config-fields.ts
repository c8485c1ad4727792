import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { z } from "zod";
import { errorText } from "../base/errors.ts";
import { issueText, receivedText } from "./config-issue.ts";
import { parseDurationMs } from "./duration.ts";
import { Secret } from "../base/secret.ts";

/** An address to listen on. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** A duration such as "30s" or "1h30m"; gives ms. `atLeastMs` bounds it from below (default 1). */
export function durationField(atLeastMs = 1) {
  return textField('a duration such as "30s"').transform((text, context) => {
    const ms = parseDurationMs(text);
    if (ms !== undefined && ms >= atLeastMs) return ms;
    context.addIssue(
      issueText("is not a usable duration", `a duration such as "30s", at least ${atLeastMs}ms`),
    );
    return z.NEVER;
  });
}

/** An amount, height or other large whole number as a quoted string of digits; gives bigint. */
export function amountField() {
  return textField("a whole number in quotes").transform((text, context) => {
    if (/^\d{1,78}$/.test(text)) return BigInt(text);
    context.addIssue(issueText("is not a whole number", "digits in quotes"));
    return z.NEVER;
  });
}

/** "127.0.0.1:9998", "[::1]:9998" or "localhost:9998"; port 0 takes any free port. */
export function listenField() {
  return textField('an address such as "127.0.0.1:9998"').transform((text, context): ListenAddress => {
    const address = parseListenAddress(text);
    if (address !== undefined) return address;
    context.addIssue(issueText("is not an address to listen on", '"host:port", such as "127.0.0.1:9998"'));
    return z.NEVER;
  });
}

/** Reads "host:port"; undefined when the text is not that. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const host = match[1] ?? match[2] ?? "";
  const port = Number(match[3]);
  if (port > 65_535 || (match[1] !== undefined && isIP(host) !== 6)) return undefined;
  return { host, port };
}

/** An http or https URL without a user name, password or fragment; gives its normal form. */
export function httpUrlField() {
  return textField("a URL such as http://127.0.0.1:26660/metrics").transform((text, context) => {
    if (isPlainHttpUrl(text)) return new URL(text).href;
    context.addIssue(
      issueText("is not a usable URL", "http:// or https://, without user name, password or fragment"),
    );
    return z.NEVER;
  });
}

/** Whether a text is an http or https URL without credentials and fragment. */
export function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" && url.hash === "";
}

/** Where referenced secrets are read from. */
export interface SecretSource {
  readonly environment: (name: string) => string | undefined;
  readonly file: (path: string) => string;
}

/** The process environment and the file system; relative paths start in the working directory. */
export const processSecretSource: SecretSource = {
  environment: (name) => process.env[name],
  file: (path) => readFileSync(path, "utf8"),
};

/** A secret by reference: `{file: path}` or `{env: NAME}`, read when the configuration is; white space around it is cut. */
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
    const found = readSecret(given, source);
    if (typeof found !== "string") return found;
    context.addIssue(found);
    return z.NEVER;
  });
}

/** The secret, or the text of what is wrong. */
function readSecret(
  given: { file?: string | undefined; env?: string | undefined },
  source: SecretSource,
): Secret | string {
  const { file, env } = given;
  if ((file === undefined) === (env === undefined))
    return issueText("names no single place for the secret", "either file or env");
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

/** The URL at which an address is reached from this machine. */
export function httpUrl({ host, port }: ListenAddress): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
