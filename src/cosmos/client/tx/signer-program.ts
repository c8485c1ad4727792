import { type ChildProcessByStdio, spawn } from "node:child_process";
import { basename } from "node:path";
import type { Readable, Writable } from "node:stream";
import { isRecord, type JsonObject, parseJson, stringifyJson } from "../../../platform/base/json.ts";
import { ClientError } from "../../client-error.ts";

export interface SignerProgram {
  /** The program (a path, or a name found in `PATH`) and its arguments, which are run without a shell. */
  readonly command: readonly string[];
  /** Maximum time for one response, including program startup. */
  readonly deadlineMs: number;
  /** Maximum number of requests that the program handles at a time. */
  readonly concurrency: number;
  /** Names of environment variables passed to the program in addition to {@link PLAIN_VARIABLES}. */
  readonly environment: readonly string[];
}

/**
 * Environment variables that are always passed to the program. Other variables are not passed by default, because they may contain
 * secrets.
 */
const PLAIN_VARIABLES: readonly string[] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SystemRoot"];
const MAX_LINE_CHARACTERS = 16_384;
/** Maximum number of requests waiting to be sent. A relayer signs a handful of transactions per block. */
const MAX_WAITING = 256;
/** Idle time after which a program is closed. A program is idle if its configuration has been replaced or its relayer is on standby. */
const IDLE_MS = 60_000;
const KILL_MS = 2_000;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

const START_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "is not an executable file",
};

type Child = ChildProcessByStdio<Writable, Readable, null>;
type Response = Readonly<Record<string, unknown>>;

interface Pending {
  readonly line: string;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * A connection to a signer program: one JSON object per line for each request and response. The program runs until it exits,
 * violates the protocol, misses a deadline, or has received no request for a minute. The next request restarts the program, with
 * backoff after failures. A running signer program does not keep the Node process alive.
 */
export class SignerConnection {
  /** Program name for messages, without folder or arguments. */
  readonly name: string;
  readonly #program: SignerProgram;
  #child: Child | undefined;
  /** True if the program's current process has responded. */
  #hasResponded = false;
  /**
   * True if any process of the program has ever responded. If the program's file is missing later, an upgrade is assumed to be in
   * progress.
   */
  #hasWorked = false;
  /** Requests sent to the program that have no response yet, by id. */
  readonly #sent = new Map<string, Pending>();
  /** Requests not yet sent, in order, by id. */
  readonly #waiting = new Map<string, Pending>();
  #nextId = 1;
  #failures = 0;
  #retry: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastProblem = "";

  constructor(program: SignerProgram) {
    this.#program = program;
    this.name = basename(program.command[0] ?? "");
  }

  /** Sends a request and returns the response with its id. Rejects with a `ClientError` whose code is "signer" or "bad-key". */
  ask(request: JsonObject): Promise<Response> {
    if (this.#waiting.size >= MAX_WAITING)
      return Promise.reject(this.error(`has ${MAX_WAITING} pending requests`));
    const id = String(this.#nextId++);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#expire(id), this.#program.deadlineMs);
      this.#waiting.set(id, { line: `${stringifyJson({ id, ...request })}\n`, resolve, reject, timer });
      this.#sendWaiting();
    });
  }

  error(problem: string): ClientError {
    const isWrong = !this.#hasWorked && Object.values(START_PROBLEMS).includes(problem);
    return new ClientError(
      isWrong ? { code: "bad-key", kind: "external" } : { code: "signer", program: this.name },
      `the signer program ${this.name} ${problem}`,
    );
  }

