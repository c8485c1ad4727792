import { readFileSync } from "node:fs";

/** Reads a file under test/fixtures. */
export function fixtureText(path: string): string {
  return readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), "utf8");
}

/** A recorded RPC call, made by POST (`request`, `request_raw`) or by URI (`path`). */
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

/** Reads all recorded RPC calls, in order. */
export function recordedCalls(): readonly RecordedCall[] {
  const calls: readonly RecordedCall[] = JSON.parse(fixtureText("rpc.json"));
  return calls;
}

/** Returns the body of the response: JSON, or the recorded text when it was not JSON. */
export function recordedBody(call: RecordedCall): string {
  if (call.response_start !== undefined) return call.response_start;
  return typeof call.response === "string" ? call.response : JSON.stringify(call.response);
}
