import { type ChildProcessByStdio, spawn } from "node:child_process";
import { basename } from "node:path";
import type { Readable, Writable } from "node:stream";
import { isRecord, type JsonObject, parseJson, stringifyJson } from "../../../platform/base/json.ts";
import { ClientError } from "../errors.ts";

/** An external signer program. */
export interface SignerProgram {
  /** The program, as a path or a name found in `PATH`, and its arguments. They are not passed through a shell. */
  readonly command: readonly string[];
  /** Maximum time for one response, including program startup. */
  readonly deadlineMs: number;
  /** Maximum number of requests sent before the first one is answered. */
  readonly concurrency: number;
  /** Names of environment variables passed to the program besides {@link PLAIN_VARIABLES}. */
  readonly environment: readonly string[];
}

/** A running signer program, started on demand. */
export interface SignerConnection {
  /** Sends a request and returns the response with its id. Rejects with `ClientError` "signer" or "bad-key". */
  readonly ask: (request: JsonObject) => Promise<Readonly<Record<string, unknown>>>;
}

/** Variables that are always passed on. Everything else in this process's environment may be secret. */
const PLAIN_VARIABLES: readonly string[] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SystemRoot"];
const MAX_LINE_CHARACTERS = 16_384;
/** Maximum number of waiting requests. A relayer signs a handful of transactions per block. */
const MAX_WAITING = 256;
/** A program that gets no requests for this long is closed: it belongs to a replaced configuration or a standby. */
const IDLE_MS = 60_000;
const KILL_MS = 2_000;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
const MAX_TEXT = 200;

type Child = ChildProcessByStdio<Writable, Readable, null>;

interface Pending {
  readonly line: string;
  readonly resolve: (response: Readonly<Record<string, unknown>>) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

interface State {
  readonly program: SignerProgram;
  /** Program name for messages, without folder or arguments. */
  readonly name: string;
  child: Child | undefined;
  /** True if the program's current process has responded. */
  hasResponded: boolean;
  /** True once any process of the program has responded. A missing file is then assumed to be in the process of replacement. */
  hasWorked: boolean;
  /** Requests sent to the program, by id. */
  readonly sent: Map<string, Pending>;
  /** Requests not yet sent, in order, by id. */
  readonly waiting: Map<string, Pending>;
  nextId: number;
  failures: number;
  retry: NodeJS.Timeout | undefined;
  idle: NodeJS.Timeout | undefined;
  lastProblem: string;
}

/**
 * Creates a connection to a signer program: one JSON object per line for each request and response. The program runs until it
 * exits on its own, breaks the protocol, misses a deadline, or has had no request for a minute; the next request starts it again,
 * with backoff after failures. The program does not keep this process alive.
 */
export function connectSigner(program: SignerProgram): SignerConnection {
  const state: State = {
    program,
    name: basename(program.command[0] ?? ""),
    child: undefined,
    hasResponded: false,
    hasWorked: false,
    sent: new Map(),
    waiting: new Map(),
    nextId: 1,
    failures: 0,
    retry: undefined,
    idle: undefined,
    lastProblem: "",
  };
  return { ask: (request) => ask(state, request) };
}

function ask(state: State, request: JsonObject): Promise<Readonly<Record<string, unknown>>> {
  if (state.waiting.size >= MAX_WAITING)
    return Promise.reject(signerError(state, `has ${MAX_WAITING} pending requests`));
  const id = String(state.nextId);
  state.nextId += 1;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => expire(state, id), state.program.deadlineMs);
    state.waiting.set(id, { line: `${stringifyJson({ id, ...request })}\n`, resolve, reject, timer });
    sendWaiting(state);
  });
}

/** Sends as many requests as the concurrency allows. First starts the program, unless it is running or must not run yet. */
function sendWaiting(state: State): void {
  if (state.retry !== undefined || state.waiting.size === 0) return;
  clearTimeout(state.idle);
  state.child ??= start(state);
  for (const [id, pending] of state.waiting) {
    if (state.sent.size >= state.program.concurrency) return;
    state.waiting.delete(id);
    state.sent.set(id, pending);
    state.child.stdin.write(pending.line);
  }
}

function start(state: State): Child {
  const [file = "", ...words] = state.program.command;
  const child = spawn(file, words, {
    stdio: ["pipe", "pipe", "inherit"],
    env: environmentOf(state.program),
    shell: false,
    windowsHide: true,
  });
  state.hasResponded = false;
  // An error of the pipe ends the program too, and its end is what is reported.
  child.stdin.on("error", () => {});
  child.once("error", (error: NodeJS.ErrnoException) => ended(state, child, startProblem(error)));
  child.once("exit", (code, signal) => {
    if (code === 0 && state.hasResponded && child === state.child) return resend(state);
    ended(state, child, `ended with ${signal ?? `exit code ${code ?? "unknown"}`}`);
  });
  readLines(
    child,
    (line) => receive(state, child, line),
    () => stop(state, child, "wrote a line that is too long"),
  );
  unref(child);
  return child;
}

