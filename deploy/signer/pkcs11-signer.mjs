#!/usr/bin/env node
// A signer program for the relayer (signer.external) and for `relaywatch tx --signer`: the key is in a PKCS#11 token, such as a
// YubiHSM, a Nitrokey, a cloud HSM, or SoftHSM. It runs `pkcs11-tool` of OpenSC for each signature.
//
//   pkcs11-signer.mjs --module /usr/lib/softhsm/libsofthsm2.so --token relaywatch --label relayer --pin-file /etc/relaywatch/pin
//
// The protocol is in docs/operations.md, "Keys in an HSM".
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    module: { type: "string" },
    token: { type: "string" },
    label: { type: "string" },
    "pin-file": { type: "string" },
  },
});
for (const name of ["module", "token", "label", "pin-file"])
  if (values[name] === undefined) {
    process.stderr.write(`pkcs11-signer: --${name} is missing\n`);
    process.exit(2);
  }

/** Runs pkcs11-tool. The PIN goes by a variable: arguments are visible to all users. */
function runTool(words, input) {
  const where = ["--module", values.module, "--token-label", values.token, "--label", values.label];
  const pin = readFileSync(values["pin-file"], "utf8").trim();
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PKCS11_PIN: pin };
    const options = { env, encoding: "buffer", maxBuffer: 65_536, timeout: 30_000 };
    const child = execFile("pkcs11-tool", [...where, ...words], options, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`pkcs11-tool ended with ${error.signal ?? error.code}`));
    });
    // A tool that ends early does not read its input; its exit code is what is reported.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

const LOGIN = ["--login", "--pin", "env:PKCS11_PIN"];

async function respondTo({ type, sign_bytes: signBytes }) {
  if (type === "public_key") {
    const der = await runTool(["--read-object", "--type", "pubkey"], "");
    return { public_key: der.toString("base64") };
  }
  if (type === "sign" && typeof signBytes === "string") {
    // Not the digest of the request: what is signed are these bytes. A policy would look at them here.
    const digest = createHash("sha256").update(Buffer.from(signBytes, "base64")).digest();
    const words = ["--sign", "--mechanism", "ECDSA", "--signature-format", "rs", ...LOGIN];
    return { signature: (await runTool(words, digest)).toString("base64") };
  }
  return { error: `unknown request ${JSON.stringify(type)}` };
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const response = await respondTo(request).catch((error) => ({ error: error.message }));
  process.stdout.write(`${JSON.stringify({ id: request.id, ...response })}\n`);
}
