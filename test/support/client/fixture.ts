import { readFileSync } from "node:fs";

/** Text of a recorded file under test/fixtures. */
export function fixtureText(path: string): string {
  return readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), "utf8");
}

/** A recorded RPC call; `request` or `path` says what was asked. */
export interface RecordedCall {
  readonly note: string;
  readonly http: string;
  readonly request?: {
    readonly id: unknown;
    readonly method: string;
    readonly params: Readonly<Record<string, unknown>>;
  };
  readonly request_raw?: string;
  readonly path?: string;
  readonly status: number;
  readonly response?: unknown;
  readonly response_start?: string;
}

/** All recorded RPC calls, in order. */
export function recordedCalls(): readonly RecordedCall[] {
  const calls: readonly RecordedCall[] = JSON.parse(fixtureText("rpc.json"));
  return calls;
}

/** The body that the node sent: JSON, or what was no JSON as it stood. */
export function recordedBody(call: RecordedCall): string {
  if (call.response_start !== undefined) return call.response_start;
  return typeof call.response === "string" ? call.response : JSON.stringify(call.response);
}
