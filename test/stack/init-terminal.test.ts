import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { LOCALNET_RELAYER_MNEMONIC, portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { openCliHome, until } from "../support/e2e/cli-process.ts";
import { programPath } from "../support/stack/programs.ts";

const CTRL_C = "\u0003";

describe("relaywatch config init on a terminal", async () => {
  const home = await openCliHome();
  const ports = portsAt(home.portOffset);
  const url = (port: number): string => `http://127.0.0.1:${port}`;
  beforeAll(() => home.start("localnet", "start", "$PORTS").printed(/sidecar metrics/));
  afterAll(home.close);

  /** Runs the command in a terminal, and types an answer after each question. An empty answer takes the proposal. */
  async function answer(args: readonly string[], answers: readonly (readonly [string, string])[]) {
    const command = [process.execPath, "dist/program/relaywatch.js", "config", "init", ...args].join(" ");
    const environment = { PATH: process.env["PATH"], HOME: home.directory, TERM: "xterm" };
    const child = spawn(programPath("script"), ["-qefc", `stty cols 200; exec ${command}`, "/dev/null"], {
      env: environment,
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
    try {
      let from = 0;
      for (const [question, text] of answers) {
        await until(`${question} in ${output}`, () => {
          const at = output.indexOf(question, from);
          if (at < 0 || !/: /.test(output.slice(at + question.length))) return undefined;
          from = at + question.length;
          return true;
        });
        child.stdin.write(text === CTRL_C ? text : `${text}\r`);
      }
      return { code: await exited, output };
    } finally {
      child.kill("SIGKILL");
    }
  }

  it("asks for the endpoints of a relayer, and writes a file with which doctor finds no problem", async () => {
    const file = join(home.directory, "relayer.yaml");
    const { code, output } = await answer(
      ["relayer", "--output", file],
      [
        ["RPC of the chain with the queries", url(ports.localRpc)],
        ["REST URL of a node on the chain", url(ports.localRest)],
        ["RPC of the remote chain", url(ports.remoteRpc)],
      ],
    );
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringContaining(`written to ${file}`),
    });
    expect(parse(readFileSync(file, "utf8"))).toMatchObject({
      chain: { id: "local-1", rpc: [url(ports.localRpc)] },
      connections: [{ id: "connection-0", chain_id: "remote-1" }],
    });
    const { stdout, status } = spawnSync(
      process.execPath,
      ["dist/program/relaywatch.js", "relayer", "doctor", "--config", file],
      {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], RELAYER_MNEMONIC: LOCALNET_RELAYER_MNEMONIC },
      },
    );
    expect({ status, stdout }).toMatchObject({ status: 0 });
  });

  it("asks for the endpoints of a watchdog", async () => {
    const file = join(home.directory, "watchdog.yaml");
    const receiver = createServer((_, reply) => reply.end("{}")).listen(0, "127.0.0.1");
    onTestFinished(() => void receiver.close());
    await once(receiver, "listening");
    const address = receiver.address();
    const alertmanager = url(typeof address === "object" && address !== null ? address.port : 0);
    const { code, output } = await answer(
      ["watchdog", "--output", file],
      [
        ["URL of the metrics page of the validator's node", `${url(ports.localMetrics)}/metrics`],
        ["URL of the sidecar's price API", `${url(ports.prices)}/`],
        ["RPC URL of the validator's node", url(ports.localRpc)],
        ["REST URL of a node on the chain", url(ports.localRest)],
        ["REST URL of a second node on the chain", url(ports.localRest)],
        ["URL of the runbook folder", ""],
        ["Notification channel", "alertmanager"],
        ["Name of the channel alertmanager", ""],
        ["Urls of the channel alertmanager", alertmanager],
      ],
    );
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringContaining("The channel alertmanager accepted a test message"),
    });
    expect(await home.run("config", "validate", "--no-secrets", file)).toMatchObject({ code: 0 });
  });

  it("ends at Ctrl-C in the middle, and writes nothing", async () => {
    const file = join(home.directory, "stopped.yaml");
    const { code, output } = await answer(
      ["relayer", "--output", file],
      [
        ["RPC of the chain with the queries", url(ports.localRpc)],
        ["REST URL of a node on the chain", CTRL_C],
      ],
    );
    expect({ code, output }).toMatchObject({
      code: 1,
      output: expect.stringContaining("nothing is written"),
    });
    expect(existsSync(file)).toBe(false);
  });

  it("reads no answers from a pipe: it names the missing option instead of waiting", async () => {
    const args = ["dist/program/relaywatch.js", "config", "init", "relayer"];
    const child = spawn(process.execPath, args, { env: { PATH: process.env["PATH"], HOME: home.directory } });
    // The pipe stays open.
    child.stdin.write(`${url(ports.localRpc)}\n`);
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("--rpc: RPC of the chain with the queries, e.g. "),
    ]);
  });
});
