import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { deep, localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";
import { programPath } from "../support/stack/programs.ts";

const MODULE = ["/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so"];
const SIGNER = resolve("deploy/signer/pkcs11-signer.mjs");
const PIN = "1234";

const home = await openCliHome();
const localnet = localnetEndpoints(home.portOffset);
const file = (name: string): string => join(home.directory, name);
const module = MODULE.find((path) => existsSync(path)) ?? "";
const signerWords = [
  "--module",
  module,
  "--token",
  "relaywatch",
  "--label",
  "relayer",
  "--pin-file",
  file("pin"),
];
const environment = `SOFTHSM2_CONF=${file("softhsm2.conf")}`;

/** A token of SoftHSM with a new key that never leaves it. */
function createToken(): void {
  mkdirSync(file("tokens"));
  writeFileSync(file("softhsm2.conf"), `directories.tokendir = ${file("tokens")}\nlog.level = ERROR\n`);
  writeFileSync(file("pin"), PIN, { mode: 0o600 });
  const run = (name: "softhsm2-util" | "pkcs11-tool", ...words: readonly string[]): string =>
    execFileSync(programPath(name), words, {
      env: { ...process.env, SOFTHSM2_CONF: file("softhsm2.conf") },
      encoding: "utf8",
    });
  run("softhsm2-util", "--init-token", "--free", "--label", "relaywatch", "--pin", PIN, "--so-pin", "5678");
  const key = ["--keypairgen", "--key-type", "EC:secp256k1", "--label", "relayer", "--id", "01"];
  const made = run(
    "pkcs11-tool",
    "--module",
    module,
    "--token-label",
    "relaywatch",
    "--login",
    "--pin",
    PIN,
    ...key,
  );
  expect(made).toContain("never extractable");
}

/** Runs `tx` with the key of the token. */
const signed = (...words: readonly string[]) =>
  home.run(
    "tx",
    ...words,
    "--signer",
    "env",
    ...[environment, SIGNER, ...signerWords].flatMap((word) => [`--signer-arg=${word}`]),
    "--json",
    "$PORTS",
  );

const problems = async (): Promise<string> =>
  JSON.stringify(deep(await getJson(`${localnet.relayer}/api/status`), ["problems"]));

beforeAll(async () => {
  createToken();
  await home.start("localnet", "start", "--block-time", "500", "$PORTS").printed(/sidecar metrics/);
});
afterAll(() => home.close());

describe("a key in an HSM", () => {
  let address = "";

  it("signs transactions of the command line", async () => {
    const unsigned = await signed(
      "bank",
      "send",
      "neutron1xek7j2nv3yshdf4ly3s87ddf0aysz3ckr3y3p7",
      "1untrn",
      "--generate-only",
    );
    address = String(deep(JSON.parse(unsigned.stdout), ["body", "messages", "0", "from_address"]));
    const funded = await home.run(
      "tx",
      "bank",
      "send",
      address,
      "100000000untrn",
      "--from",
      "alice",
      "$PORTS",
    );
    expect(funded.code).toBe(0);
    const sent = await signed("bank", "send", "neutron1xek7j2nv3yshdf4ly3s87ddf0aysz3ckr3y3p7", "1000untrn");
    expect(sent, sent.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(sent.stdout)).toMatchObject({ code: 0 });
  });

  it("signs the relayer's, which says when the token refuses, and goes on when it does not", async () => {
    writeFileSync(
      file("relayer.yaml"),
      `
chain: { id: local-1, rpc: ["${localnet.rpc.local}"] }
signer:
  external:
    command: ["env", ${[environment, SIGNER, ...signerWords].map((word) => JSON.stringify(word)).join(", ")}]
connections: [{ id: connection-0, chain_id: remote-1, rpc: ["${localnet.rpc.remote}"] }]
http: { listen: "${new URL(localnet.relayer).host}" }
`,
    );
    const relayer = home.start("relayer", "start", "--config", file("relayer.yaml"));
    await relayer.printed(new RegExp(address));
    const first = await localnet.resultAfter(1, 0n);
    writeFileSync(file("pin"), "wrong");
    const problem = await until("the problem", async () => {
      const text = await problems();
      return text.includes("signer") ? text : undefined;
    });
    expect(problem).toContain("the signer program env returned an error for sign: pkcs11-tool ended with 1");
    expect(`${problem}${relayer.stdout()}${relayer.stderr()}`).not.toContain(PIN);
    writeFileSync(file("pin"), PIN);
    await until("the end of the problem", async () => ((await problems()) === "[]" ? true : undefined));
    const later = await localnet.resultAfter(1, first);
    expect(later).toBeGreaterThan(first);
    relayer.kill("SIGTERM");
    expect(await relayer.exited).toBe(0);
  });
});
