import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { CliError, EXIT } from "../base/errors.ts";
import { Secret } from "../base/secret.ts";

/** Streams for a {@link Prompt}, which writes questions to `output`, i.e. stderr, so that stdout contains only results. */
export interface PromptStreams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/** Gets a command's input by asking questions on a terminal, or by reading one line of stdin per value. */
export interface Prompt {
  /** Asks for a secret, which the terminal does not echo. Throws `CliError` at the end of the input. */
  readonly secret: (question: string) => Promise<Secret>;
  /** Asks a yes-or-no question. Resolves with true for "y" and "yes", but always with false if the input is not a terminal. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Reads a line, even a line typed before the question appears. Resolves with undefined after Ctrl-C or at the end of the input. */
  readonly answer: (question: string) => Promise<string | undefined>;
  readonly close: () => void;
}

/** Opens a prompt on the process's streams. Input is not read before the first question. */
export function openPrompt(
  { input, output }: PromptStreams = { input: process.stdin, output: process.stderr },
): Prompt {
  const isTerminal = input.isTTY === true;
  let reader: LineReader | undefined;
  const answer = (question: string, isSecret = false): Promise<string | undefined> => {
    reader ??= openReader({ input, output }, isTerminal);
    return reader.next(question, isSecret);
  };
  const ask = async (question: string, isSecret: boolean): Promise<string> => {
    const line = await answer(question, isSecret);
    if (isTerminal && isSecret) output.write("\n");
    if (line !== undefined) return line;
    const name = question.replace(/:\s*$/, "");
    throw new CliError(
      EXIT.usage,
      `the input ended before: ${name}; run it in a terminal, or name a file with the option for it`,
    );
  };
  return {
    secret: async (question) => new Secret((await ask(question, true)).trim()),
    confirm: async (question) => isTerminal && /^y(es)?$/i.test((await ask(question, false)).trim()),
    answer: (question) => answer(question),
    close: () => reader?.close(),
  };
}

interface LineReader {
  /** Reads the next line, or returns undefined at the end of the input. On a terminal, shows the question first. */
  readonly next: (question: string, isSecret: boolean) => Promise<string | undefined>;
  readonly close: () => void;
}

function openReader({ input, output }: PromptStreams, isTerminal: boolean): LineReader {
  let isMuted = false;
  const echo = new Writable({
    write: (chunk: string | Uint8Array, _encoding, done) => {
      if (!isMuted) output.write(chunk);
      done();
    },
  });
  const terminal = createInterface({ input, output: echo, terminal: isTerminal });
  const lines = queueLines(terminal);
  // Handle Ctrl-C here, because the process receives no SIGINT while it reads a line from a terminal.
  terminal.on("SIGINT", () => terminal.close());
  return {
    next: async (question, isSecret) => {
      isMuted = isSecret;
      if (isTerminal && isSecret) output.write(question);
      else if (isTerminal && !lines.isClosed()) {
        // Let the line reader print the question, so that Backspace does not delete it.
        terminal.setPrompt(question);
        terminal.prompt(true);
      }
      return await lines.next();
    },
    close: () => terminal.close(),
  };
}

/** Queues lines that arrive before the command requests them. */
function queueLines(terminal: Interface): {
  readonly next: () => Promise<string | undefined>;
  readonly isClosed: () => boolean;
} {
  const ready: string[] = [];
  const waiting: ((line: string | undefined) => void)[] = [];
  let isClosed = false;
  terminal.on("line", (line) => {
    const resolve = waiting.shift();
    if (resolve === undefined) ready.push(line);
    else resolve(line);
  });
  terminal.on("close", () => {
    isClosed = true;
    for (const resolve of waiting.splice(0)) resolve(undefined);
  });
  return {
    isClosed: () => isClosed,
    next: () =>
      ready.length > 0 || isClosed
        ? Promise.resolve(ready.shift())
        : new Promise((resolve) => void waiting.push(resolve)),
  };
}
