import type { PROFILE_FORMATS } from "../../localnet/cli/gas-reports.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import type { GasNode } from "./gas-recorder.ts";
import { profileReportJson, type ProfileReport } from "./profile-json.ts";

type ProfileFormat = (typeof PROFILE_FORMATS)[number];

export function formatOfFile(file: string): ProfileFormat {
  if (/speedscope(\.json)?$/.test(file)) return "speedscope";
  return /\.(folded|txt)$/.test(file) ? "folded" : "json";
}

/**
 * Formats a profile. Flame graphs cannot show negative gas, so `speedscope` and `folded` omit gas that is given back. That is less
 * than one unit of the chain's gas per Wasm call. Both formats use VM gas as their unit.
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

/** Formats a profile in the speedscope file format (file-format-spec.ts, version 0.0.1), as one evented profile. */
function speedscope({ root }: ProfileReport, title: string): Readonly<Record<string, unknown>> {
  const frames = new Map<string, number>();
  const events: SpeedscopeEvent[] = [];
  // A transaction's gas stays far below 2^53 units.
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