  /**
   * Sends waiting requests up to the concurrency limit. Starts the program first if necessary. Sends nothing during the backoff
   * before a restart.
   */
  #sendWaiting(): void {
    if (this.#retry !== undefined || this.#waiting.size === 0) return;
    clearTimeout(this.#idle);
    this.#child ??= this.#start();
    for (const [id, pending] of this.#waiting) {
      if (this.#sent.size >= this.#program.concurrency) return;
      this.#waiting.delete(id);
      this.#sent.set(id, pending);
      this.#child.stdin.write(pending.line);
    }
  }

  #start(): Child {
    const [file = "", ...words] = this.#program.command;
    const names = [...PLAIN_VARIABLES, ...this.#program.environment].filter((name) => name in process.env);
    const child = spawn(file, words, {
      stdio: ["pipe", "pipe", "inherit"],
      env: Object.fromEntries(names.map((name) => [name, process.env[name]])),
      shell: false,
      windowsHide: true,
    });
    this.#hasResponded = false;
    // Ignore pipe errors, because the program also ends after a pipe error, and its exit is reported.
    child.stdin.on("error", () => {});
    child.once("error", ({ code = "" }: NodeJS.ErrnoException) =>
      this.#ended(child, START_PROBLEMS[code] ?? `cannot be started (${code})`),
    );
    child.once("exit", (code, signal) => {
      if (code === 0 && this.#hasResponded && child === this.#child) return this.#resend();
      this.#ended(child, `ended with ${signal ?? `exit code ${code ?? "unknown"}`}`);
    });
    this.#readLines(child);
    // The timers of pending requests keep the Node.js process alive, so the child process and its pipes do not have to keep it alive.
    child.unref();
    for (const stream of [child.stdin, child.stdout])
      if ("unref" in stream && typeof stream.unref === "function") stream.unref();
    return child;
  }

  #readLines(child: Child): void {
    let text = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("error", () => {});
    child.stdout.on("data", (chunk: string) => {
      const lines = (text + chunk).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) this.#receive(child, line);
      if (text.length <= MAX_LINE_CHARACTERS) return;
      text = "";
      this.#stop(child, "wrote a line that is too long");
    });
  }

  #receive(child: Child, line: string): void {
    if (child !== this.#child || line.trim() === "") return;
    const response = line.length > MAX_LINE_CHARACTERS ? undefined : parseJson(line);
    const id = isRecord(response) ? response["id"] : undefined;
    if (!isRecord(response) || typeof id !== "string")
      return this.#stop(child, 'wrote a line that is not a JSON object with the "id" of a request');
    const pending = this.#sent.get(id);
    // Ignore the response, because its request has already missed its deadline.
    if (pending === undefined) return;
    [this.#hasResponded, this.#hasWorked] = [true, true];
    this.#failures = 0;
    this.#sent.delete(id);
    clearTimeout(pending.timer);
    pending.resolve(response);
    this.#sendWaiting();
    if (this.#sent.size === 0) this.#closeWhenIdle(child);
  }

  #closeWhenIdle(child: Child): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#child !== child || this.#sent.size > 0) return;
      this.#child = undefined;
      child.stdin.end();
      setTimeout(() => child.kill("SIGTERM"), KILL_MS).unref();
    }, IDLE_MS);
    this.#idle.unref();
  }

  #expire(id: string): void {
    const sent = this.#sent.get(id);
    const pending = sent ?? this.#waiting.get(id);
    this.#sent.delete(id);
    this.#waiting.delete(id);
    const after = `did not respond within ${this.#program.deadlineMs} ms`;
    const problem = this.#retry === undefined ? after : `${this.#lastProblem}; it will be restarted later`;
    pending?.reject(this.error(problem));
    // Stop the program after a timeout, because it may hang and never respond again.
    if (sent !== undefined && this.#child !== undefined) this.#stop(this.#child, after);
  }

  /** Ends a program that violates the protocol or misses a deadline, first with SIGTERM, then with SIGKILL. */
  #stop(child: Child, problem: string): void {
    this.#ended(child, problem);
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), KILL_MS).unref();
  }

  /** Records that a program has ended or is no longer used. Fails its requests and schedules a restart for waiting requests. */
  #ended(child: Child, problem: string): void {
    if (child !== this.#child) return;
    this.#child = undefined;
    this.#lastProblem = problem;
    const failed = [...this.#sent.values()];
    this.#sent.clear();
    for (const { timer, reject } of failed) {
      clearTimeout(timer);
      reject(this.error(problem));
    }
    const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures);
    this.#failures += 1;
    const again = (): void => {
      this.#retry = undefined;
      this.#sendWaiting();
    };
    this.#retry = setTimeout(again, backoffMs * (0.5 + Math.random() / 2));
    this.#retry.unref();
  }

  /**
   * After an orderly exit, starts a new process for the remaining requests, because a program may exit after a few responses.
   * Requests without a response are sent again before waiting requests.
   */
  #resend(): void {
    this.#child = undefined;
    const later = [...this.#waiting];
    this.#waiting.clear();
    for (const [id, pending] of [...this.#sent, ...later]) this.#waiting.set(id, pending);
    this.#sent.clear();
    this.#sendWaiting();
  }
}