function environmentOf({ environment }: SignerProgram): NodeJS.ProcessEnv {
  const names = [...PLAIN_VARIABLES, ...environment];
  return Object.fromEntries(
    names.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  );
}

/** A pending request has a timer that keeps this process alive. The program itself does not keep it alive. */
function unref(child: Child): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout])
    if ("unref" in stream && typeof stream.unref === "function") stream.unref();
}

function readLines({ stdout }: Child, onLine: (line: string) => void, onOverflow: () => void): void {
  let text = "";
  stdout.setEncoding("utf8");
  stdout.on("error", () => {});
  stdout.on("data", (chunk: string) => {
    const lines = (text + chunk).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) onLine(line);
    if (text.length <= MAX_LINE_CHARACTERS) return;
    text = "";
    onOverflow();
  });
}

function receive(state: State, child: Child, line: string): void {
  if (child !== state.child || line.trim() === "") return;
  const response = line.length > MAX_LINE_CHARACTERS ? undefined : parseJson(line);
  const id = isRecord(response) ? response["id"] : undefined;
  if (!isRecord(response) || typeof id !== "string")
    return stop(state, child, 'wrote a line that is not a JSON object with the "id" of a request');
  const pending = state.sent.get(id);
  // It missed its deadline.
  if (pending === undefined) return;
  [state.hasResponded, state.hasWorked] = [true, true];
  state.failures = 0;
  state.sent.delete(id);
  clearTimeout(pending.timer);
  pending.resolve(response);
  sendWaiting(state);
  if (state.sent.size === 0) closeWhenIdle(state, child);
}

function closeWhenIdle(state: State, child: Child): void {
  clearTimeout(state.idle);
  state.idle = setTimeout(() => {
    if (state.child === child && state.sent.size === 0) discard(state, child);
  }, IDLE_MS);
  state.idle.unref();
}

function expire(state: State, id: string): void {
  const isSent = state.sent.has(id);
  const pending = state.sent.get(id) ?? state.waiting.get(id);
  state.sent.delete(id);
  state.waiting.delete(id);
  const after = `did not respond within ${state.program.deadlineMs} ms`;
  pending?.reject(
    signerError(state, state.retry === undefined ? after : `${state.lastProblem}; it is started again later`),
  );
  // It may never respond again.
  if (isSent && state.child !== undefined) stop(state, state.child, after);
}

/** Ends a program that violates the protocol. */
function stop(state: State, child: Child, problem: string): void {
  ended(state, child, problem);
  child.kill("SIGTERM");
  setTimeout(() => child.kill("SIGKILL"), KILL_MS).unref();
}

function discard(state: State, child: Child): void {
  state.child = undefined;
  child.stdin.end();
  setTimeout(() => child.kill("SIGTERM"), KILL_MS).unref();
}

/** Handles a program that has ended or is no longer used: its requests fail, and it is started again for waiting requests. */
function ended(state: State, child: Child, problem: string): void {
  if (child !== state.child) return;
  state.child = undefined;
  state.lastProblem = problem;
  const failed = [...state.sent.values()];
  state.sent.clear();
  for (const { timer, reject } of failed) {
    clearTimeout(timer);
    reject(signerError(state, problem));
  }
  state.failures += 1;
  const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (state.failures - 1));
  state.retry = setTimeout(
    () => {
      state.retry = undefined;
      sendWaiting(state);
    },
    backoffMs * (0.5 + Math.random() / 2),
  );
  state.retry.unref();
}

/** A program may exit after responding to one or a few requests. The next process gets unanswered requests first. */
function resend(state: State): void {
  state.child = undefined;
  const later = [...state.waiting];
  state.waiting.clear();
  for (const [id, pending] of [...state.sent, ...later]) state.waiting.set(id, pending);
  state.sent.clear();
  sendWaiting(state);
}

const START_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "is not an executable file",
};

function startProblem({ code = "" }: NodeJS.ErrnoException): string {
  return START_PROBLEMS[code] ?? `cannot be started (${code})`;
}

function signerError({ name, hasWorked }: State, problem: string): ClientError {
  const isWrong = !hasWorked && Object.values(START_PROBLEMS).includes(problem);
  return new ClientError(
    isWrong ? { code: "bad-key", kind: "external" } : { code: "signer", program: name },
    `the signer program ${name} ${problem}`,
  );
}

/** The text of a response's `error` field as one short line. */
export function problemText(text: string): string {
  const plain = text.replaceAll(/[^\x21-\x7e]+/g, " ").trim();
  return plain.length > MAX_TEXT ? `${plain.slice(0, MAX_TEXT)}…` : plain;
}
