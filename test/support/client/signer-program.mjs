// A signer program for tests: node signer-program.mjs BEHAVIOUR. Its key is the SHA-256 of the variable TEST_SIGNER_KEY.
import { createECDH, createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const behaviour = process.argv[2] ?? "good";
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** A line for each start of the program. */
if (process.env.TEST_SIGNER_STARTS !== undefined) appendFileSync(process.env.TEST_SIGNER_STARTS, "start\n");

function keyOf(text) {
  const d = createHash("sha256").update(text).digest();
  const ecdh = createECDH("secp256k1");
  ecdh.setPrivateKey(d);
  const point = ecdh.getPublicKey();
  const [x, y] = [point.subarray(1, 33), point.subarray(33)];
  const jwk = { kty: "EC", crv: "secp256k1" };
  for (const [name, bytes] of Object.entries({ d, x, y })) jwk[name] = bytes.toString("base64url");
  return createPrivateKey({ key: jwk, format: "jwk" });
}

const key = keyOf(process.env.TEST_SIGNER_KEY ?? "test");

function publicKey() {
  if (behaviour === "short-key") return Buffer.alloc(20);
  return createPublicKey(key).export({ format: "der", type: "spki" });
}

/** r and s, of which s is the higher or the lower one, or DER. */
function signature(bytes) {
  if (behaviour === "der") return sign("sha256", bytes, key);
  const from = behaviour === "wrong-key" ? keyOf("another") : key;
  const raw = sign("sha256", bytes, { key: from, dsaEncoding: "ieee-p1363" });
  if (behaviour === "no-signature") return raw.subarray(1);
  const s = BigInt(`0x${raw.subarray(32).toString("hex")}`);
  const isHigh = s > ORDER / 2n;
  const chosen = behaviour === "high-s" && !isHigh ? ORDER - s : s;
  return Buffer.concat([raw.subarray(0, 32), Buffer.from(chosen.toString(16).padStart(64, "0"), "hex")]);
}

function respond(response) {
  process.stdout.write(`${JSON.stringify(response)}\n`);
}

const held = [];
for await (const line of createInterface({ input: process.stdin })) {
  const { id, type, sign_bytes: bytes } = JSON.parse(line);
  if (type === "public_key") respond({ id, public_key: publicKey().toString("base64") });
  else if (behaviour === "silent") continue;
  else if (behaviour === "crash") process.exit(3);
  else if (behaviour === "refuses") respond({ id, error: "the limit of the day\u0007 is reached" });
  else if (behaviour === "garbage") process.stdout.write("not JSON\n");
  else if (behaviour === "endless") process.stdout.write("x".repeat(50_000));
  else if (behaviour === "variables") respond({ id, error: Object.keys(process.env).toSorted().join(" ") });
  else {
    held.push({ id, signature: signature(Buffer.from(bytes, "base64")).toString("base64") });
    // Two requests at least, or the test would wait forever: they are sent before the first has its response.
    if (behaviour !== "reversed" || held.length === 2)
      for (const response of held.splice(0).toReversed()) respond(response);
  }
  if (behaviour === "one-shot") break;
}
process.exit(0);
