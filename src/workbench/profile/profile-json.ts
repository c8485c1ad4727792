import type { PROFILE_FORMATS, ProfileRequest } from "../../localnet/cli/gas-reports.ts";
import { isRecord, JsonField, type JsonObject, stringifyJson } from "../../platform/base/json.ts";
import { GAS_PLACES, type GasNode, type WasmFailure } from "./gas-recorder.ts";

/** Path of the `abci_query` that returns profiles. Only a local chain's node serves this path. */
export const PROFILE_PATH = "/relaywatch/profile";

/** A profile of a transaction or query: its result, and its gas by place. */
export interface ProfileReport {
  /** Height of the transaction's block; null for a query or a simulation. */
  readonly height: bigint | null;
  /** Result code of the transaction or query, which is 0 on success. */
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  /** Gas that the transaction or query used, in the chain's units. The VM gas of all places adds up to 140,000 times `gasUsed`. */
  readonly gasUsed: bigint;
  readonly failures: readonly WasmFailure[];
  readonly root: GasNode;
}

/** Maximum depth of a place that {@link parseProfileReport} accepts. A local node writes at most about 20,000 places in 150 levels. */
const MAX_DEPTH = 400;

/** Formats a report as JSON, which is also the profile format `json`. The places' gas is in VM gas. */
export function profileReportJson(report: ProfileReport): JsonObject {
  const { height, code, codespace, log, gasUsed, failures, root } = report;
  return {
    format: "relaywatch-profile-1",
    vm_gas_per_gas: "140000",
    height: height === null ? null : height.toString(),
    code,
    codespace,
    log,
    gas_used: gasUsed.toString(),
    failures: failures.map(({ error, stack }) => ({ error, stack: [...stack] })),
    root: nodeJson(root),
  };
}

function nodeJson({ place, name, calls, self, error, children }: GasNode): JsonObject {
  return {
    place,
    name,
    calls,
    self: self.toString(),
    ...(error === undefined ? {} : { error }),
    ...(children.length === 0 ? {} : { children: children.map(nodeJson) }),
  };
}

/** Parses the output of {@link profileReportJson}. Throws if the value is not a valid report. */
export function parseProfileReport(value: unknown): ProfileReport {
  const json = new JsonField(value, "", wrongField);
  const height = json.member("height");
  return {
    height: height.isPresent() ? height.asInt64() : null,
    code: json.member("code").asUint32(),
    codespace: json.member("codespace").asText(),
    log: json.member("log").asText(),
    gasUsed: json.member("gas_used").asInt64(),
    failures: json
      .member("failures")
      .elements()
      .map((failure) => ({
        error: failure.member("error").asText(),
        stack: failure
          .member("stack")
          .elements()
          .map((frame) => frame.asText()),
      })),
    root: parseNode(json.member("root"), 0),
  };
}

function parseNode(json: JsonField, depth: number): GasNode {
  if (depth > MAX_DEPTH) throw wrongField(json.path, `at most ${MAX_DEPTH} levels`);
  const error = json.member("error");
  const text = json.member("place").asText();
  const place = GAS_PLACES.find((one) => one === text);
  if (place === undefined) throw wrongField(json.path, `one of ${GAS_PLACES.join(", ")}`);
  return {
    place,
    name: json.member("name").asText(),
    calls: json.member("calls").asUint32(),
    self: json.member("self").asInt64(),
    ...(error.isPresent() ? { error: error.asText() } : {}),
    children: json
      .member("children")
      .elements()
      .map((child) => parseNode(child, depth + 1)),
  };
}

function wrongField(path: string, expected: string): Error {
  return new Error(`profile${path === "" ? "" : ` ${path}`}: expected ${expected}`);
}

export function profileRequestJson(request: ProfileRequest): JsonObject {
  return { ...request };
}

/** Parses a profile request, or returns undefined if the value is not a valid request. */
export function parseProfileRequest(value: unknown): ProfileRequest | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, hash, tx, path, request } = value;
  if (kind === "tx" && typeof hash === "string" && /^[0-9a-fA-F]{64}$/.test(hash)) return { kind, hash };
  if (kind === "simulation" && typeof tx === "string") return { kind, tx };
  if (kind === "query" && typeof path === "string" && typeof request === "string")
    return { kind, path, request };
  return undefined;
}

type ProfileFormat = (typeof PROFILE_FORMATS)[number];

export function formatOfFile(file: string): ProfileFormat {
  if (/speedscope(\.json)?$/.test(file)) return "speedscope";
  return /\.(folded|txt)$/.test(file) ? "folded" : "json";
}

/**
 * Formats a profile. The formats `speedscope` and `folded` use VM gas as unit. Neither can represent negative gas, so both omit gas
 * that is given back, which is less than one unit of the chain's gas per Wasm call.
 */
export function formatProfile(report: ProfileReport, format: ProfileFormat, title: string): string {
  switch (format) {
    case "json":
      return `${stringifyJson(profileReportJson(report), 1)}\n`;
    case "speedscope":
      return `${JSON.stringify(speedscope(report, title))}\n`;
    case "folded":
      return foldedStacks(report.root)
        .map((line) => `${line}\n`)
        .join("");
  }
}

export function frameName({ place, name, error }: GasNode): string {
  const kind = place === "host" || place === "wasm" ? `${place} ` : "";
  return `${kind}${name}${error === undefined ? "" : ` (failed: ${error})`}`;
}

interface SpeedscopeEvent {
  readonly type: "O" | "C";
  readonly frame: number;
  readonly at: number;
}

/** Formats a profile as an evented profile in a speedscope file (file-format-spec.ts, version 0.0.1). */
function speedscope({ root }: ProfileReport, title: string): Readonly<Record<string, unknown>> {
  const frames = new Map<string, number>();
  const events: SpeedscopeEvent[] = [];
  // A plain number is exact, because a transaction's VM gas is far below 2^53.
  let at = 0;
  const visit = (node: GasNode): void => {
    const name = frameName(node);
    const frame = frames.get(name) ?? frames.size;
    frames.set(name, frame);
    events.push({ type: "O", frame, at });
    for (const child of node.children) visit(child);
    if (node.self > 0n) at += Number(node.self);
    events.push({ type: "C", frame, at });
  };
  visit(root);
  return {
    $schema: "https://www.speedscope.app/file-format-schema.json",
    name: title,
    exporter: "relaywatch",
    activeProfileIndex: 0,
    shared: { frames: [...frames.keys()].map((name) => ({ name })) },
    profiles: [{ type: "evented", name: title, unit: "none", startValue: 0, endValue: at, events }],
  };
}

function foldedStacks(root: GasNode): readonly string[] {
  const lines: string[] = [];
  const visit = (node: GasNode, above: string): void => {
    const stack = `${above}${frameName(node).replaceAll(";", ",").replaceAll(/\s+/g, " ")}`;
    if (node.self > 0n) lines.push(`${stack} ${node.self}`);
    for (const child of node.children) visit(child, `${stack};`);
  };
  visit(root, "");
  return lines;
}
